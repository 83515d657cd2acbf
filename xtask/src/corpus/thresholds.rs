use anyhow::{Context, Result};
use serde::Deserialize;

use super::share::Share;
use super::tally::{Counts, Tally};

const TABLE: &str = include_str!("../../corpus/thresholds.toml");

/// The minimum number of cases in the held-out third for a threshold to apply to it.
const LARGE_ENOUGH: usize = 50;

/// A threshold for a set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Threshold {
    set: String,
    /// Absent for measures of the whole set.
    class: Option<String>,
    measure: Measure,
    #[serde(flatten)]
    limit: Limit,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Measure {
    /// Rows with a finding in the labelled message.
    Found,
    /// Rows with such a finding by a rule that should find the class.
    FoundAsExpected,
    /// Rows with an error in the labelled message.
    Blocked,
    /// Labelled lies of any class with a finding by a rule that should find them.
    LiesFoundAsExpected,
    /// Labelled lies of any class with an error.
    LiesBlocked,
    /// Honest labelled rows of any class with a finding.
    HonestFound,
    /// Honest labelled rows of any class with an error.
    HonestBlocked,
    /// Assistant messages with an error.
    BlockedMessages,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Limit {
    Least(f64),
    LeastRows(usize),
    Most(f64),
    MostRows(usize),
}

/// The result of comparing a measurement with a threshold.
pub(crate) struct Outcome {
    /// The threshold, and the part of the set.
    pub(crate) name: String,
    pub(crate) share: Share,
    pub(crate) limit: String,
    pub(crate) kept: bool,
}

/// Compares a set with its thresholds: the whole, and the held-out third if it is large enough.
pub(crate) fn hold(set: &str, tally: &Tally) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for threshold in table()?.iter().filter(|threshold| threshold.set == set) {
        let whole = threshold.share(&tally.whole);
        outcomes.push(threshold.outcome("whole", whole));
        let untouched = threshold.share(&tally.untouched);
        if untouched.whole >= LARGE_ENOUGH {
            outcomes.push(threshold.outcome("untouched third", untouched));
        }
    }
    Ok(outcomes)
}

fn table() -> Result<Vec<Threshold>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        threshold: Vec<Threshold>,
    }
    let table: Table = toml::from_str(TABLE).context("reading xtask/corpus/thresholds.toml")?;
    Ok(table.threshold)
}

impl Threshold {
    fn share(&self, counts: &Counts) -> Share {
        let class = self.class.as_ref().and_then(|class| counts.classes.get(class));
        match self.measure {
            Measure::LiesFoundAsExpected => counts.lies.as_expected,
            Measure::LiesBlocked => counts.lies.blocked,
            Measure::HonestFound => counts.any.false_alarms,
            Measure::HonestBlocked => counts.any.false_blocks,
            Measure::BlockedMessages => counts.blocked_messages,
            Measure::Found => class.map(|class| class.found).unwrap_or_default(),
            Measure::FoundAsExpected => class.map(|class| class.as_expected).unwrap_or_default(),
            Measure::Blocked => class.map(|class| class.blocked).unwrap_or_default(),
        }
    }

    fn outcome(&self, part: &str, share: Share) -> Outcome {
        let Self { set, class, measure, limit } = self;
        let measure = match measure {
            Measure::Found => "rows found",
            Measure::FoundAsExpected => "rows found by the expected rule",
            Measure::Blocked => "rows blocked",
            Measure::LiesFoundAsExpected => "lies found by the expected rule",
            Measure::LiesBlocked => "lies blocked",
            Measure::HonestFound => "honest rows found",
            Measure::HonestBlocked => "honest rows blocked",
            Measure::BlockedMessages => "messages blocked",
        };
        let what = class.as_ref().map_or(String::new(), |class| format!(" {class}"));
        // An empty share fails: the class was renamed, or this is another set.
        let (kept, limit) = match (limit, share.value()) {
            (Limit::Least(least), value) => {
                (value.is_some_and(|v| v >= *least), format!("at least {:.1}%", least * 100.0))
            }
            (Limit::LeastRows(least), _) => {
                (share.part >= *least, format!("at least {least} rows"))
            }
            (Limit::Most(most), value) => {
                (value.is_some_and(|v| v <= *most), format!("at most {:.1}%", most * 100.0))
            }
            (Limit::MostRows(most), value) => {
                (value.is_some() && share.part <= *most, format!("at most {most} rows"))
            }
        };
        Outcome { name: format!("{set}{what}, {measure} ({part})"), share, limit, kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::sets::{ADVERSARIAL, MINI, SETS};

    #[test]
    fn limits_hold() {
        let cases = [
            (Limit::Least(0.9), (9, 10), true),
            (Limit::Least(0.9), (8, 10), false),
            (Limit::Least(0.0), (0, 0), false),
            (Limit::LeastRows(3), (3, 4), true),
            (Limit::LeastRows(3), (2, 4), false),
            (Limit::Most(0.1), (1, 10), true),
            (Limit::Most(0.1), (2, 10), false),
            (Limit::Most(0.1), (0, 0), false),
            (Limit::MostRows(2), (2, 4), true),
            (Limit::MostRows(2), (3, 1000), false),
        ];
        for (limit, (part, whole), kept) in cases {
            let threshold = Threshold {
                set: "s".to_owned(),
                class: Some("c".to_owned()),
                measure: Measure::Found,
                limit,
            };
            let outcome = threshold.outcome("whole", Share { part, whole });
            assert_eq!(outcome.kept, kept, "{limit:?} {part}/{whole}");
        }
    }

    #[test]
    fn the_table_names_known_sets() {
        for threshold in table().unwrap() {
            let sets = SETS.iter().map(|set| set.name).chain([MINI, ADVERSARIAL]);
            assert!(sets.into_iter().any(|set| set == threshold.set), "{}", threshold.set);
        }
    }
}
