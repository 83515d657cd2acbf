//! The wordings that say that a check passed.

use counterfoil_model::Family;
use counterfoil_shell::{ActivityKind, Script, activities};

use crate::prose::{Action, Clause, Kinds, Prose, Tags, Token, TokenKind, Words, sets};
use crate::values::whole;

/// Whether a token is a mark for "passed".
pub(super) fn is_tick(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Symbol('✅' | '✔' | '✓' | '☑' | '🟢'))
}

/// Whether a token is a mark for "failed".
pub(super) fn is_cross(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Symbol('❌' | '✗' | '✘' | '✖' | '🔴'))
}

/// The check that a word, a pair of words or inline code names.
pub(super) fn check_at(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Family> {
    let token = tokens.get(at)?;
    family_of(token)
        .or_else(|| type_check(prose, tokens, at))
        .or_else(|| family_of_code(prose, token))
        .or_else(|| named_test(prose, token).then_some(Family::Test))
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
            token.tags.any(tags![THIRD_PERSON, PAST]).then_some(family)
        }
        _ => None,
    }
}

/// "type check passes", "no type errors", "the format check"
fn type_check(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Family> {
    let first = tokens.get(at)?;
    let checked = prose.is(first, words!["format", "style"]);
    if checked && prose.is(tokens.get(at + 1)?, words!["check", "checks", "checker"]) {
        return Some(Family::Lint);
    }
    let types = matches!(prose.word(first), "type" | "Type" | "types" | "Types");
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

/// "`test_list`", "`TestLoadEnv`", "`user.test.ts`": the name of a test, or of a file of tests.
pub(super) fn named_test(prose: &Prose<'_>, token: &Token) -> bool {
    if !matches!(token.kind, TokenKind::Code | TokenKind::Identifier | TokenKind::Path) {
        return false;
    }
    is_test_name(prose.word(token))
}

/// Whether runners find tests by such a name.
pub(super) fn is_test_name(name: &str) -> bool {
    let last = name.rsplit(['/', ':', ' ']).next().unwrap_or(name);
    let stem = last.trim_end_matches("()").split('.').next().unwrap_or(last);
    let camel = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
    !name.contains(' ')
        && (stem.starts_with("test_")
            || stem.ends_with("_test")
            || stem.ends_with("_spec")
            || stem.strip_prefix("Test").is_some_and(camel)
            || stem.strip_prefix("test").is_some_and(camel)
            || last.contains(".test.")
            || last.contains(".spec."))
}

/// Whether a clause has any of the words and marks of verdicts. Most clauses have none.
pub(super) fn may_give_verdict(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let verdicts = tags![PASSING, TROUBLE, FAILURE, NEGATION];
    clause.tags.any(verdicts)
        || clause.kinds.any(Kinds::NUMBER)
        || tokens.iter().enumerate().any(|(at, token)| {
            prose.is(token, words!["pass", "passes", "passed"])
                || builds(prose, token)
                || passes_otherwise(prose, tokens, at)
        })
}

/// The index of the word that says that something passed, unless the words after it change its
/// meaning: "tests pass", not "tests pass the value".
pub(super) fn passing_at(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    if tokens.iter().any(is_cross) {
        return None;
    }
    tokens.iter().enumerate().position(|(i, token)| {
        if !token.has(Tags::PASSING) {
            return passes_otherwise(prose, tokens, i);
        }
        if hands_over(prose, tokens.get(i..).unwrap_or_default()) {
            return false;
        }
        let next = tokens.get(i + 1);
        next.is_none_or(|t| {
            matches!(t.kind, TokenKind::Symbol(_) | TokenKind::Number)
                || t.has(tags![PREPOSITION, ADVERB, COORDINATE, NOW, PASSING, SUBORDINATE])
                || prose.is(t, &sets::AFTER_A_VERDICT)
        })
    })
}

/// Whether a verdict is given without "pass": a tick, "12/12", "exits with 0", "lint-free", "went
/// through", "the tests confirm it".
fn passes_otherwise(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let next = || tokens.get(at + 1).map_or("", |t| prose.word(t));
    let test = || at.checked_sub(1).and_then(|i| tokens.get(i)?.noun) == Some(Family::Test);
    // "The build completes", "`cmake --build build` finishes"
    let named = || {
        let before = at.checked_sub(1).and_then(|i| tokens.get(i));
        let closed = tokens.get(at + 1).is_none_or(|t| {
            matches!(t.kind, TokenKind::Symbol('.' | ',' | ';' | '!'))
                || t.has(tags![SUCCESS, NOW, COORDINATE])
        });
        closed && before.is_some_and(|t| t.kind == TokenKind::Code || family_of(t).is_some())
    };
    // Called for every word, so it compares bytes.
    let bytes = prose.bytes(token);
    match bytes.first() {
        _ if token.is_mark() => is_tick(token),
        _ if bytes.len() > 8 && bytes.ends_with(b"lint-free") => !token.quoted,
        Some(b'0'..=b'9') => is_all_of_all(prose, token),
        Some(b'c' | b'f') if matches!(bytes, b"completes" | b"finishes") => named(),
        // "The production build works"
        Some(b'w') if bytes == b"works" => {
            let before = at.checked_sub(1).and_then(|i| tokens.get(i));
            before.and_then(|t| t.noun) == Some(Family::Build) && named()
        }
        Some(b'c' | b'C' | b'w' | b'g' | b'r' | b'e' | b'E') => {
            (prose.is(token, words!["confirm", "confirms", "confirmed"]) && test())
                || (matches!(bytes, b"went" | b"came" | b"ran" | b"go" | b"goes")
                    && next() == "through")
                || exits_with_zero(prose, tokens, at)
        }
        _ => false,
    }
}

/// "12/12": whether both parts are equal.
pub(super) fn is_all_of_all(prose: &Prose<'_>, token: &Token) -> bool {
    let number = |s: &str| !s.is_empty() && s != "0" && s.bytes().all(|b| b.is_ascii_digit());
    let word = prose.word(token);
    token.kind != TokenKind::Code
        && !token.quoted
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.split_once('/').is_some_and(|(some, all)| some == all && number(all))
}

/// "exits with code 0", "exited 0", "exit status 0".
fn exits_with_zero(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let exits = tokens.get(at).is_some_and(|t| {
        !t.quoted
            && matches!(
                prose.bytes(t),
                b"exits" | b"exited" | b"exit" | b"Exit" | b"returns" | b"returned"
            )
    });
    let small =
        |t: &Token| t.is(':') || matches!(prose.word(t), "with" | "code" | "status" | "a" | "of");
    // "it exited 0 only because of the pipe"
    let only = tokens.get(at + 1..).unwrap_or_default().iter().any(|t| prose.is(t, words!["only"]));
    exits
        && !only
        && tokens.get(at + 1..).unwrap_or_default().iter().take(5).find(|t| !small(t)).is_some_and(
            |t| (t.kind == TokenKind::Number && prose.word(t) == "0") || prose.word(t) == "zero",
        )
}

/// "the previously failing test": whether the word only says which check is meant.
pub(super) fn describes_check(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let word = |i: usize| tokens.get(i).map_or("", |t| prose.word(t));
    // "previously" before it belongs to the same description.
    let failing = at + usize::from(tokens.get(at).is_some_and(|t| t.has(Tags::EARLIER)));
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    let led = before.is_some_and(|t| {
        t.kind == TokenKind::Number && prose.word(t) != "0"
            || (t.has(tags![DETERMINER, EARLIER])
                && !t.has(Tags::NEGATION)
                && !prose.is(t, words!["any", "every"]))
    });
    let named = (failing + 1..failing + 4).find(|&i| check_at(prose, tokens, i).is_some());
    led && matches!(word(failing), "failing" | "failed" | "broken" | "flaky")
        && named.is_some_and(|end| {
            tokens
                .get(failing + 1..end)
                .unwrap_or_default()
                .iter()
                .all(|t| t.tags.is_empty() || t.kind == TokenKind::Code || t.noun.is_some())
        })
}

/// The total of a run in a runner's own format: "42 passed, 0 failed", "26 examples, 0 failures".
pub(super) fn sum_of_run(prose: &Prose<'_>, clause: &Clause) -> Option<usize> {
    let tokens = prose.tokens(clause.tokens.clone());
    let ran = tokens.array_windows().position(|[number, word]| {
        number.kind == TokenKind::Number
            && prose.word(number) != "0"
            && sets::PASSED.list.contains(&prose.word(word))
    })?;
    let whole = prose.sentence_of(clause);
    let clean = whole.array_windows().any(|[none, word]| {
        let failures = matches!(prose.word(word), "failures" | "failure");
        matches!(prose.word(none), "0" | "no" | "zero") && (failures || fails(prose, word))
    });
    // "10 passed in 1.31s"
    let timed = whole.array_windows().any(|[passed, inside, time]| {
        !passed.quoted
            && prose.is(passed, words!["passed", "passing"])
            && prose.is(inside, words!["in"])
            && prose.word(time).starts_with(|c: char| c.is_ascii_digit())
            && prose.word(time).ends_with('s')
    });
    let clean = clean || timed;
    clean.then_some(ran)
}

/// "Everything's green", "all checks pass": a verdict on all checks.
pub(super) fn passes_everything(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    const NAMED: &Words = words!["everything", "all"];
    // Most clauses are about something specific.
    if !tokens.iter().any(|t| prose.is(t, NAMED)) {
        return None;
    }
    let at = passing_at(prose, tokens)?;
    let verdict = tokens.get(at)?;
    let back = at > 0 && prose.is(tokens.get(at - 1)?, words!["back"]);
    let passes = words!["green", "pass", "passes", "passed", "passing"];
    if !(prose.is(verdict, passes) || (back && prose.is(verdict, words!["clean"]))) {
        return None;
    }
    let plain = tags![BE, HAVE, NOW, ADVERB, COORDINATE];
    let idle = |token: &Token| {
        token.is_mark()
            || token.has(plain)
            || prose.is(token, &sets::AROUND_EVERYTHING)
            || prose.is(token, NAMED)
    };
    let before = tokens.get(..at)?;
    let everything = before.iter().any(|t| prose.is(t, NAMED));
    (everything && before.iter().all(|t| !t.quoted && idle(t))).then_some(at)
}

fn builds(prose: &Prose<'_>, token: &Token) -> bool {
    !token.quoted && matches!(prose.bytes(token), b"builds" | b"compiles" | b"typechecks")
}

/// "The project builds", "it compiles fine": a verb that is a verdict by itself.
pub(super) fn builds_at(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    let at = tokens.iter().position(|t| builds(prose, t))?;
    let closed = tokens.get(at + 1).is_none_or(|t| {
        matches!(t.kind, TokenKind::Symbol('.' | '!' | ',' | ';' | ')' | '—' | '–'))
            || is_tick(t)
            || t.has(tags![SUCCESS, NOW, PASSING, ADVERB])
            || matches!(prose.word(t), "fine" | "again" | "without" | "locally" | "too" | "with")
    });
    let aside = tags![COORDINATE, ADVERB, NOW];
    let mut subject =
        tokens.get(..at)?.iter().filter(|t| !t.is_mark() && (!t.has(aside) || t.has(Tags::THING)));
    let head = subject.next()?;
    let named: Vec<&Token> = subject.collect();
    // "the code" is tagged as a text noun.
    let plain = |t: &&Token| {
        let named = t.tags.is_empty() || t.has(Tags::TEXT_NOUN) || t.kind == TokenKind::Code;
        !t.quoted && named
    };
    let one = match head.has(Tags::THING) && named.is_empty() {
        true => true,
        false => {
            head.has(tags![DETERMINER, USER_OWN])
                && (1..=2).contains(&named.len())
                && named.iter().all(plain)
        }
    };
    (closed && one).then_some(at)
}

/// Whether the words before it make it a wish or a task: "make the tests pass", "to verify tests
/// pass".
pub(super) fn is_wished(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default();
    before.iter().enumerate().any(|(i, t)| {
        // "`make test` passed", "go test is green": part of the runner's name.
        let runner = i + 1 == at
            && matches!(prose.word(t).to_ascii_lowercase().as_str(), "make" | "go" | "mix" | "run");
        // "Running the tests shows no failures"
        let shows = tokens.get(at..).unwrap_or_default().iter().any(|t| t.has(Tags::PERCEIVE))
            && t.has(Tags::GERUND);
        if runner || shows {
            return false;
        }
        // "the complete suite"
        let describes = i > 0
            && before
                .get(i - 1)
                .is_some_and(|d| d.has(Tags::DETERMINER) || d.kind == TokenKind::Number);
        // "type check and tests pass"
        let check =
            [i, i.saturating_sub(1)].iter().any(|at| type_check(prose, before, *at).is_some());
        let task = t.has(Tags::BASE)
            && !check
            && !t.has(tags![PAST, NOUN])
            && t.verb.is_some()
            && !describes;
        // "I made sure the tests pass"
        if i > 0 && before.get(i - 1).is_some_and(|made| prose.is(made, words!["made"])) {
            return false;
        }
        let asks = t.has(Tags::REQUEST) && !t.has(Tags::REPORT);
        task || (asks || t.has(tags![INTEND, PURPOSE, GERUND])) && t.noun.is_none()
    })
}

/// Whether the noun is part of a longer name: "test file", "build artifacts".
pub(super) fn is_part(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|t| {
        t.kind == TokenKind::Word
            && t.tags.is_empty()
            && t.verb.is_none()
            && !prose.is(t, &sets::AFTER_A_CHECK)
    })
}

/// "a test that passes", "a test passes": about tests in general.
pub(super) fn is_generic(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let described = tokens.get(at + 1).is_some_and(|t| t.has(Tags::RELATIVE));
    let before = tokens.get(at.saturating_sub(2)..at).unwrap_or_default();
    let one = before.iter().any(|t| prose.is(t, words!["a", "an", "any"]));
    let single = tokens.get(at).is_some_and(|t| !prose.word(t).ends_with('s'));
    described || (one && single)
}

/// Whether the words say which tests: "the header tests", "its tests", "the other suites".
pub(super) fn says_which(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let of = tokens.get(at + 1).is_some_and(|t| prose.is(t, words!["of"]));
    of || tokens.get(at.saturating_sub(3)..at).unwrap_or_default().iter().any(|t| {
        let word = prose.word(t).to_ascii_lowercase();
        let other = ["other", "others", "remaining", "rest", "its", "new"];
        other.contains(&word.as_str())
            || t.kind == TokenKind::Code
            || (t.kind == TokenKind::Word
                && t.tags.is_empty()
                && t.verb.is_none()
                && !sets::KINDS_OF_TESTS.list.contains(&word.as_str()))
    })
}

/// "the connection test", "the ping test": whether the word before it names a kind of test that
/// runners do not have.
pub(super) fn is_of_other_kind(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let Some(kind) = at.checked_sub(1).and_then(|i| tokens.get(i)) else { return false };
    let plain = tags![DETERMINER, USER_OWN, AGENT_OWN, THING];
    let described = tags![EARLIER, ADVERB, FAILURE, TROUBLE, PASSING];
    kind.kind == TokenKind::Word
        && !kind.has(plain.or(described))
        && ![&sets::KINDS_OF_TESTS, &sets::KINDS_OF_CHECKS].iter().any(|set| prose.is(kind, set))
}

/// Whether the statement is limited by an event: "passed before my last edit".
pub(super) fn ends_before(prose: &Prose<'_>, at: usize) -> bool {
    prose.tokens.get(at + 1).is_some_and(|t| {
        !t.quoted && matches!(prose.word(t), "before" | "until" | "prior" | "till" | "earlier")
    })
}

/// "the test calls pass only 3 arguments", "tests passed to the runner": passing something on.
fn hands_over(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let [verb, rest @ ..] = tokens else { return false };
    let passes = prose.is(verb, words!["pass", "passes", "passed", "passing"]);
    if passes && rest.first().is_some_and(|t| prose.is(t, words!["to", "into"])) {
        return true;
    }
    let only = rest.first().is_some_and(|t| prose.is(t, words!["only", "just", "exactly"]));
    let rest = rest.get(usize::from(only)..).unwrap_or_default();
    // "the test passes 0"
    let ends = |t: Option<&Token>| t.is_none_or(|t| t.is_mark());
    if let [number, rest @ ..] = rest
        && number.kind == TokenKind::Number
        && prose.is(verb, words!["passes"])
        && ends(rest.first())
    {
        return true;
    }
    let [number, thing, ..] = rest else { return false };
    prose.is(verb, words!["pass", "passes"])
        && whole(prose.word(number)).is_some()
        && thing.kind == TokenKind::Word
        && thing.noun != Some(Family::Test)
        && !thing.tags.any(tags![PASSING, FAILURE, PREPOSITION])
        && !prose.is(thing, words!["times", "runs", "skipped"])
}

/// "failing", "failed", "fails", about tests.
pub(super) fn fails(prose: &Prose<'_>, token: &Token) -> bool {
    token.has(Tags::FAILURE)
        && prose.is(token, words!["failing", "failed", "fail", "fails", "broken"])
}

/// "9 of 10", "3/5": not all of them.
pub(super) fn is_fraction(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    // "Of its 5 tests 4 pass"
    let led = tokens.iter().position(|t| prose.is(t, words!["of"])).is_some_and(|of| {
        let after = tokens.get(of + 1..).unwrap_or_default().iter();
        after.filter(|t| t.kind == TokenKind::Number).count() > 1
    });
    // "57 of the 58 tests"
    let numbered = |[a, of, the, b]: &[Token; 4]| {
        let numbers = a.kind == TokenKind::Number && b.kind == TokenKind::Number;
        numbers
            && prose.is(of, words!["of"])
            && the.has(tags![DETERMINER, THING])
            && prose.word(a) != prose.word(b)
    };
    led || tokens.array_windows().any(numbered)
        || tokens.array_windows().any(|[a, of, b]| {
            let numbers = a.kind == TokenKind::Number && b.kind == TokenKind::Number;
            numbers
                && (prose.word(of) == "of" || prose.word(of) == "out")
                && prose.word(a) != prose.word(b)
        })
        || tokens.iter().any(|t| {
            prose.word(t).split_once('/').is_some_and(|(a, b)| {
                let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
                digits(a) && digits(b) && a != b
            })
        })
}

/// "All tests pass except two", "all pass, but two fail", "37 passed, 1 failed": the sentence
/// itself restricts the claim.
pub(super) fn is_qualified(prose: &Prose<'_>, clause: &Clause) -> bool {
    let sentence = prose.sentence_of(clause);
    let own = prose.tokens(clause.tokens.clone());
    let lead = own.iter().position(|t| !t.is_mark());
    let led_by_but = lead.and_then(|at| own.get(at)).is_some_and(|t| prose.is(t, words!["but"]));
    let some_fail = sentence.array_windows().any(|[number, word]| {
        number.kind == TokenKind::Number && prose.word(number) != "0" && fails(prose, word)
    });
    some_fail
        || sentence.iter().any(|t| {
            is_cross(t)
                || prose.is(t, words!["except", "apart", "besides", "excluding", "aside"])
                || prose.is(t, words!["timeout", "timeouts"])
                || !led_by_but && prose.is(t, words!["but"])
        })
}
