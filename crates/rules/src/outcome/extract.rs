use countersign_model::{Claim, ClaimKind, Family, Span};
use countersign_shell::{ActivityKind, Script, activities};

use crate::action::objects_in;
use crate::facts::Answer;
use crate::other_language::outcome_claim_in;
use crate::prose::{
    Action, BlockKind, Clause, Language, Mood, Prose, Subject, Tags, Token, TokenKind, Voice,
    is_agenda,
};

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
    /// It speaks of a part: "for module A".
    pub(crate) narrowed: bool,
    /// A row of a table says it: that may be a table of targets.
    pub(crate) tabular: bool,
    /// It speaks of the whole suite in so many words.
    pub(crate) whole: bool,
    /// It speaks of a run somewhere else: in CI.
    pub(crate) elsewhere: bool,
    /// It only says that the check was run.
    pub(crate) ran: bool,
    /// The language in which it is made.
    pub(crate) language: Language,
}

impl OutcomeClaim {
    /// What is said to have passed, as a word.
    pub(crate) fn noun(&self) -> &'static str {
        match self.family {
            Family::Test => "test",
            Family::Lint => "lint",
            _ => "build",
        }
    }
}

/// The claims of this kind in one answer.
pub(crate) fn outcome_claims(answer: &Answer<'_>) -> Vec<OutcomeClaim> {
    let prose = &answer.prose;
    let mut claims = Vec::new();
    let mut discloses = false;
    for (index, clause) in prose.clauses.iter().enumerate() {
        discloses |= reports_trouble(prose, clause);
        if prose.language_of(clause) != Language::English {
            claims.extend(outcome_claim_in(prose, clause, answer.turn));
            continue;
        }
        if let Some((family, at)) = check_in_row(prose, clause) {
            let claim = outcome_claim(prose, clause, family, at, answer.turn);
            claims.push(OutcomeClaim { tabular: true, ..claim });
            continue;
        }
        if clause.mood != Mood::Asserted || is_tabular(prose, clause) || is_agenda(prose, clause) {
            continue;
        }
        let mut checks = checks_that_pass(prose, clause);
        if checks.is_empty() {
            checks = check_before(prose, index);
        }
        for (family, at) in checks {
            claims.push(outcome_claim(prose, clause, family, at, answer.turn));
        }
        if let Some((family, at)) = check_run(prose, clause) {
            let claim = outcome_claim(prose, clause, family, at, answer.turn);
            claims.push(OutcomeClaim { ran: true, ..claim });
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
        narrowed: is_narrowed(prose, plain),
        tabular: false,
        whole: family == Family::Test && speaks_of_whole(prose, plain),
        elsewhere: plain.iter().any(|t| {
            matches!(prose.word(t), "CI" | "pipeline" | "Actions" | "upstream" | "remote" | "badge")
        }),
        ran: false,
        language: Language::English,
    }
}

/// `| Tests | passed |`: a cell that says no more than that it came out well, behind one that names
/// a check.
fn check_in_row(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, usize)> {
    let place = |index: usize| {
        let sentence = prose.sentences.get(index)?;
        match prose.block_of(sentence)?.kind {
            BlockKind::Cell { row, column } => Some((row, column)),
            _ => None,
        }
    };
    let (row, column) = place(clause.sentence).filter(|&(_, column)| column > 0)?;
    let passed = prose.tokens(clause.tokens.clone()).iter().filter(|t| t.kind == TokenKind::Word);
    let plain = Tags::PASSING.or(Tags::ADVERB).or(Tags::DETERMINER).or(Tags::THING);
    let words: Vec<&Token> = passed.collect();
    if !words.iter().any(|t| t.has(Tags::PASSING)) || !words.iter().all(|t| t.has(plain)) {
        return None;
    }
    let before = clause.sentence.checked_sub(1)?;
    if place(before) != Some((row, column - 1)) {
        return None;
    }
    let named = prose.sentences.get(before)?.tokens.clone();
    if named.len() > 4 {
        return None;
    }
    named.into_iter().find_map(|at| Some((family_of(prose.tokens.get(at)?)?, at)))
}

/// "the full test suite", "the entire suite", "across all packages"
fn speaks_of_whole(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let word = |t: &Token| prose.word(t).to_ascii_lowercase();
    let whole = |t: &Token| matches!(word(t).as_str(), "full" | "entire" | "whole" | "complete");
    let suite = |t: &Token| matches!(word(t).as_str(), "suite" | "suites" | "tests");
    let everywhere = tokens.windows(2).any(|pair| {
        let [all, of] = pair else { return false };
        matches!(word(all).as_str(), "all" | "every" | "entire" | "whole")
            && matches!(
                word(of).as_str(),
                "packages" | "package" | "crates" | "crate" | "workspace" | "project" | "codebase"
            )
    });
    if everywhere {
        return true;
    }
    let Some(at) = tokens.iter().position(whole) else { return false };
    let behind = tokens.get(at + 1..).unwrap_or_default();
    let mut described = behind.iter().take(3);
    described.any(suite) && !behind.iter().take(2).any(|t| word(t) == "short")
}

/// The checks that the clause says came out well, each with the token that names it.
fn checks_that_pass(prose: &Prose<'_>, clause: &Clause) -> Vec<(Family, usize)> {
    let tokens = prose.tokens(clause.tokens.clone());
    let own = |t: &Token| !t.quoted && t.kind == TokenKind::Word;
    let clear = clears(prose, tokens);
    if tokens.iter().any(|t| t.has(Tags::MODAL.or(Tags::EARLIER).or(Tags::HEDGE))) {
        return Vec::new();
    }
    if is_fraction(prose, tokens) || excepts(prose, clause) {
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
        let named = family_of(token)
            .or_else(|| type_check(prose, tokens, i))
            .or_else(|| family_of_code(prose, token));
        let Some(family) = named else { continue };
        if !(own(token) || token.kind == TokenKind::Code)
            || found.iter().any(|&(known, _)| known == family)
        {
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

/// "type check passes", "no type errors"
fn type_check(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Family> {
    let types = matches!(prose.word(tokens.get(at)?), "type" | "Type" | "types" | "Types");
    let checks = matches!(
        prose.word(tokens.get(at + 1)?),
        "check" | "checks" | "checking" | "checker" | "errors"
    );
    (types && checks).then_some(Family::Lint)
}

/// The check that inline code runs: "`cargo clippy` reports no warnings".
fn family_of_code(prose: &Prose<'_>, token: &Token) -> Option<Family> {
    if token.kind != TokenKind::Code {
        return None;
    }
    let script = Script::parse(prose.word(token)).ok()?;
    activities(&script).iter().find_map(|activity| match activity.kind {
        ActivityKind::Test => Some(Family::Test),
        ActivityKind::Build => Some(Family::Build),
        ActivityKind::Lint => Some(Family::Lint),
        _ => None,
    })
}

/// A check named just before in the sentence: "Tests: 12/12 passing", "I ran the tests and
/// everything passed".
fn check_before(prose: &Prose<'_>, index: usize) -> Vec<(Family, usize)> {
    let Some((clause, before)) =
        index.checked_sub(1).and_then(|i| Some((prose.clauses.get(index)?, prose.clauses.get(i)?)))
    else {
        return Vec::new();
    };
    let tokens = prose.tokens(clause.tokens.clone());
    let labelled = tokens.first().is_some_and(|t| t.is(':'));
    let everything = tokens
        .iter()
        .take(3)
        .any(|t| matches!(prose.word(t), "everything" | "all" | "they" | "it" | "both"));
    let plain = tokens.iter().all(|t| !t.has(Tags::NEGATION.or(Tags::FAILURE).or(Tags::MODAL)));
    if before.sentence != clause.sentence
        || !(labelled || everything)
        || !plain
        || is_fraction(prose, tokens)
        || passing_at(prose, tokens).is_none()
        || before.mood != Mood::Asserted
    {
        return Vec::new();
    }
    let range = before.tokens.clone();
    range.filter_map(|at| Some((family_of(prose.tokens.get(at)?)?, at))).take(1).collect()
}

/// "I ran the test suite": the check and its noun.
fn check_run(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, usize)> {
    let predicate = clause.predicates.iter().find(|p| {
        !p.negated
            && p.subject == Subject::Agent
            && p.voice == Voice::Active
            && p.action == Action::Of(Family::Run)
    })?;
    let mut objects = predicate.object_tokens.clone().take(5);
    let at = objects.find(|&at| {
        prose.tokens.get(at).is_some_and(|t| matches!(t.noun, Some(Family::Test | Family::Lint)))
    })?;
    Some((prose.tokens.get(at)?.noun?, at))
}

/// "9 of 10", "3/5": not all of them.
fn is_fraction(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    tokens.windows(3).any(|w| {
        let [a, of, b] = w else { return false };
        let numbers = a.kind == TokenKind::Number && b.kind == TokenKind::Number;
        numbers
            && (prose.word(of) == "of" || prose.word(of) == "out")
            && prose.word(a) != prose.word(b)
    }) || tokens.iter().any(|t| {
        prose.word(t).split_once('/').is_some_and(|(a, b)| {
            let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
            digits(a) && digits(b) && a != b
        })
    })
}

/// "all tests pass except …"
fn excepts(prose: &Prose<'_>, clause: &Clause) -> bool {
    let end = prose.sentences.get(clause.sentence).map_or(clause.tokens.end, |s| s.tokens.end);
    prose.tokens(clause.tokens.start..end).iter().any(|t| {
        matches!(prose.word(t), "except" | "apart" | "besides" | "excluding" | "aside" | "but")
    })
}

/// "tests pass for module A": a part is named behind the verdict.
fn is_narrowed(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    passing_at(prose, tokens)
        .and_then(|at| tokens.get(at + 1))
        .is_some_and(|t| matches!(prose.word(t), "for" | "in" | "on" | "under"))
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
        Some(Action::Of(family)) if checked(family) => {
            token.tags.any(Tags::THIRD_PERSON.or(Tags::PAST)).then_some(family)
        }
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
