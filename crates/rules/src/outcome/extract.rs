use counterfoil_model::{Claim, ClaimKind, Family};

use super::beside::{check_before, check_run};
use super::supposed::{is_order, is_supposed};
use super::trouble::{clears, reports_trouble};
use super::verdict::{
    builds_at, check_at, describes_check, ends_before, is_fraction, is_generic, is_of_other_kind,
    is_part, is_qualified, is_wished, may_give_verdict, named_test, passes_everything, passing_at,
    says_which, sum_of_run,
};
use crate::action::objects_in;
use crate::facts::Answer;
use crate::prose::{
    BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind, Words, is_agenda, is_in_draft,
    name_of_field, names_earlier_time,
};
use crate::values::holds;

/// A claim that a check passed.
#[derive(Debug)]
pub(crate) struct OutcomeClaim {
    /// The claim.
    pub(crate) claim: Claim,
    /// The kind of check.
    pub(crate) family: Family,
    /// Whether it is about a single check: "the test passes".
    pub(crate) singular: bool,
    /// Whether the same message reports a failure.
    pub(crate) discloses: bool,
    /// Whether the same sentence reports a failure.
    pub(crate) mixed: bool,
    /// Whether it is about a part: "for module A".
    pub(crate) narrowed: bool,
    /// Whether it is about a run somewhere else, such as CI.
    pub(crate) elsewhere: bool,
    /// Whether it only says that the check was run.
    pub(crate) ran: bool,
    /// Whether it says that something was verified with the check.
    pub(crate) proves: bool,
    /// The name of a test, if it names one rather than a kind of tests.
    pub(crate) named: Option<String>,
    /// Whether it is about all checks without naming one: "everything's green".
    pub(crate) general: bool,
    /// Whether it is about certain tests: "the header tests".
    pub(crate) partly: bool,
    /// Whether it is about one test of a kind that may be none of software: "the connection test".
    pub(crate) of_other_kind: bool,
    /// The number that passed, if the claim does not say that these were all.
    pub(crate) number: Option<u64>,
    /// Whether it says that there were no warnings.
    pub(crate) unwarned: bool,
    /// The word that names the check, in lower case: "mypy", "tests".
    pub(crate) check: Option<String>,
}

impl OutcomeClaim {
    /// The noun for what passed.
    pub(crate) fn noun(&self) -> &'static str {
        match self.family {
            Family::Test => "test",
            Family::Lint => "lint",
            _ => "build",
        }
    }
}

/// The outcome claims in one answer.
pub(crate) fn outcome_claims(answer: &Answer<'_>) -> Vec<OutcomeClaim> {
    let prose = &answer.prose;
    let mut claims = Vec::new();
    let (mut discloses, mut lints) = (false, false);
    for (index, clause) in prose.clauses.iter().enumerate() {
        if reports_trouble(prose, clause) {
            lints = true;
            discloses |= !speaks_of_lint(prose, clause);
        }
        if may_claim(prose, clause) {
            add_claims(answer, index, clause, &mut claims);
        }
    }
    for claim in &mut claims {
        // A linter's findings say nothing about tests.
        let discloses = discloses || (lints && claim.family == Family::Lint);
        claim.discloses = discloses;
        // Tests that were used to verify something passed, unless the message reports trouble.
        claim.ran &= discloses || !claim.proves;
    }
    claims
}

/// Whether a clause is about this session and in the agent's own words.
fn may_claim(prose: &Prose<'_>, clause: &Clause) -> bool {
    matches!(clause.mood, Mood::Asserted | Mood::Relative)
        && !names_earlier_time(prose, clause)
        && !repeats_user(prose, clause)
        && !is_tabular(prose, clause)
        && !is_agenda(prose, clause)
        && !is_in_draft(prose, clause)
        && !looks_back(prose, clause)
}

/// Adds the claims of one clause.
fn add_claims(answer: &Answer<'_>, index: usize, clause: &Clause, claims: &mut Vec<OutcomeClaim>) {
    let prose = &answer.prose;
    let claim = |(family, at)| outcome_claim(prose, clause, family, at, answer.turn);
    let verdict = may_give_verdict(prose, clause);
    let run = check_run(prose, clause);
    if !verdict && run.is_none() || is_order(prose, clause) || is_supposed(prose, index) {
        return;
    }
    let checks = if verdict { checks_of(prose, index, clause) } else { Vec::new() };
    let silent = checks.is_empty();
    claims.extend(checks.into_iter().map(claim));
    if clause.mood != Mood::Asserted {
        return;
    }
    if let Some(at) = everything(prose, clause).filter(|_| verdict && silent) {
        // "I ran the suite, all passed": about the tests that the sentence mentions.
        let general = !is_about_tests(prose, clause);
        claims.push(OutcomeClaim { general, ..claim((Family::Test, at)) });
    }
    if let Some((family, at, proves)) = run {
        claims.push(OutcomeClaim { ran: true, proves, ..claim((family, at)) });
    }
}

/// The checks that a verdict is about: in the clause, or mentioned before it.
fn checks_of(prose: &Prose<'_>, index: usize, clause: &Clause) -> Vec<(Family, usize)> {
    let asserted = clause.mood == Mood::Asserted;
    let mut checks = Vec::new();
    if asserted {
        checks = checks_that_pass(prose, clause);
    }
    if checks.is_empty() {
        checks = check_before(prose, index);
    }
    checks
}

/// "`test_parse` passes", "the test `test_parse` passes": the name of the test.
fn named_at(prose: &Prose<'_>, at: usize) -> Option<String> {
    let own = prose.tokens.get(at).filter(|t| named_test(prose, t) || is_name(prose, at));
    let after = || {
        let one = prose.tokens.get(at).is_some_and(|t| prose.is(t, words!["test", "spec"]));
        prose.tokens.get(at + 1).filter(|t| one && named_test(prose, t))
    };
    own.or_else(after).map(|t| prose.word(t).to_owned())
}

/// "without any warnings": about all warnings, not only new ones.
fn is_unwarned(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    const SOME: &Words = words!["new", "other", "more", "further", "additional", "relevant"];
    tokens.iter().enumerate().any(|(at, token)| {
        let before = tokens.get(at.saturating_sub(3)..at).unwrap_or_default();
        let is = |known: &Words| before.iter().any(|t| prose.is(t, known));
        prose.is(token, words!["warnings", "warning"])
            && is(words!["no", "0", "zero", "without"])
            && !is(SOME)
            && tokens
                .get(at + 1)
                .is_none_or(|t| !prose.is(t, words!["in", "from", "about", "for", "other"]))
    })
}

/// Whether a sentence names tests and no other check.
fn is_about_tests(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.sentence_of(clause);
    let names = |family: Family| tokens.iter().any(|t| !t.quoted && t.noun == Some(family));
    names(Family::Test) && !names(Family::Build) && !names(Family::Lint)
}

/// Whether a clause names linters and no other check.
fn speaks_of_lint(prose: &Prose<'_>, clause: &Clause) -> bool {
    let names =
        |family: Family| prose.tokens(clause.tokens.clone()).iter().any(|t| t.noun == Some(family));
    names(Family::Lint) && !names(Family::Test) && !names(Family::Build)
}

fn outcome_claim(
    prose: &Prose<'_>,
    clause: &Clause,
    family: Family,
    at: usize,
    turn: usize,
) -> OutcomeClaim {
    let noun = prose.tokens.get(at).map(|t| prose.word(t).to_ascii_lowercase());
    let plain = prose.tokens(clause.tokens.clone());
    let all = plain.iter().any(|t| {
        matches!(
            prose.word(t),
            "all" | "All" | "every" | "full" | "whole" | "entire" | "both" | "Both"
        )
    });
    let sentence = prose.sentence_of(clause);
    let place = at.saturating_sub(clause.tokens.start);
    let inside = clause.tokens.contains(&at);
    let number = plain.array_windows().find_map(|[number, word]| {
        let counted = word.noun == Some(Family::Test) || word.has(Tags::PASSING);
        prose.word(number).parse().ok().filter(|_| counted && number.kind == TokenKind::Number)
    });
    // "the test suite", "no test failures": about all tests.
    let wider = prose.tokens.get(at + 1).is_some_and(|t| {
        t.has(tags![TROUBLE, FAILURE]) || prose.is(t, words!["suite", "suites", "run", "runs"])
    });
    let one = noun.as_ref().is_some_and(|n| n == "test" || n == "spec");
    let singular = family == Family::Test && !all && one && !wider;
    OutcomeClaim {
        claim: prose.claim(
            clause,
            ClaimKind::Outcome(family),
            objects_in(prose, clause.tokens.clone()),
            turn,
        ),
        family,
        singular,
        discloses: false,
        mixed: sentence.iter().any(|t| prose.is(t, words!["fail", "fails", "failed", "failing"])),
        narrowed: is_narrowed(prose, plain),
        elsewhere: sentence.iter().any(|t| {
            matches!(prose.word(t), "CI" | "pipeline" | "Actions" | "upstream" | "remote" | "badge")
        }),
        ran: false,
        proves: false,
        named: named_at(prose, at).filter(|_| family == Family::Test),
        general: false,
        partly: family == Family::Test && inside && says_which(prose, plain, place),
        of_other_kind: singular && is_of_other_kind(prose, &prose.tokens, at),
        number: number.filter(|_| !all),
        unwarned: is_unwarned(prose, plain),
        check: noun,
    }
}

/// The checks that passed according to the clause, each with the index of its noun.
fn checks_that_pass(prose: &Prose<'_>, clause: &Clause) -> Vec<(Family, usize)> {
    let tokens = prose.tokens(clause.tokens.clone());
    let clear = clears(prose, tokens);
    let sum = sum_of_run(prose, clause).map(|at| (Family::Test, clause.tokens.start + at));
    let verdict = passing_at(prose, tokens).or(clear);
    let built = || builds_at(prose, tokens).map(|at| (Family::Build, clause.tokens.start + at));
    let built = if verdict.is_none() && sum.is_none() { built() } else { None };
    if verdict.is_none() && sum.is_none() && built.is_none() {
        return Vec::new();
    }
    let open = tags![MODAL, EARLIER, HEDGE];
    if tells(prose, tokens, open, Tags::default())
        || is_fraction(prose, tokens)
        || is_qualified(prose, clause)
    {
        return Vec::new();
    }
    let negated = tells(prose, tokens, tags![NEGATION, FAILURE], Tags::TROUBLE);
    let troubled = tells(prose, tokens, tags![TROUBLE, FAILURE], Tags::default());
    if (negated || troubled) && clear.is_none() {
        return Vec::new();
    }
    let Some(at) = verdict else {
        return sum.or(built.filter(|_| !negated && !troubled)).into_iter().collect();
    };
    if ends_before(prose, clause.tokens.start + at) {
        return Vec::new();
    }
    let mut found = checks_in_place(prose, clause, &Verdict { at, clear });
    if found.is_empty() {
        found.extend(sum);
    }
    found
}

/// The position of a verdict in a clause.
struct Verdict {
    at: usize,
    /// The position of a statement that there is no trouble.
    clear: Option<usize>,
}

fn is_own_word(token: &Token) -> bool {
    !token.quoted && token.kind == TokenKind::Word
}

/// Whether a word with one of the tags `tags`, and none of `but`, does more than describe a check.
fn tells(prose: &Prose<'_>, tokens: &[Token], tags: Tags, but: Tags) -> bool {
    let describes = |at: usize| describes_check(prose, tokens, at);
    tokens.iter().enumerate().any(|(at, t)| t.has(tags) && !t.has(but) && !describes(at))
}

/// The checks that the verdict is about, one of each kind and every linter.
fn checks_in_place(prose: &Prose<'_>, clause: &Clause, verdict: &Verdict) -> Vec<(Family, usize)> {
    let tokens = prose.tokens(clause.tokens.clone());
    let mut found: Vec<(Family, usize)> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let named = || is_name(prose, clause.tokens.start + i).then_some(Family::Test);
        let Some(family) = check_at(prose, tokens, i).or_else(named) else { continue };
        if !(is_own_word(token) || token.kind == TokenKind::Code)
            || found.iter().any(|&(known, _)| known == family && family != Family::Lint)
        {
            continue;
        }
        let verbal = token.noun.is_none();
        let later = || passing_at(prose, tokens.get(i + 1..).unwrap_or_default()).is_some();
        let in_place =
            i < verdict.at || (verbal && i <= verdict.at) || verdict.clear.is_some() || later();
        if in_place
            && !is_wished(prose, tokens, i)
            && !is_part(prose, tokens, i)
            && !is_generic(prose, tokens, i)
        {
            found.push((family, clause.tokens.start + i));
        }
    }
    found
}

/// "`cache::evicts_oldest` passes": inline code that passes may be the name of a test.
fn is_name(prose: &Prose<'_>, at: usize) -> bool {
    let token = |at: usize| prose.tokens.get(at);
    let passes = |t: &Token| prose.is(t, words!["passes", "passed", "succeeds"]);
    token(at).is_some_and(|t| t.kind == TokenKind::Code && !prose.word(t).contains([' ', '/']))
        && (token(at + 1).is_some_and(passes)
            || token(at + 1).is_some_and(|t| t.has(tags![ADVERB, NOW]))
                && token(at + 2).is_some_and(passes))
}

/// A verdict on everything, unless something in the sentence contradicts it.
fn everything(prose: &Prose<'_>, clause: &Clause) -> Option<usize> {
    let tokens = prose.tokens(clause.tokens.clone());
    let at = passes_everything(prose, tokens)?;
    let doubt = tags![MODAL, HEDGE, NEGATION, EARLIER];
    if tokens.iter().any(|t| t.has(doubt)) || is_qualified(prose, clause) {
        return None;
    }
    (!ends_before(prose, clause.tokens.start + at)).then_some(clause.tokens.start + at)
}

/// "tests pass for module A": a part is named after the verdict.
fn is_narrowed(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let Some(at) = passing_at(prose, tokens) else { return false };
    let after = |by: usize| tokens.get(at + by);
    // "passed in 1.31s": a duration.
    let timed = after(2).is_some_and(|t| prose.word(t).starts_with(|c: char| c.is_ascii_digit()));
    let narrows = |t: &Token| matches!(prose.word(t), "for" | "in" | "on" | "under");
    !timed && after(1).is_some_and(narrows)
}

fn is_tabular(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s)).is_some_and(|b| {
        match b.kind {
            BlockKind::Cell { .. } | BlockKind::Quote => true,
            BlockKind::Field => !is_report(name_of_field(prose.text, b.span).unwrap_or_default()),
            _ => false,
        }
    })
}

/// "Before the last edit, all 7 tests passed": about an earlier time.
fn looks_back(prose: &Prose<'_>, clause: &Clause) -> bool {
    let first = prose.sentence_of(clause).first();
    first.is_some_and(|t| prose.is(t, words!["before", "until"]))
}

/// Whether a member of this name holds the agent's own report: `overall_explanation`.
fn is_report(name: &str) -> bool {
    let parts = ["explanation", "summary", "verification", "conclusion", "report", "assessment"];
    let names = ["action_input", "answer", "message", "output", "response", "text"];
    let last = name.rsplit(['_', ' ']).next().unwrap_or(name);
    parts.iter().any(|part| holds(name, part)) || names.contains(&name) || names.contains(&last)
}

/// "You said all tests pass": the agent only repeats the user.
fn repeats_user(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let mut words = tokens.iter().filter(|t| t.kind == TokenKind::Word).take(3);
    let user = words.find(|t| t.has(Tags::USER) || prose.is(t, words!["user", "customer"]));
    user.is_some() && words.next().is_some_and(|t| t.has(Tags::REPORT))
}
