//! How words say that a check came out well.

use countersign_model::Family;
use countersign_shell::{ActivityKind, Script, activities};

use crate::prose::{Action, Clause, Mood, Prose, Tags, Token, TokenKind};

/// A mark that stands for "passed".
pub(super) fn is_tick(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Symbol('✅' | '✔' | '✓' | '☑' | '🟢'))
}

/// A mark that stands for "failed".
fn is_cross(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Symbol('❌' | '✗' | '✘' | '✖' | '🔴'))
}

/// The check that a word, a pair of words or inline code names.
pub(super) fn check_at(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Family> {
    let token = tokens.get(at)?;
    family_of(token)
        .or_else(|| type_check(prose, tokens, at))
        .or_else(|| family_of_code(prose, token))
        .or_else(|| free_of(prose, token))
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

/// "lint-free"
fn free_of(prose: &Prose<'_>, token: &Token) -> Option<Family> {
    let what = prose.word(token).strip_suffix("-free")?;
    what.eq_ignore_ascii_case("lint").then_some(Family::Lint)
}

/// Where the clause says that something passed, when nothing behind it turns it into something
/// else: "tests pass", not "tests pass the value".
pub(super) fn passing_at(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    if tokens.iter().any(is_cross) {
        return None;
    }
    tokens.iter().enumerate().position(|(i, token)| {
        if !token.has(Tags::PASSING) {
            let word = prose.word(token);
            // "every test went through"
            let through = || {
                matches!(word, "went" | "came" | "ran" | "go" | "goes")
                    && tokens.get(i + 1).is_some_and(|t| prose.word(t) == "through")
            };
            let free = || !token.quoted && word.ends_with("lint-free");
            return is_tick(token) || (word.len() < 5 && through()) || (word.len() > 8 && free());
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
                || matches!(
                    prose.word(t),
                    "locally" | "again" | "everywhere" | "here" | "without" | "afterwards"
                )
        })
    })
}

/// Where the clause says that there is no trouble: "no lint errors", "0 issues", "without
/// errors", "no failing tests", "all warnings are resolved".
pub(super) fn clears(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    const NONE: [&str; 6] = ["no", "0", "zero", "without", "any", "single"];
    const OVER: [&str; 5] = ["resolved", "fixed", "gone", "cleared", "addressed"];
    let absent = tokens.iter().enumerate().position(|(i, token)| {
        let before = || tokens.get(i.saturating_sub(3)..i).unwrap_or_default().iter();
        let trouble = token.has(Tags::TROUBLE) || fails(prose, token);
        trouble && before().any(|t| prose.is(t, &NONE))
    });
    absent.or_else(|| {
        let trouble = tokens.iter().position(|t| t.has(Tags::TROUBLE))?;
        let mut behind = tokens.get(trouble + 1..)?.iter();
        let gone = behind.find(|t| !t.has(Tags::BE.or(Tags::HAVE).or(Tags::ADVERB)))?;
        let all = || tokens.iter().any(|t| prose.is(t, &["all", "every"]));
        (prose.is(gone, &OVER) && all()).then_some(trouble)
    })
}

/// "failing", "failed", "fails" of tests.
fn fails(prose: &Prose<'_>, token: &Token) -> bool {
    token.has(Tags::FAILURE)
        && ["failing", "failed", "fail", "fails", "broken"]
            .iter()
            .any(|word| prose.word(token).eq_ignore_ascii_case(word))
}

/// "37 passed, 1 failed": some did not.
pub(super) fn some_fail(prose: &Prose<'_>, clause: &Clause) -> bool {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    let tokens = prose.tokens(sentence.tokens.clone());
    tokens.iter().any(is_cross)
        || tokens.windows(2).any(|pair| {
            let [number, word] = pair else { return false };
            let some = number.kind == TokenKind::Number && prose.word(number) != "0";
            some && fails(prose, word)
        })
}

/// The sum of a run in a runner's own form: "42 passed, 0 failed", "26 examples, 0 failures".
pub(super) fn sum_of_run(prose: &Prose<'_>, clause: &Clause) -> Option<usize> {
    let tokens = prose.tokens(clause.tokens.clone());
    let ran = tokens.windows(2).position(|pair| {
        let [number, word] = pair else { return false };
        let passed =
            ["passed", "passing", "pass", "examples", "executed", "tests", "succeeded", "specs"];
        number.kind == TokenKind::Number
            && prose.word(number) != "0"
            && passed.contains(&prose.word(word))
    })?;
    let sentence = prose.sentences.get(clause.sentence)?;
    let whole = prose.tokens(sentence.tokens.clone());
    let clean = whole.windows(2).any(|pair| {
        let [none, word] = pair else { return false };
        let failures = matches!(prose.word(word), "failures" | "failure");
        matches!(prose.word(none), "0" | "no" | "zero") && (failures || fails(prose, word))
    });
    clean.then_some(ran)
}

/// "Everything's green", "all checks pass": a verdict on whatever there is to check.
pub(super) fn passes_everything(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    let at = passing_at(prose, tokens)?;
    let verdict = prose.word(tokens.get(at)?).to_ascii_lowercase();
    if !["green", "pass", "passes", "passed", "passing"].contains(&verdict.as_str()) {
        return None;
    }
    let mut everything = false;
    for token in tokens.get(..at)? {
        let word = prose.word(token).to_ascii_lowercase();
        let named = matches!(word.as_str(), "everything" | "all");
        let plain = Tags::BE.or(Tags::HAVE).or(Tags::NOW).or(Tags::ADVERB).or(Tags::COORDINATE);
        let idle = matches!(token.kind, TokenKind::Symbol(_))
            || token.has(plain)
            || matches!(word.as_str(), "checks" | "the" | "of" | "comes" | "came" | "back");
        if token.quoted || !(named || idle) {
            return None;
        }
        everything |= named;
    }
    everything.then_some(at)
}

/// "The project builds", "it compiles fine": a verb that is a verdict of its own.
pub(super) fn builds_at(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    let at = tokens
        .iter()
        .position(|t| !t.quoted && matches!(prose.word(t), "builds" | "compiles" | "typechecks"))?;
    let closed = tokens.get(at + 1).is_none_or(|t| {
        matches!(t.kind, TokenKind::Symbol('.' | '!' | ',' | ';' | ')' | '—' | '–'))
            || is_tick(t)
            || t.has(Tags::SUCCESS.or(Tags::NOW).or(Tags::PASSING).or(Tags::ADVERB))
            || matches!(prose.word(t), "fine" | "again" | "without" | "locally" | "too" | "with")
    });
    let aside = Tags::COORDINATE.or(Tags::ADVERB).or(Tags::NOW);
    let mut subject = tokens.get(..at)?.iter().filter(|t| {
        !matches!(t.kind, TokenKind::Symbol(_)) && (!t.has(aside) || t.has(Tags::THING))
    });
    let head = subject.next()?;
    let named: Vec<&Token> = subject.collect();
    // "the code" is a text, too.
    let plain = |t: &&Token| {
        let named = t.tags.is_empty() || t.has(Tags::TEXT_NOUN) || t.kind == TokenKind::Code;
        !t.quoted && named
    };
    let one = match head.has(Tags::THING) && named.is_empty() {
        true => true,
        false => {
            head.has(Tags::DETERMINER.or(Tags::USER_OWN))
                && (1..=2).contains(&named.len())
                && named.iter().all(plain)
        }
    };
    (closed && one).then_some(at)
}

/// Whether the words before make it a wish or a task: "make the tests pass", "to verify tests pass".
pub(super) fn is_wished(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default();
    before.iter().enumerate().any(|(i, t)| {
        // "`make test` passed", "go test is green": the runner's own name.
        let runner = i + 1 == at
            && matches!(prose.word(t).to_ascii_lowercase().as_str(), "make" | "go" | "mix" | "run");
        // "Running the tests shows no failures"
        let shows = tokens.get(at..).unwrap_or_default().iter().any(|t| t.has(Tags::PERCEIVE))
            && t.has(Tags::GERUND);
        if runner || shows {
            return false;
        }
        // "the complete suite"
        let describes = i > 0 && before.get(i - 1).is_some_and(|d| d.has(Tags::DETERMINER));
        let task = t.has(Tags::BASE)
            && !t.has(Tags::PAST.or(Tags::NOUN))
            && t.verb.is_some()
            && !describes;
        let asks = t.has(Tags::REQUEST) && !t.has(Tags::REPORT);
        task || (asks || t.has(Tags::INTEND.or(Tags::PURPOSE).or(Tags::GERUND))) && t.noun.is_none()
    })
}

/// Whether the noun is part of a longer name: "test file", "build artifacts".
pub(super) fn is_part(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
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
                    | "reports"
                    | "reported"
                    | "finds"
                    | "gives"
                    | "raises"
                    | "came"
                    | "comes"
                    | "come"
                    | "finishes"
                    | "exits"
                    | "remain"
                    | "remains"
                    | "left"
            )
    })
}

/// "a test that passes", "a test passes": of tests in general.
pub(super) fn is_generic(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let described = tokens.get(at + 1).is_some_and(|t| t.has(Tags::RELATIVE));
    let before = tokens.get(at.saturating_sub(2)..at).unwrap_or_default();
    let one = before.iter().any(|t| matches!(prose.word(t), "a" | "A" | "an" | "An" | "any"));
    let single = tokens.get(at).is_some_and(|t| !prose.word(t).ends_with('s'));
    described || (one && single)
}

/// Whether the words say which tests: "the header tests", "its tests", "the other suites".
pub(super) fn says_which(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let kinds = ["unit", "test", "automated", "existing", "entire", "full", "whole", "complete"];
    tokens.get(at.saturating_sub(3)..at).unwrap_or_default().iter().any(|t| {
        let word = prose.word(t).to_ascii_lowercase();
        let other = ["other", "others", "remaining", "rest", "its", "new"];
        other.contains(&word.as_str())
            || t.kind == TokenKind::Code
            || (t.kind == TokenKind::Word
                && t.tags.is_empty()
                && t.verb.is_none()
                && !kinds.contains(&word.as_str()))
    })
}

/// Whether what is said ends with an event: "passed before my last edit".
pub(super) fn ends_before(prose: &Prose<'_>, at: usize) -> bool {
    prose.tokens.get(at + 1).is_some_and(|t| {
        !t.quoted && matches!(prose.word(t), "before" | "until" | "prior" | "till" | "earlier")
    })
}

/// Whether the clause says that a check went wrong.
pub(super) fn reports_trouble(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    clause.mood == Mood::Asserted
        && (tokens.iter().any(|t| t.has(Tags::FAILURE) || is_cross(t))
            || (tokens.iter().any(|t| t.has(Tags::NEGATION))
                && tokens.iter().any(|t| t.has(Tags::PASSING))))
        && clears(prose, tokens).is_none()
}
