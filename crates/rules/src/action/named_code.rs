//! Names in code that are said to be put in place: whether anything that was written has them.

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};

use super::judge::args;
use super::objects::{mentions, objects_in};
use super::unheard_name::unheard_name;
use super::writing::{LOOK_BACK, shows_texts, wrote};
use crate::facts::{Answer, Facts, Families, ShellWork};
use crate::prose::{
    BlockKind, Clause, Mood, Predicate, Prose, Tags, Token, TokenKind, Voice, Words, is_agenda,
};
use crate::values::each_figure;

/// Verbs whose object stands in what was written, once it is done.
const PUTS: &Words = words![
    "added",
    "introduced",
    "defined",
    "declared",
    "set",
    "raised",
    "lowered",
    "increased",
    "decreased",
    "reduced",
    "bumped",
    "turned",
    "enabled",
    "disabled",
    "exported",
];

/// Verbs whose object stood in what was edited before.
const TAKES: &Words = words!["removed", "deleted", "dropped", "stripped", "eliminated"];

/// The names in code that an answer says were put in place, and that nothing written has.
pub(crate) fn unwritten_names(facts: &Facts<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        for clause in stated(&answer.prose) {
            let named = put_in_place(&answer.prose, clause);
            // What stands in a result may have been added by somebody else.
            let noted = clause.predicates.iter().any(|p| p.voice == Voice::Bare);
            let seen = |t: &Token| {
                let name = answer.prose.word(t);
                noted && facts.source_of(name, answer.turn, true).is_some()
            };
            let named = named.filter(|t| !seen(t));
            if let Some(token) = named.filter(|t| is_unwritten(facts, answer, clause, t)) {
                found.push(claim(answer, clause, token));
            } else if let Some(token) = taken_out(facts, answer, clause) {
                found.push(claim(answer, clause, token));
            } else if let Some(token) = unknown_member(facts, answer, clause) {
                found.push(claim(answer, clause, token));
            } else if let Some(token) = unheard_name(facts, answer, clause) {
                found.push(claim(answer, clause, token));
            }
        }
    }
    found
}

/// The clauses in English that say that something is so, and that have inline code.
fn stated<'p>(prose: &'p Prose<'_>) -> impl Iterator<Item = &'p Clause> {
    prose.clauses.iter().filter(|clause| {
        let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::EARLIER);
        let block = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s));
        clause.mood == Mood::Asserted
            && prose.tokens(clause.tokens.clone()).iter().any(|t| t.kind == TokenKind::Code)
            && block.is_none_or(|b| b.kind != BlockKind::Quote)
            && !clause.tags.any(doubt)
            && !is_agenda(prose, clause)
    })
}

/// "I added an optional `hostname`": the name, where the speaker says that they put it there.
fn put_in_place<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<&'p Token> {
    let object = object_of(prose, clause, PUTS).or_else(|| renamed_to(prose, clause));
    object.filter(|t| is_one_name(prose.word(t)))
}

/// "I renamed `parse` to `parse_text`": the new name.
fn renamed_to<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<&'p Token> {
    let tokens = prose.tokens(clause.tokens.clone());
    let at = prose.told_verb(clause, words!["renamed"])?;
    let to = tokens.iter().skip(at).position(|t| !t.quoted && prose.is(t, words!["to"]))?;
    tokens.get(at + to + 1).filter(|t| t.kind == TokenKind::Code)
}

/// "I removed the `# TODO: weeks` comment": what is said to have been taken out, where every edit is
/// on record, each as the text before and behind it, and none has it.
fn taken_out<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>, clause: &Clause) -> Option<&'p Token> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let token = object_of(prose, clause, TAKES)?;
    let text = prose.word(token);
    let line = text.contains(' ') && text.len() >= 8 && !text.contains(['…', '<', '*']);
    let pieces = || {
        facts.deeds_before(turn).all(|(_, deed)| {
            deed.written.is_empty()
                || deed.words().iter().any(|w| matches!(w.as_str(), "edit" | "replace" | "str"))
        })
    };
    let wanted = letters(text);
    let shell = |work: &ShellWork<'_>| work.writes_unnamed || work.opaque || work.deletes;
    let unseen = facts
        .deeds_before(turn)
        .any(|(_, deed)| deed.delegates || deed.opaque || deed.shell.as_ref().is_some_and(shell));
    let known = facts.is_complete_before(turn)
        && facts.record().count_before(turn) <= LOOK_BACK
        && !unseen
        && pieces();
    let edited = || facts.deeds_before(turn).any(|(e, _)| letters(args(e)).contains(&wanted));
    (line && known && wrote(facts, turn) && !edited()).then_some(token)
}

/// The code that one of the verbs has as its object, where the speaker says that they did it.
fn object_of<'p>(prose: &'p Prose<'_>, clause: &Clause, verbs: &Words) -> Option<&'p Token> {
    let tokens = prose.tokens(clause.tokens.clone());
    let at = tokens.iter().position(|t| !t.quoted && prose.is(t, verbs))?;
    let small = Tags::ADVERB.or(Tags::HAVE).or(Tags::SUCCESS).or(Tags::NOW).or(Tags::COORDINATE);
    let from = prose.sentences.get(clause.sentence)?.tokens.start;
    let before = prose.tokens(from..clause.tokens.start + at);
    let subject = before.iter().rev().find(|t| !t.has(small) || t.has(Tags::AGENT));
    let joined = tokens.iter().take(at).any(|t| t.has(Tags::COORDINATE));
    // "Added `TestImport`."
    let bare = |p: &Predicate| p.voice == Voice::Bare && p.verb == clause.tokens.start + at;
    let own = subject.is_some_and(|t| t.has(Tags::AGENT))
        || (joined && before.iter().any(|t| t.has(Tags::AGENT)))
        || clause.predicates.iter().any(bare);
    let stops = Tags::PREPOSITION.or(Tags::COORDINATE).or(Tags::RELATIVE).or(Tags::SUBORDINATE);
    let stops = stops.or(Tags::USER).or(Tags::THIRD);
    let object = tokens.get(at + 1..)?.iter();
    let mut object =
        object.take_while(|t| !t.has(stops) && !matches!(t.kind, TokenKind::Symbol(_)));
    object.find(|t| own && t.kind == TokenKind::Code)
}

/// `hostname`, `MAX_TRIES`: one name, not a command, an expression or a description.
pub(super) fn is_one_name(text: &str) -> bool {
    let name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    text.len() >= 4 && text.bytes().all(name) && text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether all that was written is on record, and nothing of it has the name, however it is spelled.
fn is_unwritten(facts: &Facts<'_>, answer: &Answer<'_>, clause: &Clause, token: &Token) -> bool {
    let (prose, turn) = (&answer.prose, answer.turn);
    if !shows_texts(facts, turn) {
        return false;
    }
    let wanted = letters(prose.word(token));
    let objects = objects_in(prose, clause.tokens.clone());
    let said = numbers(clause.span.of(prose.text));
    for (execution, deed) in facts.deeds_before(turn) {
        if !deed.families.meets(Families::changing()) {
            continue;
        }
        let written = args(execution);
        // A part of a line may be edited without its name.
        let by_number = numbers(written).iter().any(|number| said.contains(number));
        let by_file = deed
            .written
            .iter()
            .any(|path| objects.iter().any(|o| o.kind == ObjectKind::Path && mentions(path, o)));
        let adds = prose.tokens(clause.tokens.clone()).iter().any(|t| prose.is(t, words!["added"]));
        if letters(written).contains(&wanted)
            || (deed.shell.is_none() && letters(execution.text()).contains(&wanted))
            || (!adds && (by_number || by_file))
        {
            return false;
        }
    }
    wrote(facts, turn)
}

/// "It now returns `LexError::Unclosed`": a member of something known, of which nothing has heard.
fn unknown_member<'p>(
    facts: &Facts<'_>,
    answer: &'p Answer<'_>,
    clause: &Clause,
) -> Option<&'p Token> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let tokens = prose.tokens(clause.tokens.clone());
    if !tokens.iter().any(|t| t.has(Tags::NOW)) || !facts.shows_all_before(turn) {
        return None;
    }
    tokens.iter().filter(|t| t.kind == TokenKind::Code).find(|token| {
        let Some((owner, member)) = member_of(prose.word(token)) else { return false };
        let known = |name: &str| facts.source_of(name, turn, true).is_some();
        let wanted = letters(member);
        let shown = prose.blocks.iter().filter(|b| b.kind == BlockKind::Code);
        let mut shown = shown.map(|b| letters(b.span.of(prose.text)));
        known(owner)
            && !known(member)
            && facts.given().find_loosely(member, turn).is_none()
            && !facts.deeds_before(turn).any(|(e, _)| letters(args(e)).contains(&wanted))
            && !shown.any(|code| code.contains(&wanted))
    })
}

/// `LexError::Unclosed { at }`: the type, and its member.
fn member_of(text: &str) -> Option<(&str, &str)> {
    let (owner, rest) = text.split_once("::")?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let member = rest.get(..end)?;
    let typed = owner.starts_with(|c: char| c.is_ascii_uppercase()) && is_one_name(owner);
    (typed && member.len() >= 4).then_some((owner, member))
}

/// The letters and digits of a text, in lower case: `maxTries` and `MAX_TRIES` are one name.
pub(super) fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

fn numbers(text: &str) -> Vec<i64> {
    let mut found = Vec::new();
    each_figure(text, |figure| found.push(figure.0));
    found
}

fn claim(answer: &Answer<'_>, clause: &Clause, token: &Token) -> Claim {
    let name = answer.prose.word(token).to_owned();
    answer.prose.claim(
        clause,
        ClaimKind::Action(Family::Update),
        vec![Object { kind: ObjectKind::Quote, text: name }],
        answer.turn,
    )
}
