mod member;

use std::ops::Range;

use counterfoil_model::{Claim, ClaimKind, Code, Family, Mode, Object, ObjectKind};

use crate::facts::{Answer, Deed, Execution, Facts, Families, ToolName, broke_off};
use crate::findings::{Findings, Note};
use crate::grounding::{Denied, denied};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, Words, sets};
use crate::rule::{Group, Meta, Rule};
use crate::values::{holds, list_of};

use member::{shown, speaks_of};

/// CS011: something is said not to be there, and a result shows it, or nothing was looked at.
pub(crate) struct FalseAbsence;

static META: Meta = Meta {
    code: Code("CS011"),
    name: "false-absence",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent says that there is nothing, but a result shows it, or no call looked",
    page: include_str!("../../spec/CS011.md"),
};

/// So many calls before a message are looked through.
const MOST_CALLS: usize = 24;

impl Rule for FalseAbsence {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            for clause in &answer.prose.clauses {
                if let Some(absent) = absence(&answer.prose, clause) {
                    judge(facts, findings, answer, clause, &absent);
                }
            }
            for Denied { clause, thing, held, at } in denied(facts, answer) {
                let claim = answer.prose.claim(clause, ClaimKind::Absence, Vec::new(), answer.turn);
                let message =
                    format!("a result has `{held}` where the agent says that there is no {thing}");
                let note = Note::suspected(message).evidence(facts.evidence_at(at));
                findings.contradicted(facts, &claim, note);
            }
        }
    }
}

/// What is said not to be there.
struct Absent {
    /// The noun, lower case, without its plural.
    noun: String,
    /// Whatever a search gives back: "results", "matches".
    generic: bool,
    /// The words that say which ones, lower case.
    which: Vec<String>,
    /// It is said to have been looked for.
    sought: bool,
    /// Said in words that mean many things: only a result that shows it makes it a claim.
    loose: bool,
    /// "no other slots": beside one that is known.
    other: bool,
}

/// "no mails were found", "there are no open orders", "I didn't find any matches".
fn absence(prose: &Prose<'_>, clause: &Clause) -> Option<Absent> {
    let tokens = prose.tokens(clause.tokens.clone());
    if !denies(prose, clause, tokens) {
        return None;
    }
    if let Some(absent) = nothing(prose, tokens).or_else(|| none_behind(prose, clause)) {
        return Some(absent);
    }
    let is = |t: &Token, known: &Words| !t.quoted && prose.is(t, known);
    let none = tokens.windows(2).position(|pair| {
        let [none, next] = pair else { return false };
        is(none, words!["no", "any", "zero", "0"]) && next.kind == TokenKind::Word
    })?;
    let denied = clause.tags.any(Tags::NEGATION) || is(tokens.get(none)?, words!["zero", "0"]);
    let has = |known: &Words| tokens.iter().any(|t| is(t, known));
    let sought = has(&sets::SEARCH_VERBS) || has(FOUND_LOOSELY);
    let there = is_bare(tokens, none) || has(words!["there", "have", "has", "exist", "exists"]);
    if !denied || !(sought || there) {
        return None;
    }
    let phrase = noun_phrase(prose, tokens, none + 1..tokens.len());
    let (head, describing) = phrase.split_last()?;
    let noun = head.strip_suffix('s').filter(|noun| noun.len() > 2)?.to_owned();
    // "no issues", "no problem", "no need": a manner of speaking.
    let idle = |t: &Token| {
        t.has(Tags::TROUBLE.or(Tags::FAILURE)) || t.noun.is_some_and(|family| !is_record(family))
    };
    // "with no warnings": a result may list them.
    let listed = matches!(noun.as_str(), "warning" | "error" | "conflict");
    if tokens.get(none + phrase.len()).is_some_and(idle) && !listed {
        return None;
    }
    let behind = tokens.get(none + 1 + phrase.len()..).unwrap_or_default();
    let (which, other) = which_ones(prose, describing, behind);
    // "couldn't find", "none left": only a result tells whether records are meant.
    let plain = has(&sets::SEARCH_VERBS) || has(words!["there", "have", "has", "exist"]);
    let loose = !plain || listed || other || tokens.iter().any(|t| t.has(Tags::MODAL));
    let generic = sets::ANY_RESULT.hold(noun.as_bytes());
    Some(Absent { noun, generic, which, sought, loose, other })
}

/// Words that say only in a sentence about a search what its verbs say.
const FOUND_LOOSELY: &Words = words!["shows", "showed", "left", "remain", "remaining", "anywhere"];

/// Whether a clause says, without reserve, that something is not so.
fn denies(prose: &Prose<'_>, clause: &Clause, tokens: &[Token]) -> bool {
    let is = |t: &Token, known: &Words| !t.quoted && prose.is(t, known);
    // "couldn't find any": it was tried.
    let open = |t: &Token| {
        t.has(Tags::HEDGE.or(Tags::REQUEST)) || (t.has(Tags::MODAL) && !is(t, words!["could"]))
    };
    let denies =
        clause.tags.any(Tags::NEGATION) || tokens.iter().any(|t| is(t, words!["zero", "0"]));
    let said = matches!(clause.mood, Mood::Asserted | Mood::Observed);
    said && denies && !tokens.iter().any(open)
}

/// The words around a noun that say which ones are meant, and whether others are known.
fn which_ones(prose: &Prose<'_>, describing: &[String], behind: &[Token]) -> (Vec<String>, bool) {
    let is = |t: &Token, known: &Words| !t.quoted && prose.is(t, known);
    let idle = words!["moment", "time", "right", "today", "more", "longer"];
    let says = |t: &&Token| {
        tells_which(t) && !is(t, &sets::SEARCH_VERBS) && !is(t, FOUND_LOOSELY) && !is(t, idle)
    };
    let mut which: Vec<String> = describing.to_vec();
    which.extend(behind.iter().filter(says).map(|t| lower(prose, t)));
    let all = which.len();
    which.retain(|word| !["other", "others", "further", "else"].contains(&word.as_str()));
    let other = which.len() < all;
    (which, other)
}

/// "No overdue items – you're all caught up": a clause without a verb.
fn is_bare(tokens: &[Token], none: usize) -> bool {
    let verbal = Tags::BE.or(Tags::HAVE).or(Tags::DO).or(Tags::THIRD_PERSON).or(Tags::AGENT);
    let before = tokens.get(..none).unwrap_or_default();
    before.iter().all(|t| matches!(t.kind, TokenKind::Symbol(_)))
        && tokens.len() <= none + 6
        && !tokens.iter().any(|t| t.has(verbal))
}

/// "Backorders: none", "Open fines: 0".
fn none_behind(prose: &Prose<'_>, clause: &Clause) -> Option<Absent> {
    let sentence = prose.sentences.get(clause.sentence)?.tokens.clone();
    let tokens = prose.tokens(sentence);
    let [label @ .., colon, none] = tokens else { return None };
    let said = colon.is(':') && prose.is(none, words!["none", "0", "no", "nothing"]);
    let plain = label.iter().all(|t| t.kind == TokenKind::Word && !t.quoted);
    if !said || !plain || label.len() >= 4 {
        return None;
    }
    let words: Vec<String> = label.iter().map(|t| lower(prose, t)).collect();
    let (head, which) = words.split_last()?;
    let noun = head.strip_suffix('s').filter(|noun| noun.len() > 2)?.to_owned();
    let which = which.to_vec();
    Some(Absent { noun, generic: false, which, sought: false, loose: true, other: false })
}

/// "Nothing uses `LegacyClient`", "nothing is overdue".
fn nothing(prose: &Prose<'_>, tokens: &[Token]) -> Option<Absent> {
    let mut words = tokens.iter().filter(|t| !matches!(t.kind, TokenKind::Symbol(_)));
    let mut next = || words.find(|t| !t.has(Tags::COORDINATE.or(Tags::NOW)) && !t.quoted);
    let nothing = next()?;
    let verb = next()?;
    let object = words.find(|t| !t.has(Tags::DETERMINER.or(Tags::NOW)))?;
    let named = |t: &Token| matches!(t.kind, TokenKind::Code | TokenKind::Identifier);
    let is = |t: &Token, word: &str| prose.word(t).eq_ignore_ascii_case(word);
    let state = verb.has(Tags::BE) && object.kind == TokenKind::Word && object.tags.is_empty();
    let uses = prose.is(verb, &sets::USES_VERBS) && named(object);
    let last = state && words.next().is_none();
    (is(nothing, "nothing") && (uses || last)).then(|| Absent {
        noun: String::from("thing"),
        generic: true,
        which: vec![lower(prose, object)],
        sought: false,
        loose: true,
        other: false,
    })
}

/// Whether what is named after an action of the family is kept somewhere: mails, bookings.
fn is_record(family: Family) -> bool {
    use Family::{Book, Cancel, Exchange, Pay, Refund, Return, Send};
    matches!(family, Send | Book | Pay | Refund | Return | Exchange | Cancel)
}

/// The words from a determiner up to the noun: "open orders".
fn noun_phrase(prose: &Prose<'_>, tokens: &[Token], range: Range<usize>) -> Vec<String> {
    let stops = Tags::PREPOSITION.or(Tags::BE).or(Tags::HAVE).or(Tags::COORDINATE);
    let stops = stops.or(Tags::RELATIVE).or(Tags::SUBORDINATE).or(Tags::PARTICIPLE);
    let phrase = tokens.get(range).unwrap_or_default().iter();
    let phrase = phrase.take(4).take_while(|t| t.kind == TokenKind::Word && !t.has(stops));
    let mut words: Vec<String> = phrase.map(|t| lower(prose, t)).collect();
    // "no trips listed"
    while words.len() > 1 && words.last().is_some_and(|word| word.ends_with("ed")) {
        words.pop();
    }
    words
}

/// Whether a word narrows what is meant.
fn tells_which(token: &Token) -> bool {
    let small = Tags::PREPOSITION.or(Tags::BE).or(Tags::HAVE).or(Tags::DETERMINER).or(Tags::ADVERB);
    let small = small.or(Tags::USER_OWN).or(Tags::COORDINATE).or(Tags::THING).or(Tags::USER);
    !matches!(token.kind, TokenKind::Symbol(_)) && !token.has(small)
}

fn lower(prose: &Prose<'_>, token: &Token) -> String {
    prose.word(token).trim_end_matches("'s").to_ascii_lowercase()
}

fn judge(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
    absent: &Absent,
) {
    let turn = answer.turn;
    let objects = vec![Object { kind: ObjectKind::Noun, text: absent.noun.clone() }];
    let claim = answer.prose.claim(clause, ClaimKind::Absence, objects, turn);
    let searched = |(execution, deed): (&Execution<'_>, &Deed<'_>)| {
        retrieves(deed) && is_about(execution, deed, absent)
    };
    let searched = facts.deeds_before(turn).take(MOST_CALLS).any(searched);
    if let Some((execution, held)) = shown(facts, turn, absent).filter(|_| !searched) {
        let note = Note::suspected(format!("`{}` gave {held} of them", execution.tool()))
            .help("say what the result has")
            .evidence([facts.evidence(execution)]);
        return findings.contradicted(facts, &claim, note);
    }
    let Some(looked) = walk(facts, findings, turn, &claim, absent) else { return };
    let complete = facts.is_complete_before(turn);
    let told = answer.prose.clauses.iter().any(|c| c.tags.any(Tags::FAILURE.or(Tags::TROUBLE)));
    // "My search returned no results" is true of it, too.
    let returned = absent.generic && absent.noun != "record";
    if let Some(execution) = looked
        .broken
        .filter(|e| complete && !told && !returned && !looked.tools.contains(&e.tool()))
        && !absent.loose
    {
        let note =
            Note::suspected(format!("nothing was found, because `{}` failed", execution.tool()))
                .help("say that the search failed, or try again")
                .evidence([facts.evidence(execution)]);
        return findings.unsupported(facts, &claim, note);
    }
    // "You have no open tasks", where there is a tool for tasks.
    let kept =
        |name: &ToolName<'_>| name.words.iter().any(|word| word.starts_with(absent.noun.as_str()));
    let sought = absent.sought || (!absent.loose && facts.tool_names().iter().any(kept));
    let none = looked.tools.is_empty();
    if !none || !sought || !complete || facts.record().count_before(turn) > 0 {
        return not_checkable(findings, &claim, absent);
    }
    findings.unsupported(
        facts,
        &claim,
        Note::suspected("the agent says there is nothing, but no call looked")
            .help("look before saying that it is not there"),
    );
}

/// Whether the call searched texts for what is said not to be there.
fn greps(execution: &Execution<'_>, deed: &Deed<'_>, absent: &Absent) -> bool {
    let Some(wanted) = absent.which.iter().find(|word| word.len() >= 4) else {
        return false;
    };
    let searches = match &deed.shell {
        Some(work) => {
            let first = work.command.split_whitespace().next().unwrap_or_default();
            matches!(first, "grep" | "rg" | "ag") && !work.command.contains(['|', ';', '&'])
        }
        None => deed.words().iter().any(|w| matches!(w.as_str(), "grep" | "rg" | "search")),
    };
    let arguments = execution.arguments();
    let named = |word: &String| contains(arguments, word);
    searches
        && named(wanted)
        && absent.which.iter().all(named)
        && !execution.text().starts_with(['{', '['])
}

/// How many lines of a text hold what was searched for; `None` where it may have been counted or
/// listed in another way.
fn lines_with(text: &str, absent: &Absent) -> Option<u64> {
    let wanted = absent.which.iter().find(|word| word.len() >= 4)?;
    let none = ["no matches", "no files", "no results", "0 matches"];
    let lower = text.trim_start().to_ascii_lowercase();
    if lower.is_empty() || none.iter().any(|opening| lower.starts_with(opening)) {
        return Some(0);
    }
    let count = text.lines().filter(|line| contains(line, wanted) && !defines(line, wanted));
    u64::try_from(count.count()).ok().filter(|count| *count > 0)
}

/// Whether a line of code defines the thing, or is a comment: that is no use of it.
fn defines(line: &str, name: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let code = line.splitn(3, ':').last().unwrap_or_default().trim_start();
    let before = code.split(name).next().unwrap_or_default();
    let word = before.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
    word.is_some_and(|word| sets::DEFINING.hold(word.as_bytes()))
        || ["//", "#", "*", "/*", "--"].iter().any(|mark| code.starts_with(mark))
}

fn contains(text: &str, word: &str) -> bool {
    text.to_ascii_lowercase().contains(word)
}

fn retrieves(deed: &Deed<'_>) -> bool {
    let retrieving = Families::of(&[Family::Search, Family::Read]);
    deed.families.meets(retrieving) || deed.families.is_empty()
}

/// Whether the call looked for exactly what is said not to be there: its tool is named after the
/// thing, and every word that narrows it stands in the call.
fn is_about(execution: &Execution<'_>, deed: &Deed<'_>, absent: &Absent) -> bool {
    let words = deed.words();
    let named = words.iter().any(|word| word.starts_with(absent.noun.as_str()));
    let arguments = execution.arguments();
    // `list_free_slots`, for "listed" and "free"
    let named_so = |word: &String| {
        let begins = |w: &String| w.len() > 3 && word.starts_with(w.as_str());
        words.iter().any(|w| w.starts_with(word.as_str()) || begins(w))
    };
    let covered = |word: &String| holds(arguments, word) || named_so(word);
    (absent.generic || named) && absent.which.iter().all(covered)
}

/// What looked for a thing without telling of it.
struct Looked<'f, 't> {
    /// Tools that worked.
    tools: Vec<&'f str>,
    /// A search that failed.
    broken: Option<&'f Execution<'t>>,
}

fn not_checkable(findings: &mut Findings<'_>, claim: &Claim, absent: &Absent) {
    if !absent.loose {
        findings.not_checkable(claim);
    }
}

/// Goes back through the calls before a message until one decides; `None` where one did.
fn walk<'f, 't>(
    facts: &'f Facts<'t>,
    findings: &mut Findings<'_>,
    turn: usize,
    claim: &Claim,
    absent: &Absent,
) -> Option<Looked<'f, 't>> {
    let mut looked = Looked { tools: Vec::new(), broken: None };
    // Something else was changed since.
    let mut changed = false;
    for (execution, deed) in facts.deeds_before(turn).take(MOST_CALLS) {
        let greps = greps(execution, deed, absent);
        if (deed.shell.is_some() && !greps) || deed.opaque {
            not_checkable(findings, claim, absent);
            return None;
        }
        if !retrieves(deed) && !greps {
            // What was there may be gone; one that was taken leaves the others.
            let taking = Families::of(&[Family::Book, Family::Create]);
            let takes = absent.other && deed.families.meets(taking);
            let about = absent.generic || speaks_of(execution, deed, &absent.noun);
            if deed.changes() && about && !takes {
                not_checkable(findings, claim, absent);
                return None;
            }
            changed |= deed.changes();
            continue;
        }
        // A search that broke off says nothing of what is there.
        if deed.failed() && deed.shell.is_none() && broke_off(execution.text()) {
            let named = deed.words().iter().any(|word| word.starts_with(absent.noun.as_str()));
            let meant = Some(execution).filter(|_| named || absent.generic);
            looked.broken = looked.broken.or(meant);
            continue;
        }
        looked.tools.push(execution.tool());
        if greps || is_about(execution, deed, absent) {
            let found = match greps {
                true => lines_with(execution.text(), absent),
                false => list_of(execution.text()),
            };
            tell(facts, findings, claim, absent, (execution, deed, found, changed));
            return None;
        }
    }
    Some(looked)
}

/// What a search that was about the thing says of it: how many were found, where that is known,
/// and whether something was changed since.
fn tell<'t>(
    facts: &Facts<'t>,
    findings: &mut Findings<'_>,
    claim: &Claim,
    absent: &Absent,
    (execution, deed, found, changed): (&Execution<'t>, &Deed<'_>, Option<u64>, bool),
) {
    let evidence = [facts.evidence(execution)];
    match found {
        None => not_checkable(findings, claim, absent),
        Some(0) => findings.supported(claim, evidence),
        Some(length) => {
            if (changed && absent.loose && !absent.other) || (absent.other && length < 2) {
                return;
            }
            // No proof: what is said to be missing may be one kind of what was listed.
            let note = Note::suspected(format!("`{}` gave a list of {length}", deed.tool))
                .help("say what the search gave")
                .evidence(evidence);
            findings.contradicted(facts, claim, note);
        }
    }
}
