//! What the results before a message counted of a kind.

use counterfoil_model::{Evidence, Family};
use counterfoil_shell::{ActivityKind, RunSummary, summary};

use super::counts::Count;
use super::ended::Ended;
use super::{REACH, is_report};
use crate::facts::{Answer, Deed, Execution, Facts, Run};
use crate::values::{Source, Tally};

/// So many results that count the kind are looked at.
const MOST: usize = 6;

/// What they counted, held against a number.
pub(super) enum Counted {
    /// One of them has the number, or several together.
    Same(Evidence),
    /// Whether they speak of the same things is not known, or none of them counts.
    Unknown,
    /// Others: the latest that counts, its numbers, and the least of the largest.
    Other { evidence: Evidence, numbers: Vec<u64>, least: u64 },
}

/// Holds a number against the results, the latest first.
pub(super) fn counted(facts: &Facts<'_>, answer: &Answer<'_>, count: &Count<'_>) -> Counted {
    let mut held = Held {
        facts,
        number: count.number,
        ended: Ended::of(answer.prose.word(count.last)),
        sums: Sums::default(),
        latest: None,
        least: u64::MAX,
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
    let least = held.least;
    held.latest.map_or(Counted::Unknown, |(evidence, numbers)| Counted::Other {
        evidence,
        numbers,
        least,
    })
}

/// A number that is held against one result after the other.
struct Held<'f, 't> {
    facts: &'f Facts<'t>,
    number: u64,
    /// How the tests that it counts are said to have ended.
    ended: Option<Ended>,
    sums: Sums,
    /// The latest result that counts the kind, with its numbers.
    latest: Option<(Evidence, Vec<u64>)>,
    least: u64,
    /// How many results count the kind.
    speaking: usize,
}

impl<'t> Held<'_, 't> {
    /// What one result says, where that settles it.
    fn against(&mut self, execution: &Execution<'t>, deed: &Deed<'_>) -> Option<Counted> {
        let (text, number) = (execution.text(), self.number);
        let same = |facts: &Facts<'t>| Some(Counted::Same(facts.evidence(execution)));
        let ran = summary(text, ActivityKind::Test);
        let agrees = self.ended.and_then(|ended| ended.agrees(number, &ran, text));
        if agrees.unwrap_or(has_part(&ran, number)) {
            return same(self.facts);
        }
        let tally = Tally::of(text);
        self.sums.add(&tally, &ran, deed);
        let mut shown = tally.printed.iter().chain(&tally.counted).chain(&tally.certain);
        let shows = agrees.is_none() && shown.any(|n| *n == number);
        if shows || self.sums.of(self.ended.filter(|_| agrees.is_some())).contains(&number) {
            return same(self.facts);
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

/// Whether a run has the number as one of its parts, or as all of them together.
fn has_part(ran: &RunSummary, number: u64) -> bool {
    let parts = [ran.passed, ran.failed, ran.errors, ran.skipped];
    let total = parts.iter().flatten().fold(0_u64, |sum, n| sum.saturating_add(*n));
    parts.contains(&Some(number)) || total == number
}

/// What several results make up together.
#[derive(Default)]
struct Sums {
    /// Of what each counts.
    own: u64,
    /// Of tests that ended.
    run: u64,
    /// Of tests that passed, and that failed, in runs of parts.
    ended: [u64; 2],
    /// A run of everything was among them: runs of parts add up, one of everything stands alone.
    whole: bool,
}

impl Sums {
    /// `deed` is what was run.
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

    /// Those of tests that ended so, or all.
    fn of(&self, ended: Option<Ended>) -> [u64; 3] {
        let [passed, failed] = self.ended;
        match ended {
            Some(Ended::Well) => [passed; 3],
            Some(Ended::Badly) => [failed; 3],
            None => [self.own, self.run, passed],
        }
    }
}
