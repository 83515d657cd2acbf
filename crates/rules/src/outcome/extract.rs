use countersign_model::{Claim, ClaimKind, Family, Span};

use crate::action::objects_in;
use crate::facts::Answer;
use crate::prose::{BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind};

/// A claim that a check came out well.
#[derive(Debug)]
pub(crate) struct OutcomeClaim {
    /// The claim.
    pub(crate) claim: Claim,
    /// The kind of check.
    pub(crate) family: Family,
    /// It speaks of one thing among others: "the test passes".
    pub(crate) singular: bool,
    /// The same message says that something failed.
    pub(crate) discloses: bool,
}

/// The claims of this kind in one answer.
pub(crate) fn outcome_claims(answer: &Answer<'_>) -> Vec<OutcomeClaim> {
    let prose = &answer.prose;
    let mut claims = Vec::new();
    let mut discloses = false;
    for clause in &prose.clauses {
        discloses |= reports_trouble(prose, clause);
        if clause.mood != Mood::Asserted || is_tabular(prose, clause) {
            continue;
        }
        for (family, at) in checks_that_pass(prose, clause) {
            claims.push(outcome_claim(prose, clause, family, at, answer.turn));
        }
    }
    for claim in &mut claims {
        claim.discloses = discloses;
    }
    claims
}

fn outcome_claim(
    prose: &Prose<'_>,
    clause: &Clause,
    family: Family,
    at: usize,
    turn: usize,
) -> OutcomeClaim {
    let words = clause.span.of(prose.text);
    let trimmed = words.trim_start_matches([',', ';', '(', ' ', '\n', ':', '-', '—', '–', ')']);
    let span = Span::new(clause.span.end - trimmed.len(), clause.span.end);
    let noun = prose.tokens.get(at).map(|t| prose.word(t).to_ascii_lowercase());
    let plain = prose.tokens(clause.tokens.clone());
    let all = plain.iter().any(|t| {
        matches!(
            prose.word(t),
            "all" | "All" | "every" | "full" | "whole" | "entire" | "both" | "Both"
        )
    });
    let singular =
        family == Family::Test && !all && noun.is_some_and(|n| n == "test" || n == "spec");
    OutcomeClaim {
        claim: Claim {
            kind: ClaimKind::Outcome(family),
            text: span.of(prose.text).to_owned(),
            objects: objects_in(prose, clause.tokens.clone()),
            span,
            turn,
        },
        family,
        singular,
        discloses: false,
    }
}

/// The checks that the clause says came out well, each with the token that names it.
fn checks_that_pass(prose: &Prose<'_>, clause: &Clause) -> Vec<(Family, usize)> {
    let tokens = prose.tokens(clause.tokens.clone());
    let own = |t: &Token| !t.quoted && t.kind == TokenKind::Word;
    let clear = clears(prose, tokens);
    if tokens.iter().any(|t| t.has(Tags::MODAL.or(Tags::EARLIER).or(Tags::HEDGE))) {
        return Vec::new();
    }
    let negated =
        tokens.iter().any(|t| t.has(Tags::NEGATION.or(Tags::FAILURE)) && !t.has(Tags::TROUBLE));
    let troubled = tokens.iter().any(|t| t.has(Tags::TROUBLE.or(Tags::FAILURE)));
    if (negated || troubled) && clear.is_none() {
        return Vec::new();
    }
    let verdict = passing_at(prose, tokens).or(clear);
    let Some(verdict) = verdict else { return Vec::new() };
    let mut found: Vec<(Family, usize)> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let Some(family) = family_of(token) else { continue };
        if !own(token) || found.iter().any(|&(known, _)| known == family) {
            continue;
        }
        let verbal = token.noun.is_none();
        let in_place = i < verdict || (verbal && i <= verdict) || clear.is_some();
        if in_place && !is_wished(tokens.get(..i).unwrap_or_default()) && !is_part(prose, tokens, i)
        {
            found.push((family, clause.tokens.start + i));
        }
    }
    // A run that passes is one check, also when the noun is made of two: "build tests".
    if found.iter().any(|&(f, _)| f == Family::Test) && tokens.len() < 5 {
        found.retain(|&(f, _)| f == Family::Test || found_joined(prose, tokens));
    }
    found
}

/// Whether the tokens join two nouns: "linting and tests".
fn found_joined(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    tokens.iter().any(|t| matches!(prose.word(t), "and" | "&" | "/" | ","))
}

/// The family of check that a word names: a noun ("tests"), or a verb without an object
/// ("compiles").
fn family_of(token: &Token) -> Option<Family> {
    let checked = |f: Family| matches!(f, Family::Test | Family::Build | Family::Lint);
    if let Some(family) = token.noun.filter(|&f| checked(f)) {
        return Some(family);
    }
    match token.verb {
        Some(crate::prose::Action::Of(family)) if checked(family) => {
            token.tags.any(Tags::THIRD_PERSON.or(Tags::PAST)).then_some(family)
        }
        Some(crate::prose::Action::Of(Family::Create)) => None,
        _ => None,
    }
}

/// Where the clause says that something passed, when nothing behind it turns it into something
/// else: "tests pass", not "tests pass the value".
fn passing_at(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    tokens.iter().enumerate().position(|(i, token)| {
        if !token.has(Tags::PASSING) {
            return false;
        }
        let next = tokens.get(i + 1);
        next.is_none_or(|t| {
            matches!(t.kind, TokenKind::Symbol(_) | TokenKind::Number)
                || t.has(
                    Tags::PREPOSITION
                        .or(Tags::ADVERB)
                        .or(Tags::COORDINATE)
                        .or(Tags::NOW)
                        .or(Tags::PASSING)
                        .or(Tags::SUBORDINATE),
                )
                || matches!(prose.word(t), "locally" | "again" | "everywhere" | "here")
        })
    })
}

/// Where the clause says that there is no trouble: "no lint errors", "0 issues", "without errors".
fn clears(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    tokens.iter().enumerate().position(|(i, token)| {
        token.has(Tags::TROUBLE)
            && tokens.get(i.saturating_sub(3)..i).unwrap_or_default().iter().any(|t| {
                matches!(
                    prose.word(t).to_ascii_lowercase().as_str(),
                    "no" | "0" | "zero" | "without" | "any"
                )
            })
    })
}

/// Whether the words before make it a wish or a task: "make the tests pass", "to verify tests pass".
fn is_wished(before: &[Token]) -> bool {
    before.iter().any(|t| {
        let task = t.has(Tags::BASE) && !t.has(Tags::PAST.or(Tags::NOUN)) && t.verb.is_some();
        task || t.has(Tags::INTEND.or(Tags::PURPOSE).or(Tags::GERUND).or(Tags::REQUEST))
            && t.noun.is_none()
    })
}

/// Whether the noun is part of a longer name: "test file", "build artifacts".
fn is_part(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|t| {
        t.kind == TokenKind::Word
            && t.tags.is_empty()
            && t.verb.is_none()
            && !matches!(
                prose.word(t),
                "suite"
                    | "suites"
                    | "cases"
                    | "run"
                    | "runs"
                    | "checks"
                    | "check"
                    | "job"
                    | "locally"
            )
    })
}

/// Whether the clause says that a check went wrong.
fn reports_trouble(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    clause.mood == Mood::Asserted
        && tokens.iter().any(|t| t.has(Tags::FAILURE))
        && clears(prose, tokens).is_none()
}

fn is_tabular(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s)).is_some_and(|b| {
        matches!(b.kind, BlockKind::Cell { .. } | BlockKind::Quote | BlockKind::Field)
    })
}
