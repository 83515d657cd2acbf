//! Compares a number of tests with the counts in the results before a message.

use counterfoil_model::{Evidence, Family};
use counterfoil_shell::{ActivityKind, RunSummary, summary};

use super::counts::Count;
use super::ended::Ended;
use crate::facts::{Answer, Deed, Execution, Facts, Run};
use crate::values::{Source, Tally};

/// The maximum number of bytes of results before a message that are counted through.
pub(super) const REACH: usize = 32 * 1024;
/// The maximum number of results with counts that are compared.
const MOST: usize = 6;

/// The outcome of comparing a number with the results.
pub(super) enum Counted {
    /// One result, or several together, have the number.
    Same(Evidence),
    /// The results may count other things, or none of them counts.
    Unknown,
    /// The results have other numbers: the evidence and numbers of the latest one, and the minimum
    /// of the results' largest numbers.
    Other { evidence: Evidence, numbers: Vec<u64>, least: u64 },
}

/// Compares a number with the results, latest first.
pub(super) fn counted(facts: &Facts<'_>, answer: &Answer<'_>, count: &Count<'_>) -> Counted {
    let mut held = Held {
        facts,
        number: count.number,
        ended: Ended::from_word(answer.prose.word(count.last)),
        sums: Sums::default(),
        latest: None,
        least: u64::MAX,
        passed: Vec::new(),
        speaking: 0,
    };
    for given in facts.given().near(answer.turn, REACH) {
        let Source::Result(at) = given.source else { continue };
        let Some((execution, deed)) = facts.deed(at) else { continue };
        if !is_report(deed) {
            continue;
        }
        if let Some(counted) = held.against(execution, deed) {
            return counted;
        }
        if held.speaking == MOST {
            break;
        }
    }
    let Held { latest, least, passed, .. } = held;
    match latest.filter(|_| !is_of_two_runs(count.number, &passed)) {
        Some((evidence, numbers)) => Counted::Other { evidence, numbers, least },
        None => Counted::Unknown,
    }
}

/// Whether the number is the sum or the difference of the passed tests of two runs: "30 unit and 12
/// integration tests", "6 more with the feature".
fn is_of_two_runs(number: u64, passed: &[u64]) -> bool {
    passed.iter().enumerate().any(|(at, one)| {
        let earlier = passed.iter().skip(at + 1);
        earlier
            .filter(|other| *other != one)
            .any(|other| one.saturating_add(*other) == number || one.abs_diff(*other) == number)
    })
}

/// The state of comparing a number with one result after another.
struct Held<'f, 't> {
    facts: &'f Facts<'t>,
    number: u64,
    /// How the counted tests ended, according to the claim.
    ended: Option<Ended>,
    sums: Sums,
    /// The latest result with counts, and its numbers.
    latest: Option<(Evidence, Vec<u64>)>,
    least: u64,
    /// The passed tests of each run.
    passed: Vec<u64>,
    /// The number of results with counts so far.
    speaking: usize,
}

impl<'t> Held<'_, 't> {
    /// Compares the number with one result. Returns the outcome if it is decided.
    fn against(&mut self, execution: &Execution<'t>, deed: &Deed<'_>) -> Option<Counted> {
        let (text, number) = (execution.text(), self.number);
        let same = |facts: &Facts<'t>| Some(Counted::Same(facts.evidence(execution)));
        let ran = summary(text, ActivityKind::Test);
        self.passed.extend(ran.passed);
        let agrees = self.ended.and_then(|ended| ended.agrees(number, &ran, text));
        if agrees.unwrap_or(has_part(&ran, number)) {
            return same(self.facts);
        }
        let tally = Tally::parse(text);
        self.sums.add(&tally, &ran, deed);
        let mut shown = tally.printed.iter().chain(&tally.counted).chain(&tally.certain);
        let shows = agrees.is_none() && shown.any(|n| *n == number);
        if shows || self.sums.counts(self.ended.filter(|_| agrees.is_some())).contains(&number) {
            return same(self.facts);
        }
        // "Running 14 tests, 1 flaky, 13 passed": a test that passed when it was repeated.
        let others = [ran.failed, ran.errors, ran.skipped].into_iter().flatten().sum::<u64>();
        if self.ended == Some(Ended::Well) && others == 0 && tally.printed.contains(&number) {
            return Some(Counted::Unknown);
        }
        if tally.is_silent() {
            if agrees == Some(false) {
                let counted = [ran.passed, ran.failed, ran.errors].into_iter().flatten();
                self.note(execution, counted.collect());
            }
            return None;
        }
        let numbers: Vec<u64> = tally.printed.iter().copied().chain(tally.certain).collect();
        self.least = self.least.min(numbers.iter().copied().max().unwrap_or(0));
        self.note(execution, numbers);
        self.speaking += 1;
        None
    }

    fn note(&mut self, execution: &Execution<'t>, numbers: Vec<u64>) {
        let facts = self.facts;
        self.latest.get_or_insert_with(|| (facts.evidence(execution), numbers));
    }
}

/// Whether the number is one of a run's counts, or their total.
fn has_part(ran: &RunSummary, number: u64) -> bool {
    let parts = [ran.passed, ran.failed, ran.errors, ran.skipped];
    let total = parts.iter().flatten().fold(0_u64, |sum, n| sum.saturating_add(*n));
    parts.contains(&Some(number)) || total == number
}

/// The sums over several results.
#[derive(Default)]
struct Sums {
    /// The sum of each result's own count.
    own: u64,
    /// The sum of the tests that ended.
    run: u64,
    /// The sums of the passed and of the failed tests in partial runs.
    ended: [u64; 2],
    /// Whether a run of all tests was among them. Partial runs add up; a full run stands alone.
    whole: bool,
}

impl Sums {
    /// Adds a result. `deed` is the execution that produced it.
    fn add(&mut self, tally: &Tally, ran: &RunSummary, deed: &Deed<'_>) {
        let own = tally.certain.or(tally.printed.iter().copied().max()).unwrap_or(0);
        self.own = self.own.saturating_add(own);
        let ended = [ran.passed, ran.failed, ran.errors].into_iter().flatten();
        self.run = ended.fold(self.run, u64::saturating_add);
        let of_all = |run: &Run<'_>| run.whole && run.family == Family::Test;
        self.whole |= deed.shell.as_ref().is_some_and(|work| work.runs.iter().any(of_all));
        for (sum, part) in self.ended.iter_mut().zip([ran.passed, ran.failed]) {
            *sum = sum.saturating_add(part.filter(|_| !self.whole).unwrap_or(0));
        }
    }

    /// The sums for tests that ended in this way, or for all tests.
    fn counts(&self, ended: Option<Ended>) -> [u64; 3] {
        let [passed, failed] = self.ended;
        match ended {
            Some(Ended::Well) => [passed; 3],
            Some(Ended::Badly) => [failed; 3],
            None => [self.own, self.run, passed],
        }
    }
}

/// Whether a result is a report, rather than the content of a file.
fn is_report(deed: &Deed<'_>) -> bool {
    let content = families![Read, Update, Create];
    deed.shell.is_some()
        || deed.delegates
        || deed.families.has(Family::Search)
        || !deed.families.meets(content)
}
