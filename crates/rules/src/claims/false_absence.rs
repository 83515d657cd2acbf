use std::ops::Range;

use countersign_model::{Claim, ClaimKind, Code, Family, Mode, Object, ObjectKind, Span};

use crate::facts::{Answer, Deed, Execution, Facts, Families, words_of};
use crate::findings::{Findings, Note};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind};
use crate::rule::{Group, Meta, Rule};
use crate::values::{holds, listed};

/// CS011: something is said not to be there, and a result shows it, or nothing was looked at.
pub(crate) struct FalseAbsence;

static META: Meta = Meta {
    code: Code("CS011"),
    name: "false-absence",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "nothing is said to have been found, and a result shows it, or nothing was looked for",
    page: include_str!("../../../../spec/rules/CS011.md"),
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
}

/// "no mails were found", "there are no open orders", "I didn't find any matches".
fn absence(prose: &Prose<'_>, clause: &Clause) -> Option<Absent> {
    let tokens = prose.tokens(clause.tokens.clone());
    if !matches!(clause.mood, Mood::Asserted | Mood::Observed) {
        return None;
    }
    let open = Tags::MODAL.or(Tags::HEDGE).or(Tags::REQUEST);
    if tokens.iter().any(|t| t.has(open)) {
        return None;
    }
    let is = |t: &Token, known: &[&str]| {
        !t.quoted && known.iter().any(|word| prose.word(t).eq_ignore_ascii_case(word))
    };
    let none = tokens.iter().position(|t| is(t, &["no", "any", "zero", "0"]))?;
    let denied =
        tokens.iter().any(|t| t.has(Tags::NEGATION)) || is(tokens.get(none)?, &["zero", "0"]);
    let seeks =
        ["find", "found", "return", "returned", "match", "matched", "see", "locate", "located"];
    let sought = tokens.iter().any(|t| is(t, &seeks));
    let there = tokens.iter().any(|t| is(t, &["there", "have", "has", "exist"]));
    if !denied || !(sought || there) {
        return None;
    }
    let phrase = noun_phrase(prose, tokens, none + 1..tokens.len());
    let (head, describing) = phrase.split_last()?;
    let noun = head.strip_suffix('s').filter(|noun| noun.len() > 2)?.to_owned();
    let generic =
        ["result", "matche", "hit", "entrie", "record", "row", "item"].contains(&noun.as_str());
    let mut which: Vec<String> = describing.to_vec();
    let behind = tokens.iter().skip(none + 1 + phrase.len());
    which.extend(behind.filter(|t| tells_which(t) && !is(t, &seeks)).map(|t| lower(prose, t)));
    // "no issues", "no problem", "no need": a manner of speaking.
    let idle = |t: &Token| {
        t.has(Tags::TROUBLE.or(Tags::FAILURE)) || t.noun.is_some_and(|family| !is_record(family))
    };
    if tokens.get(none + phrase.len()).is_some_and(idle) {
        return None;
    }
    Some(Absent { noun, generic, which, sought })
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
    phrase.map(|t| lower(prose, t)).collect()
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
    let claim = Claim {
        kind: ClaimKind::Absence,
        text: clause.span.of(answer.prose.text).trim().to_owned(),
        objects: vec![Object { kind: ObjectKind::Noun, text: absent.noun.clone() }],
        span: Span::new(clause.span.start, clause.span.end),
        turn,
    };
    let mut looked = false;
    for (execution, deed) in facts.deeds_before(turn).take(MOST_CALLS) {
        if deed.shell.is_some() || deed.opaque {
            return findings.not_checkable(&claim);
        }
        if !retrieves(deed) {
            continue;
        }
        looked = true;
        if !is_about(execution, deed, absent) {
            continue;
        }
        let Some(length) = listed(execution.text()) else {
            return findings.not_checkable(&claim);
        };
        let evidence = [facts.evidence(execution)];
        if length == 0 {
            return findings.supported(&claim, evidence);
        }
        let note = Note::proven(format!("`{}` gave a list of {length}", deed.tool))
            .help("say what the search gave")
            .evidence(evidence);
        return findings.contradicted(facts, &claim, note);
    }
    let complete = facts.is_complete_before(turn);
    if looked || !absent.sought || !complete || facts.record().count_before(turn) > 0 {
        return findings.not_checkable(&claim);
    }
    findings.unsupported(
        facts,
        &claim,
        Note::suspected("nothing is said to have been found, and nothing was looked for")
            .help("look before saying that it is not there"),
    );
}

fn retrieves(deed: &Deed<'_>) -> bool {
    let retrieving = Families::of(&[Family::Search, Family::Read]);
    deed.families.meets(retrieving) || deed.families.is_empty()
}

/// Whether the call looked for exactly what is said not to be there: its tool is named after the
/// thing, and every word that narrows it stands in the call.
fn is_about(execution: &Execution<'_>, deed: &Deed<'_>, absent: &Absent) -> bool {
    let words = words_of(&deed.tool);
    let named = words.iter().any(|word| word.starts_with(absent.noun.as_str()));
    let arguments = execution.call.map_or("", |call| call.arguments.as_str());
    let covered = |word: &String| {
        holds(arguments, word) || words.iter().any(|w| w.starts_with(word.as_str()))
    };
    (absent.generic || named) && absent.which.iter().all(covered)
}
