use std::collections::BTreeSet;

use jiff::civil::Weekday;
use serde::{Deserialize, Serialize};

/// Weekdays, at least one; stored as numbers from 1, Monday, to 7, Sunday.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Weekdays(BTreeSet<i8>);

const NAMES: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Weekdays {
    /// From one day to another, over Sunday where need be.
    fn range(first: i8, last: i8) -> Self {
        let last = if last < first { last + 7 } else { last };
        Self((first..=last).map(|day| (day - 1) % 7 + 1).collect())
    }

    /// All seven.
    pub(crate) fn all() -> Self {
        Self::range(1, 7)
    }

    /// Monday to Friday.
    pub(crate) fn workdays() -> Self {
        Self::range(1, 5)
    }

    /// One weekday.
    pub(crate) fn one(day: Weekday) -> Self {
        Self(BTreeSet::from([day.to_monday_one_offset()]))
    }

    /// The days that words name: "monday", "mondays", "monday to friday", "weekend".
    pub(crate) fn named(words: &str) -> Option<Self> {
        let number = |name: &str| {
            let name = name.trim_end_matches('s');
            let at = NAMES.iter().position(|day| day.eq_ignore_ascii_case(name));
            i8::try_from(at?).ok()?.checked_add(1)
        };
        match words {
            "weekday" | "weekdays" => Some(Self::workdays()),
            "weekend" | "weekends" => Some(Self::range(6, 7)),
            _ => {
                let (first, last) = words.split_once(" to ").unwrap_or((words, words));
                Some(Self::range(number(first)?, number(last)?))
            }
        }
    }

    /// The days of all of them.
    pub(crate) fn together(all: impl Iterator<Item = Self>) -> Self {
        Self(all.flat_map(|days| days.0).collect())
    }

    /// Whether a day is one of them.
    pub(crate) fn contains(&self, day: Weekday) -> bool {
        self.0.contains(&day.to_monday_one_offset())
    }

    /// The day, where it is only one.
    pub(crate) fn single(&self) -> Option<Weekday> {
        let day = self.0.first().filter(|_| self.0.len() == 1)?;
        Weekday::from_monday_one_offset(*day).ok()
    }

    /// Their numbers, which are those of cron.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i8> {
        self.0.iter().copied()
    }

    /// Their names, from Monday on.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let named = NAMES.into_iter().zip(1..).filter(|(_, number)| self.0.contains(number));
        named.map(|(name, _)| name).collect()
    }
}
