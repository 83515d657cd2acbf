//! How much is said to have been tested: "the whole suite", "every module of the project".

use counterfoil_model::{Claim, ClaimKind, Family, Span};

use super::trouble::clears;
use super::verdict::{check_at, passing_at};
use crate::facts::Answer;
use crate::prose::{
    Action, Clause, Mood, Prose, Subject, Tags, Token, TokenKind, Voice, Words, is_agenda,
};
use crate::values::whole;

/// A claim that all the tests there are ran, or came out well.
#[derive(Debug)]
pub(crate) struct ScopeClaim {
    /// The claim.
    pub(crate) claim: Claim,
    /// The sentence in which it is made.
    pub(crate) sentence: Span,
    /// It says how it stands, and not only what was run.
    pub(crate) passes: bool,
    /// What it counts out: "all three modules" may be three runs.
    pub(crate) parts: Parts,
}

/// Of how many parts the whole is said to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// "the whole suite"
    None,
    /// "every module"
    Some,
    /// "all three modules"
    Count(u64),
    /// "All tests pass": those that ran may be meant, unless they were picked by their names.
    Plain,
}

/// The claims of this kind in one answer.
pub(crate) fn scope_claims(answer: &Answer<'_>) -> Vec<ScopeClaim> {
    let prose = &answer.prose;
    let mut found = Vec::new();
    for sentence in &prose.sentences {
        let tokens = prose.tokens(sentence.tokens.clone());
        if sentence.foreign || !tokens.iter().any(may_test) {
            continue;
        }
        let Some((at, parts)) =
            (0..tokens.len()).find_map(|at| Some((at, whole_at(prose, tokens, at)?)))
        else {
            continue;
        };
        let Some(clause) = prose.clause_at(sentence.tokens.start + at) else { continue };
        // "in CI", "the pipeline runs the whole suite"
        let elsewhere = |t: &Token| {
            prose.is(t, words!["ci", "pipeline", "actions", "upstream", "remote", "you", "your"])
        };
        let own = prose.tokens(clause.tokens.clone());
        if !is_told(prose, clause) || own.iter().any(elsewhere) {
            continue;
        }
        let same = |c: &&Clause| c.sentence == clause.sentence && is_told(prose, c);
        let from = prose.clauses.partition_point(|c| c.tokens.start < clause.tokens.start);
        let passes = prose.clauses.iter().skip(from).take(8).filter(same).any(|c| {
            let tokens = prose.tokens(c.tokens.clone());
            passing_at(prose, tokens).is_some() || clears(prose, tokens).is_some()
        });
        let ran = clause.predicates.iter().any(|p| {
            let done = matches!(p.action, Action::Of(Family::Run | Family::Test));
            let own = matches!(p.subject, Subject::Agent | Subject::Nobody);
            done && !p.negated && !p.earlier && (own || p.voice != Voice::Active)
        });
        // "Full suite run, no failures"
        let noun = own.windows(3).any(|words| {
            let [suite, run, next] = words else { return false };
            let ends = next.kind != TokenKind::Code;
            prose.is(suite, words!["suite", "tests"]) && prose.is(run, words!["run"]) && ends
        });
        if passes || ran || noun {
            let kind = ClaimKind::Outcome(Family::Test);
            found.push(ScopeClaim {
                claim: prose.claim(clause, kind, Vec::new(), answer.turn),
                sentence: Span::new(
                    tokens.first().map_or(0, |t| t.start as usize),
                    tokens.last().map_or(0, |t| t.end as usize),
                ),
                passes,
                parts,
            });
        }
    }
    found
}

/// Whether a word may speak of tests.
fn may_test(token: &Token) -> bool {
    let test = Some(Family::Test);
    token.noun == test
        || token.verb == Some(Action::Of(Family::Test))
        || token.kind == TokenKind::Code
}

/// Whether a clause is the speaker's own word for what is so.
fn is_told(prose: &Prose<'_>, clause: &Clause) -> bool {
    let open = Tags::MODAL.or(Tags::INTEND).or(Tags::EARLIER).or(Tags::HEDGE).or(Tags::CONDITIONAL);
    let tokens = prose.tokens(clause.tokens.clone());
    // "The tests don't show it: I ran the whole suite"
    let colon = tokens.iter().rposition(|t| t.is(':'));
    let tokens = tokens.get(colon.map_or(0, |at| at + 1)..).unwrap_or_default();
    let denies = tokens.iter().enumerate().any(|(at, t)| {
        // "not just the cart ones"
        let more =
            tokens.get(at + 1).is_some_and(|n| prose.is(n, words!["just", "only", "merely"]));
        !more && (prose.is(t, words!["not", "n't", "never", "neither", "nor", "cannot"]))
    });
    clause.mood == Mood::Asserted
        && !denies
        && !tokens.iter().any(|t| t.has(open))
        && !is_agenda(prose, clause)
}

/// Whether a word begins what means all the tests there are.
fn whole_at(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Parts> {
    let token = tokens.get(at)?;
    if token.kind != TokenKind::Word || token.quoted {
        return None;
    }
    if prose.is(token, words!["full", "entire", "whole", "complete"]) {
        return whole_suite(prose, tokens, at).then_some(Parts::None);
    }
    if prose.is(token, words!["all", "every", "each"]) {
        return every_part(prose, tokens, at).or_else(|| all_tests(prose, tokens, at));
    }
    // "without any filter"
    let behind = tokens.get(at + 1..)?;
    let filter = |t: &Token| prose.is(t, words!["filter", "filters"]);
    let unfiltered = prose.is(token, words!["without", "no"]) && behind.iter().take(2).any(filter);
    unfiltered.then_some(Parts::None)
}

/// "the whole suite", "the complete RSpec suite", "the entire project"
fn whole_suite(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let behind = tokens.get(at + 1..).unwrap_or_default();
    // What stands between names the program that runs them, and never which of them.
    let plain = |t: &Token, i: usize| {
        let name = t.capital && t.kind == TokenKind::Word;
        name || check_at(prose, tokens, at + 1 + i) == Some(Family::Test)
            || prose.is(t, words!["test", "testing", "automated"])
    };
    let head =
        behind.iter().take(4).enumerate().find(|(i, t)| !is_suite(prose, t) && !plain(t, *i));
    // "the full test run"
    let run = |i: usize| {
        let before = i.checked_sub(1).and_then(|i| Some((behind.get(i)?, i)));
        before.is_some_and(|(t, i)| plain(t, i))
            && behind.get(i).is_some_and(|t| prose.is(t, words!["run"]))
    };
    let suite = (0..4).find(|&i| behind.get(i).is_some_and(|t| is_suite(prose, t)) || run(i));
    let place = behind.first().is_some_and(|t| is_place(prose, t));
    // "the entire project's tests"
    let owned = place && behind.get(1).is_some_and(|t| matches!(prose.word(t), "'s" | "’s"));
    match suite {
        Some(end) if head.is_none_or(|(i, _)| i >= end) => !is_narrowed(prose, behind, end + 1),
        _ => place && (owned || !is_narrowed(prose, behind, 1)),
    }
}

/// "every package", "all three modules", "each of the solution's three test projects", "all tests
/// of the project", "all of the project's tests"
fn every_part(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Parts> {
    let mut next = at + 1;
    let word = |at: usize| tokens.get(at).filter(|t| !t.quoted);
    let is = |at: usize, known: &Words| word(at).is_some_and(|t| prose.is(t, known));
    next += usize::from(is(next, words!["of"]));
    next += usize::from(is(next, words!["the", "this", "our", "its", "these"]));
    let mut owned = false;
    if word(next).is_some_and(|t| is_place(prose, t)) && is(next + 1, words!["'s", "’s"]) {
        owned = true;
        next += 2;
    }
    let count = word(next).and_then(|t| whole(prose.word(t)));
    next += usize::from(count.is_some());
    let parts = count.map_or(Parts::Some, Parts::Count);
    let tested = is(next, words!["test", "spec"])
        || word(next).is_some_and(|t| {
            t.noun == Some(Family::Test) || check_at(prose, tokens, next) == Some(Family::Test)
        });
    // "every test file", "all bats files"
    if tested && is(next + 1, words!["file", "files", "class", "classes", "project", "projects"]) {
        return (!is_narrowed(prose, tokens, next + 2)).then_some(parts);
    }
    if is(next, words!["package", "packages", "crate", "crates", "module", "modules", "workspaces"])
    {
        return (!is_narrowed(prose, tokens, next + 1)).then_some(parts);
    }
    // "all component and composable specs in the project"
    let named = (next..next + 4).find(|&at| {
        word(at).is_some_and(|t| t.noun == Some(Family::Test)) || is(at, words!["tests", "specs"])
    })?;
    let inside = is(named + 1, words!["of", "in", "across", "from", "throughout"])
        && is(named + 2, words!["the", "this", "our"])
        && word(named + 3).is_some_and(|t| is_place(prose, t));
    (inside || (owned && named == next)).then_some(Parts::None)
}

/// "All tests pass", "all integration tests passed", and nothing that says which.
fn all_tests(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Parts> {
    let is = |at: usize, known: &Words| tokens.get(at).is_some_and(|t| prose.is(t, known));
    let layer = words!["unit", "integration", "e2e", "functional", "existing"];
    let tests = at + 1 + usize::from(is(at + 1, layer));
    let verb = tests + 1 + usize::from(is(tests + 1, words!["are", "now"]));
    let ends = tokens.get(verb + 1).is_none_or(|t| matches!(t.kind, TokenKind::Symbol(_)));
    let passes = is(verb, words!["pass", "passed", "passing"]) && ends;
    (is(at, words!["all"]) && is(tests, words!["tests"]) && passes).then_some(Parts::Plain)
}

/// The place where all there is to be tested is found.
fn is_place(prose: &Prose<'_>, token: &Token) -> bool {
    let places = words![
        "project",
        "workspace",
        "codebase",
        "repository",
        "repo",
        "solution",
        "monorepo",
        "app",
        "application",
    ];
    prose.is(token, places)
}

fn is_suite(prose: &Prose<'_>, token: &Token) -> bool {
    prose.is(token, words!["suite", "suites", "tests"])
}

/// Whether what stands behind says which part is meant: "for the billing module", "that changed".
fn is_narrowed(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let which =
        words!["for", "of", "in", "under", "inside", "within", "that", "which", "i", "except"];
    let but = words!["but", "apart"];
    let Some(next) = tokens.get(at) else { return false };
    if prose.is(next, words!["affected", "touched", "changed", "involved", "concerned"]) {
        return true;
    }
    // "under `TZ=UTC`"
    let setting = |t: &Token| t.kind == TokenKind::Code && prose.word(t).contains('=');
    let place = tokens.iter().skip(at + 1).take(3).any(|t| is_place(prose, t) || setting(t));
    (prose.is(next, which) && !place) || prose.is(next, but)
}
