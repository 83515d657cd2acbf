use jiff::civil::Time;

use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::{HalfOfDay, Part};

/// A time of day as a phrase says it, before it is known which half of the day is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// On the 24-hour clock, unless a part of the day says otherwise.
    time: Time,
    reading: Reading,
}

/// How far a time of day is fixed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// "9", "9:30", "17:30".
    Plain,
    /// "9am", "noon".
    Fixed,
    Midnight,
}

impl Clock {
    /// A time; `None` where no clock shows it. Hours with a half of the day are 1 to 12.
    pub(crate) fn new(hour: u32, minute: u32, half: Option<HalfOfDay>) -> Option<Self> {
        let (hour, reading) = match half {
            None => (hour, Reading::Plain),
            Some(_) if !(1..=12).contains(&hour) => return None,
            Some(HalfOfDay::Am) => (hour % 12, Reading::Fixed),
            Some(HalfOfDay::Pm) => (hour % 12 + 12, Reading::Fixed),
        };
        let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()?;
        Some(Self { time, reading })
    }

    /// 12:00.
    pub(crate) fn noon() -> Self {
        Self { time: Time::constant(12, 0, 0, 0), reading: Reading::Fixed }
    }

    /// 00:00.
    pub(crate) fn midnight() -> Self {
        Self { time: Time::midnight(), reading: Reading::Midnight }
    }

    /// This with a half of the day that follows it; `None` where it has one or cannot have one.
    pub(crate) fn with_half(self, half: HalfOfDay) -> Option<Self> {
        let (hour, minute) = (self.time.hour(), self.time.minute());
        let plain = self.reading == Reading::Plain;
        let (hour, minute) = (u32::try_from(hour).ok()?, u32::try_from(minute).ok()?);
        plain.then(|| Self::new(hour, minute, Some(half))).flatten()
    }

    /// On the 24-hour clock.
    pub(crate) fn time(self) -> Time {
        self.time
    }

    /// Whether it is the word "midnight".
    pub(crate) fn is_midnight(self) -> bool {
        self.reading == Reading::Midnight
    }

    /// Twelve hours later, where the time may also be read so.
    fn afternoon(self) -> Option<Time> {
        let is_open = self.reading == Reading::Plain && (1..=11).contains(&self.time.hour());
        let hour = self.time.hour().checked_add(12).filter(|_| is_open)?;
        Time::new(hour, self.time.minute(), 0, 0).ok()
    }

    /// The time within a part of the day.
    ///
    /// "9" in the evening is 21:00. An error where no reading of the time is in that part.
    pub(crate) fn within(self, part: Part, written: &str) -> Result<Time, ScheduleError> {
        let conflict = || ScheduleError::Conflict {
            word: written.to_owned(),
            with: self.time.strftime("%H:%M").to_string(),
        };
        if self.is_midnight() {
            let fits = matches!(part, Part::Night | Part::Tonight);
            return fits.then_some(self.time).ok_or_else(conflict);
        }
        let hours = hours(part);
        let readings = [Some(self.time), self.afternoon()];
        let mut readings = readings.into_iter().flatten();
        readings.find(|time| hours.contains(&time.hour())).ok_or_else(conflict)
    }
}

/// The hours that a part of the day has.
fn hours(part: Part) -> std::ops::RangeInclusive<i8> {
    match part {
        Part::Morning => 0..=11,
        Part::Afternoon => 12..=17,
        Part::Evening | Part::Tonight => 17..=23,
        Part::Night => 18..=23,
    }
}

/// The hours between two times, the second possibly on the next day.
///
/// # Errors
/// Where the two are the same, or it is unclear which half of the day is meant.
pub(crate) fn window(from: Clock, to: Clock, written: &str) -> Result<(Time, Time), ScheduleError> {
    if from.time == to.time {
        return Err(ScheduleError::Conflict { word: written.to_owned(), with: show(from.time) });
    }
    let ambiguous = |first: String, second: String| ScheduleError::Ambiguous {
        word: written.to_owned(),
        first: format!("between {first}"),
        second: format!("between {second}"),
    };
    if to.time < from.time {
        // "between 9 and 5": the afternoon, or the next morning?
        let names_24_hours = from.reading == Reading::Plain && from.time.hour() >= 13;
        let later = to.afternoon().filter(|later| *later > from.time && !names_24_hours);
        return match later {
            None => Ok((from.time, to.time)),
            Some(later) => {
                let start = show(from.time);
                let explicit = to.time.strftime("%-I:%M%P");
                let second = format!("{start} and {}", show(later));
                Err(ambiguous(format!("{start} and {explicit}"), second))
            }
        };
    }
    // "between 1 and 5pm": from the night on, or from the afternoon?
    let names_afternoon = to.reading == Reading::Fixed && to.time.hour() > 12;
    match from.afternoon().filter(|later| names_afternoon && *later < to.time) {
        None => Ok((from.time, to.time)),
        Some(later) => {
            let end = show(to.time);
            let explicit = from.time.strftime("%-I:%M%P");
            Err(ambiguous(format!("{explicit} and {end}"), format!("{} and {end}", show(later))))
        }
    }
}

/// "09:00".
pub(crate) fn show(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}
