use thiserror::Error;

/// Why a phrase, or a stored schedule, is refused.
///
/// Words are as the phrase has them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There are no words.
    #[error("the phrase is empty; {}", suggestion(examples))]
    Empty {
        /// Phrases that would be understood.
        examples: [&'static str; 3],
    },
    /// More characters than a schedule needs.
    #[error("the phrase has {length} characters, and {most} are allowed")]
    TooLong {
        /// How many there are.
        length: usize,
        /// How many may be.
        most: usize,
    },
    /// A word that is unknown, or known and out of place.
    #[error("`{word}` was not understood; {}", suggestion(examples))]
    NotUnderstood {
        /// The first word that could not be placed.
        word: String,
        /// Phrases that would be understood.
        examples: [&'static str; 3],
    },
    /// The phrase ends too early.
    #[error("something is missing after `{word}`; {}", suggestion(examples))]
    Unfinished {
        /// The last word.
        word: String,
        /// Phrases that would be understood.
        examples: [&'static str; 3],
    },
    /// A day, and no time of day.
    #[error("`{word}` needs a time of day; add one, such as `at 9am` or `at 17:30`")]
    NoTime {
        /// The day.
        word: String,
    },
    /// Weeks, months or years and a time of day, and no day.
    #[error(
        "`{word}` with a time of day needs a day; add one, such as `on friday` or `on the 3rd`"
    )]
    NoDay {
        /// The period.
        word: String,
    },
    /// A weekday by its number, and nothing that it is counted in.
    #[error("`{word}` needs a period; add `of the month`")]
    NoPeriod {
        /// The days.
        word: String,
    },
    /// Hours to fire in, and nothing that says how often.
    #[error("`{word}` needs an interval; add one, such as `every 15 minutes`")]
    NoInterval {
        /// The hours.
        word: String,
    },
    /// A time that no clock shows.
    #[error("`{word}` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm")]
    NoSuchTime {
        /// The time.
        word: String,
    },
    /// A day that no month has, or a weekday that no month has so often.
    #[error("no month has a `{word}`")]
    NoSuchDay {
        /// The day.
        word: String,
    },
    /// A date that no calendar shows.
    #[error("`{date}` is no date")]
    NoSuchDate {
        /// The date.
        date: String,
    },
    /// An interval or a delay of nothing.
    #[error("`{word}` must be at least 1")]
    Zero {
        /// The number.
        word: String,
    },
    /// Finer than a minute.
    #[error("`{word}` is more often than once a minute")]
    TooOften {
        /// The interval.
        word: String,
    },
    /// A delay over 100 years, an interval over 10, or a number that no phrase needs.
    #[error("`{word}` is too far ahead: a delay may be 100 years, an interval 10")]
    TooFar {
        /// The first word of it.
        word: String,
    },
    /// A time that is over.
    #[error("`{word}` is over; say a time to come")]
    Past {
        /// The day or time.
        word: String,
    },
    /// Two readings, and nothing to choose by.
    #[error("`{word}` can mean `{first}` or `{second}`; say which")]
    Ambiguous {
        /// What is unclear.
        word: String,
        /// One way to say it clearly.
        first: String,
        /// The other way to say it clearly.
        second: String,
    },
    /// Several days or times for something that happens once.
    #[error("`{word}` names several times; add `every` if it recurs, or name one")]
    Several {
        /// The days or times.
        word: String,
    },
    /// Two clauses that make no sense together.
    #[error("`{word}` does not go with `{with}`")]
    Conflict {
        /// The clause that is too much.
        word: String,
        /// The clause that it contradicts.
        with: String,
    },
    /// A cron pattern that makes no sense.
    #[error("cron pattern `{pattern}` is refused: {reason}; {}", suggestion(examples))]
    Cron {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
        /// Patterns that would be understood.
        examples: [&'static str; 3],
    },
    /// A recurring schedule that never comes.
    #[error("this never happens: no day to come matches")]
    Never,
    /// The time zone has no name, so that it cannot be stored.
    #[error("the time zone has no name; use one such as `Europe/Berlin`")]
    UnnamedZone,
    /// A stored schedule of another version, or one that no phrase makes.
    #[error("the stored schedule cannot be used: {reason}")]
    Stored {
        /// What is wrong with it.
        reason: String,
    },
}

const ONCE: [&str; 3] = ["in 20 minutes", "tomorrow at 5pm", "on 2026-12-24 at 18:00"];
const DELAY: [&str; 3] = ["in 20 minutes", "in half an hour", "in 1 hour and 30 minutes"];
const RECURRING: [&str; 3] =
    ["every weekday at 9am", "every 15 minutes between 9 and 17", "first monday of the month at 9"];
const CRON: [&str; 3] = ["*/15 9-17 * * 1-5", "0 9 * * mon-fri", "30 8 1 * *"];
const MIXED: [&str; 3] = ["in 20 minutes", "tomorrow at 5pm", "every weekday at 9am"];

/// Phrases near to what the first word of this one promises.
pub(crate) fn examples(phrase: &str) -> [&'static str; 3] {
    let first = phrase.split_whitespace().next().unwrap_or_default().to_lowercase();
    match first.as_str() {
        "in" => DELAY,
        "on" | "at" | "tomorrow" | "today" | "tonight" | "next" | "this" => ONCE,
        "every" | "each" | "daily" | "hourly" | "weekly" | "monthly" | "yearly" | "weekdays" => {
            RECURRING
        }
        _ if first.contains('*') => CRON,
        _ => MIXED,
    }
}

/// Patterns that are understood.
pub(crate) fn cron_examples() -> [&'static str; 3] {
    CRON
}

fn suggestion([first, second, third]: &[&'static str; 3]) -> String {
    format!("try `{first}`, `{second}` or `{third}`")
}
