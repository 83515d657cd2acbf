use jiff::civil::Weekday;
use serde::{Deserialize, Serialize};

/// A set of weekdays, never empty; stored as numbers, Monday being 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<i8>", into = "Vec<i8>")]
pub(crate) struct Weekdays {
    /// One flag a weekday, Monday the lowest.
    flags: u8,
}

const WEEK: [Weekday; 7] = [
    Weekday::Monday,
    Weekday::Tuesday,
    Weekday::Wednesday,
    Weekday::Thursday,
    Weekday::Friday,
    Weekday::Saturday,
    Weekday::Sunday,
];

impl Weekdays {
    /// One weekday.
    pub(crate) fn one(day: Weekday) -> Self {
        Self { flags: flag(day) }
    }

    /// All seven.
    pub(crate) fn all() -> Self {
        Self { flags: 0b111_1111 }
    }

    /// Monday to Friday.
    pub(crate) fn workdays() -> Self {
        Self { flags: 0b001_1111 }
    }

    /// Saturday and Sunday.
    pub(crate) fn weekend() -> Self {
        Self { flags: 0b110_0000 }
    }

    /// From one weekday to another, over Sunday where need be.
    pub(crate) fn range(first: Weekday, last: Weekday) -> Self {
        let days = first.cycle_forward().take(7);
        let mut flags = flag(last);
        for day in days.take_while(|day| *day != last) {
            flags |= flag(day);
        }
        Self { flags }
    }

    /// The days of both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { flags: self.flags | other.flags }
    }

    /// Whether a day is one of them.
    pub(crate) fn contains(self, day: Weekday) -> bool {
        self.flags & flag(day) != 0
    }

    /// The day, if it is only one.
    pub(crate) fn single(self) -> Option<Weekday> {
        let mut days = self.days();
        days.next().filter(|_| days.next().is_none())
    }

    /// The days from Monday on.
    pub(crate) fn days(self) -> impl Iterator<Item = Weekday> {
        WEEK.into_iter().filter(move |day| self.contains(*day))
    }
}

fn flag(day: Weekday) -> u8 {
    1 << day.to_monday_zero_offset()
}

impl From<Weekdays> for Vec<i8> {
    fn from(days: Weekdays) -> Self {
        days.days().map(Weekday::to_monday_one_offset).collect()
    }
}

impl TryFrom<Vec<i8>> for Weekdays {
    type Error = &'static str;

    fn try_from(numbers: Vec<i8>) -> Result<Self, Self::Error> {
        let mut flags = 0;
        for number in numbers {
            let day = Weekday::from_monday_one_offset(number);
            flags |= flag(day.map_err(|_| "weekdays are numbers from 1 to 7")?);
        }
        if flags == 0 { Err("at least one weekday is needed") } else { Ok(Self { flags }) }
    }
}

/// "Monday".
pub(crate) fn name(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}
