use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind, Span};

use super::named::Named;
use super::no_act::is_labelled;
use super::report_form::ReportForm;
use super::reported_act::{ReportedAct, left_whole};
use super::when::may_be_earlier;
use crate::facts::Answer;
use crate::prose::{
    BlockKind, Clause, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice, sets,
};

/// A claim that an action was done.
#[derive(Debug)]
pub(crate) struct ActionClaim {
    /// The claim.
    pub(crate) claim: Claim,
    /// The kind of action.
    pub(crate) family: Family,
    /// The verb as written, lower case.
    pub(crate) verb: String,
    /// The objects that were acted on, as far as they can be told apart from the others in the
    /// clause.
    pub(crate) patients: Vec<Object>,
    /// The nouns for what was acted on, lower case and singular: `bag`, `reservation`.
    pub(crate) things: Vec<String>,
    /// The objects that the claim enumerates.
    pub(crate) listed: Vec<Object>,
    /// Whether the speaker plainly reports an action of their own.
    pub(crate) direct: bool,
    /// Whether the "I" of an earlier clause is its actor.
    shares_agent: bool,
    /// Whether it describes a state rather than an action: what the agent read may say the same.
    pub(crate) state: bool,
    /// Whether the message itself may be the product: "I've drafted a summary".
    pub(crate) textual: bool,
    /// Whether it is in the past tense, "was cancelled", which may be about any time.
    pub(crate) past: bool,
    /// Whether it says in the passive what happened to something that is not the user's.
    pub(crate) of_others: bool,
    /// Whether it describes the state of a thing, whatever the cause: only a recorded failure
    /// contradicts it.
    pub(crate) as_found: bool,
    /// Whether it may be about a time before the record begins.
    pub(crate) earlier: bool,
}

impl ActionClaim {
    /// "I have", "we": whether the speaker names themselves as the actor.
    pub(crate) fn is_own(&self) -> bool {
        let mut words = self.claim.text.split(|c: char| !c.is_alphanumeric());
        self.shares_agent || words.any(|word| matches!(word, "I" | "We" | "we"))
    }

    /// Whether the claim names the changed file.
    pub(crate) fn names_file(&self) -> bool {
        self.patients.iter().any(|o| o.kind == ObjectKind::Path)
    }
}

/// The maximum number of tokens after a verb that may introduce what was made.
const INTRODUCTION: usize = 400;

/// Finds the claims of completed side effects in one answer.
pub(crate) fn action_claims(answer: &Answer<'_>) -> Vec<ActionClaim> {
    let prose = &answer.prose;
    let mut claims = Vec::new();
    let heads = heads_of_tables(prose);
    for clause in &prose.clauses {
        if left_whole(prose, &heads, clause).is_some() {
            continue;
        }
        let predicates = clause.predicates.iter();
        claims.extend(
            predicates.filter_map(|predicate| action_claim(prose, clause, predicate, answer.turn)),
        );
    }
    claims
}

/// The indices of the sentences in first rows of tables, ascending: the column titles.
fn heads_of_tables(prose: &Prose<'_>) -> Vec<usize> {
    let (mut heads, mut first) = (Vec::new(), None);
    for (at, sentence) in prose.sentences.iter().enumerate() {
        let row = match prose.block_of(sentence).map(|block| block.kind) {
            Some(BlockKind::Cell { row, .. }) => Some(row),
            _ => None,
        };
        first = row.and(first.or(row));
        if row.is_some() && row == first {
            heads.push(at);
        }
    }
    heads
}

fn action_claim(
    prose: &Prose<'_>,
    clause: &Clause,
    predicate: &Predicate,
    turn: usize,
) -> Option<ActionClaim> {
    let act = ReportedAct::from_predicate(prose, clause, predicate).ok()?;
    let Named { mut patients, things, objects, listed } = Named::from_act(&act).ok()?;
    // `"cancelled": true`: a record may say so.
    let field = act.block == Some(BlockKind::Flag);
    let state = act.form == ReportForm::State || field;
    let textual = is_textual(prose, predicate, act.family, &act.verb);
    if textual && act.verb.starts_with("add") {
        // For text that was added to a list in the message, only paths count as objects.
        patients.retain(|o| o.kind == ObjectKind::Path);
    }
    let subject = prose.tokens(predicate.subject_tokens.clone());
    let particular = |t: &Token| t.has(tags![USER_OWN, THING]) || prose.is(t, words!["a", "an"]);
    let span = span_of(prose, clause, predicate)?;
    let kind = ClaimKind::Action(act.family);
    Some(ActionClaim {
        claim: prose.claim_at(span, kind, objects, turn),
        direct: is_direct(&act, state),
        shares_agent: shares_agent(&act),
        past: predicate.voice == Voice::PastPassive,
        of_others: predicate.voice == Voice::PerfectPassive && !subject.iter().any(particular),
        family: act.family,
        as_found: act.as_found,
        earlier: may_be_earlier(prose, clause),
        verb: act.verb,
        state,
        textual,
        patients,
        things,
        listed,
    })
}

/// The span of a claim: from its label or its clause to the end of either.
fn span_of(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> Option<Span> {
    let label = is_labelled(prose, predicate).then_some(predicate.subject_tokens.start);
    let end = predicate.object_tokens.end.max(clause.tokens.end);
    prose.quotable(label.unwrap_or(clause.tokens.start)..end)
}

/// Whether the speaker plainly reports an action of their own.
fn is_direct(act: &ReportedAct<'_, '_>, state: bool) -> bool {
    let predicate = act.predicate;
    let listed = act.block.is_some_and(|kind| kind.is_listed());
    // "Done: parcel, slot, one invitation": names what was done, but not how.
    let noun = act.verb == "done" && predicate.voice == Voice::Bare;
    // "Ported: `a.cpp`" is a label; "introduced (merged today)" an aside; in "Updated terms apply
    // from June", the verb is an attribute.
    let led = || act.prose.before_in_sentence(predicate.verb).iter().any(|t| !t.is_mark());
    let labels = act.prose.tokens.get(predicate.verb + 1).is_some_and(|t| t.is(':'));
    let finite =
        |t: &Token| t.has(tags![BASE, THIRD_PERSON]) && t.noun.is_none() && !t.has(Tags::COMPLETED);
    let after = act.prose.tokens(predicate.verb + 1..act.clause.tokens.end.max(predicate.verb + 1));
    let goes_on = tags![PREPOSITION, COORDINATE, ADVERB, NOW];
    let of_a_kind = match after {
        [noun, next, ..] => {
            let plural = noun.tags.is_empty() && act.prose.word(noun).ends_with('s');
            plural && next.kind == TokenKind::Word && !next.has(goes_on.or(Tags::RELATIVE))
        }
        _ => false,
    };
    let describes = || of_a_kind || after.iter().any(finite);
    let aside = predicate.voice == Voice::Bare && (labels || led() || describes());
    !state && !noun && !aside && (act.form == ReportForm::Done || !listed)
}

/// "I deleted the file and sent the report": whether the verb has the "I" of the act before it. In "I
/// checked the inbox and sent items", "sent" describes a thing.
fn shares_agent(act: &ReportedAct<'_, '_>) -> bool {
    let (prose, clause, predicate) = (act.prose, act.clause, act.predicate);
    let before = prose.clauses.partition_point(|c| c.tokens.start < clause.tokens.start);
    let before = prose.clauses.get(..before).unwrap_or_default().last();
    let object = prose.tokens(predicate.object_tokens.clone());
    let named = tags![DETERMINER, USER_OWN, AGENT_OWN, THING];
    let is_object =
        |t: &Token| t.has(named) || !matches!(t.kind, TokenKind::Word | TokenKind::Number);
    let finite = tags![BE, HAVE, MODAL, RELATIVE];
    predicate.voice == Voice::Active
        && predicate.subject == Subject::Agent
        && object.first().is_some_and(is_object)
        && !object.iter().any(|t| t.has(finite))
        && before.is_some_and(|before| {
            before.sentence == clause.sentence
                && before.mood == Mood::Asserted
                && is_single_act(prose, before)
        })
}

/// Whether a clause is one act of the agent, within whose object nobody else acts: "I deleted the
/// draft that Bob wrote" is not.
fn is_single_act(prose: &Prose<'_>, clause: &Clause) -> bool {
    let [predicate] = clause.predicates.as_slice() else { return false };
    let after = prose.tokens(predicate.verb + 1..clause.tokens.end.max(predicate.verb + 1));
    let person = tags![RELATIVE, USER, THIRD, AGENT];
    let names = tags![DETERMINER, USER_OWN];
    let word = |t: &Token| t.kind == TokenKind::Word && !t.has(Tags::PREPOSITION);
    let acts = |t: &Token| t.has(person.or(Tags::COMPLETED)) || prose.word(t).ends_with("ed");
    predicate.voice == Voice::Active
        && predicate.subject == Subject::Agent
        && ReportedAct::from_predicate(prose, clause, predicate).is_ok()
        && !after.iter().any(acts)
        && !after.array_windows().any(|[first, second]| {
            let new = second.has(names) && word(first);
            new || first.capital && word(second) && !second.capital && !second.has(Tags::COORDINATE)
        })
}

/// Whether the product may be the message itself: "I've drafted a summary", "wrote the plan".
fn is_textual(prose: &Prose<'_>, predicate: &Predicate, family: Family, verb: &str) -> bool {
    if !matches!(family, Family::Create | Family::Update) {
        return false;
    }
    let phrase = prose.tokens(match predicate.voice {
        Voice::Active | Voice::Bare => predicate.object_tokens.clone(),
        _ => predicate.subject_tokens.clone(),
    });
    // "your task list" belongs to the user and is not part of the message.
    let theirs = head_of(phrase).any(|t| t.has(Tags::USER_OWN));
    // "added it to the list of items": the list is the message, or a block of it.
    let adds = verb.starts_with("add") || verb.starts_with("includ");
    let listed = adds && !theirs && phrase.iter().any(|t| t.has(Tags::TEXT_NOUN));
    let of_text = (names_text(prose, phrase) || listed || prose.shows_code)
        && (family == Family::Create
            || (!theirs && sets::CHANGES_A_TEXT.list.iter().any(|stem| verb.starts_with(stem))));
    // A text that was only written may be the message itself; something that was made is shown in
    // it, as a list or a block.
    let after = prose.tokens.get(predicate.verb..).unwrap_or_default();
    let introduces = after.iter().take(INTRODUCTION).take_while(|t| !t.is('.')).any(|t| t.is(':'));
    let shows = prose.shows_code
        || introduces
        || prose.blocks.len() > 2
        || prose.blocks.iter().any(|b| b.kind.is_listed() || b.kind == BlockKind::Quote);
    let made = ["generat", "produc", "creat"].iter().any(|stem| verb.starts_with(stem));
    let stems = ["draft", "compos", "writ", "wrote", "outlin"];
    let writes = stems.iter().any(|stem| verb.starts_with(stem)) || (made && shows);
    // Such texts are kept in files, unless the message shows them.
    let kind = |t: &Token| {
        let word = prose.word(t);
        sets::KEPT_IN_FILES.list.iter().any(|kept| {
            word.eq_ignore_ascii_case(kept)
                || word.strip_suffix('s').is_some_and(|one| one.eq_ignore_ascii_case(kept))
        })
    };
    let filed = !prose.shows_code && head_of(phrase).any(kind);
    of_text || (writes && !filed && matches!(predicate.voice, Voice::Active | Voice::Bare))
}

/// Whether a phrase names a text. "the code paths" and "the Go version, from 1.24 to 1.25" do not.
fn names_text(prose: &Prose<'_>, phrase: &[Token]) -> bool {
    let numbered = phrase.iter().any(|t| t.kind == TokenKind::Number);
    let noun = |t: &Token| t.kind == TokenKind::Word && t.tags.is_empty() && !t.quoted;
    let mut words = head_of(phrase).peekable();
    let mut of_text = false;
    while let Some(word) = words.next() {
        let head = !words.peek().is_some_and(|next| noun(next));
        let release = numbered && prose.is(word, words!["version"]);
        of_text |= word.has(Tags::TEXT_NOUN) && head && !release;
    }
    of_text
}

/// The words of a phrase, up to its first preposition.
fn head_of(phrase: &[Token]) -> impl Iterator<Item = &Token> {
    phrase.iter().take(8).take_while(|t| !t.has(Tags::PREPOSITION))
}

/// All reasons why a verb reports no action.
#[cfg(test)]
pub(crate) fn reasons() -> impl Iterator<Item = &'static str> {
    super::reported_act::reasons().chain([super::named::INTRODUCES])
}

/// A verb as written, with the family of the action that it reports, or the reason why it reports
/// none.
pub(crate) type Read = (String, Result<Family, &'static str>);

/// Reads the completed verbs of each clause of a text, in order.
pub(crate) fn reported_acts(prose: &Prose<'_>) -> Vec<Vec<Read>> {
    let heads = heads_of_tables(prose);
    let of = |clause| reported_acts_of(prose, &heads, clause);
    prose.clauses.iter().map(of).collect()
}

fn reported_acts_of(prose: &Prose<'_>, heads: &[usize], clause: &Clause) -> Vec<Read> {
    let english = |predicate: &Predicate| {
        let act = ReportedAct::from_predicate(prose, clause, predicate)?;
        Named::from_act(&act).map(|_| act.family)
    };
    let read = |predicate: &Predicate| match left_whole(prose, heads, clause) {
        Some(reason) => Err(reason),
        None => english(predicate),
    };
    let of = |predicate: &Predicate| {
        let verb = prose.tokens.get(predicate.verb)?;
        Some((prose.word(verb).to_owned(), read(predicate)))
    };
    clause.predicates.iter().filter_map(of).collect()
}
