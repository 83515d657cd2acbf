use thiserror::Error;

/// Phrases that are understood.
const PHRASES: &str = "try `in 20 minutes`, `tomorrow at 5pm`, `every weekday at 9am`, `every 15 \
                       minutes between 9 and 17` or `first monday of the month at 9`";
/// Patterns that are understood.
const PATTERNS: &str = "try `*/15 9-17 * * 1-5`, `0 9 * * mon-fri` or `30 8 1 * *`";

/// Why a phrase, or a stored schedule, is refused.
///
/// `words` are those of the phrase.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There are no words.
    #[error("the phrase is empty; {PHRASES}")]
    Empty,
    /// More characters than a schedule needs.
    #[error("the phrase has {length} characters, and {most} are allowed")]
    TooLong {
        /// How many there are.
        length: usize,
        /// How many may be.
        most: usize,
    },
    /// A word that is unknown, or words that are known and say nothing together.
    #[error("`{words}` was not understood; {PHRASES}")]
    NotUnderstood {
        /// The first words that have no meaning.
        words: String,
    },
    /// Something is missing, such as a time of day, or a word that decides between two meanings.
    #[error("`{words}` needs {needs}")]
    Incomplete {
        /// What needs it.
        words: String,
        /// What is missing, with an example.
        needs: &'static str,
    },
    /// A time or a day that no clock and no calendar shows.
    #[error("`{words}` is {what}")]
    Impossible {
        /// The time or day.
        words: String,
        /// What it is, and what it may be.
        what: &'static str,
    },
    /// More often than once a minute.
    #[error("`{words}` is more often than once a minute")]
    TooOften {
        /// The interval.
        words: String,
    },
    /// A delay over 100 years, or an interval over 10.
    #[error("`{words}` is too far ahead: a delay may be 100 years, an interval 10")]
    TooFar {
        /// The delay or interval.
        words: String,
    },
    /// The time is over.
    #[error("`{words}` is over; say a time to come")]
    Past {
        /// The day or time.
        words: String,
    },
    /// Two parts of the phrase exclude each other.
    #[error("`{words}` does not go with `{with}`")]
    Conflict {
        /// One of them.
        words: String,
        /// The other.
        with: String,
    },
    /// A cron pattern that is not one, or has a field out of bounds.
    #[error("cron pattern `{pattern}` is refused: {reason}; {PATTERNS}")]
    Cron {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A recurring schedule that never comes.
    #[error("this never happens: no day to come matches")]
    Never,
    /// The time zone has no name, so the schedule cannot be stored.
    #[error("the time zone has no name; use one such as `Europe/Berlin`")]
    UnnamedZone,
    /// A stored schedule of another version, or one that no phrase makes.
    #[error("the stored schedule cannot be used: {0}")]
    Stored(&'static str),
}
