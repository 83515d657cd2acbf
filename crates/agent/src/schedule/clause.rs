use jiff::civil::Weekday;
use serde::{Deserialize, Serialize};

use crate::schedule::lexicon::{Part, Unit};
use crate::schedule::time_of_day::Clock;
use crate::schedule::weekdays::Weekdays;

/// What a clause says, and the words that say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said<T> {
    pub(crate) value: T,
    pub(crate) words: String,
}

/// The clauses of a phrase, each at most once and in any order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Clauses {
    /// "in 1 hour and 30 minutes"; no unit twice.
    pub(crate) delay: Option<Said<Vec<Amount>>>,
    /// "every 2 weeks".
    pub(crate) repeat: Option<Said<Amount>>,
    /// "on friday".
    pub(crate) day: Option<Said<Day>>,
    /// "at 9 and 17"; never empty.
    pub(crate) times: Option<Said<Vec<Clock>>>,
    /// "between 9 and 17".
    pub(crate) window: Option<Said<(Clock, Clock)>>,
    /// "in the morning".
    pub(crate) part: Option<Said<Part>>,
}

/// So many of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) count: u32,
    pub(crate) unit: Unit,
}

/// Whether a day is said of once or of each time that it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recurrence {
    /// "on friday": once, unless another clause repeats it.
    Open,
    /// "last friday": only with a period, such as "of the month" or "every 2 months".
    NeedsPeriod,
    /// "on fridays", "every friday", "of the month".
    Each,
}

/// A day or several, as a phrase names them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Day {
    /// Days after today.
    After(u8),
    Weekdays(Weekdays, Recurrence),
    /// "next monday".
    Next(Weekday),
    /// "this friday".
    This(Weekday),
    /// A day that some year has.
    Date {
        year: Option<i16>,
        month: i8,
        day: i8,
    },
    /// Days of a month by number, never empty.
    OfMonth(Vec<Position>, Recurrence),
    /// "first and third monday": positions 1 to 5 of any of the weekdays, never empty.
    Nth(Vec<Position>, Weekdays, Recurrence),
}

/// A place in a month, from its first day or its end; stored as a number, the last being -1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i8", into = "i8")]
pub(crate) enum Position {
    /// 1 to 31.
    Nth(i8),
    Last,
}

impl From<Position> for i8 {
    fn from(position: Position) -> Self {
        match position {
            Position::Nth(number) => number,
            Position::Last => -1,
        }
    }
}

impl TryFrom<i8> for Position {
    type Error = &'static str;

    fn try_from(number: i8) -> Result<Self, Self::Error> {
        match number {
            -1 => Ok(Self::Last),
            1..=31 => Ok(Self::Nth(number)),
            _ => Err("a day of a month is a number from 1 to 31, or -1"),
        }
    }
}
