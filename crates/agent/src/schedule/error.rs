use thiserror::Error;

/// Phrases that are understood.
const PHRASES: &str = "try `in 20 minutes`, `tomorrow at 5pm`, `every weekday at 9am`, `every 15 \
                       minutes between 9 and 17` or `first monday of the month at 9`";
/// Patterns that are understood.
const PATTERNS: &str = "try `*/15 9-17 * * 1-5`, `0 9 * * mon-fri` or `30 8 1 * *`";

/// Why a phrase is refused. The first text of a refusal has words of the phrase.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There are no words.
    #[error("the phrase is empty; {PHRASES}")]
    Empty,
    /// More characters than a schedule needs: how many there are, and how many may be.
    #[error("the phrase has {0} characters; the maximum is {1}")]
    TooLong(usize, usize),
    /// A word that is unknown, or words that are known and say nothing together.
    #[error("`{0}` was not understood; {PHRASES}")]
    NotUnderstood(String),
    /// Something is missing, such as a time of day, or a word that decides between two meanings.
    /// The second text says what, with an example.
    #[error("`{0}` needs {1}")]
    Incomplete(String, &'static str),
    /// A time or a day that no clock and no calendar shows: what it is, and what it may be.
    #[error("`{0}` is {1}")]
    Impossible(String, &'static str),
    /// More often than once a minute.
    #[error("`{0}` is too frequent; the shortest interval is one minute")]
    TooOften(String),
    /// A delay over 100 years, or an interval over 10.
    #[error("`{0}` is too far ahead; a delay may be at most 100 years, an interval at most 10")]
    TooFar(String),
    /// The time is over.
    #[error("`{0}` is not in the future; give a later time")]
    Past(String),
    /// Two parts of the phrase exclude each other.
    #[error("`{0}` cannot be combined with `{1}`")]
    Conflict(String, String),
    /// A cron pattern that is not one, or has a field out of bounds: the pattern, and what is wrong
    /// with it.
    #[error("invalid cron pattern `{0}`: {1}; {PATTERNS}")]
    Cron(String, String),
    /// A recurring schedule that never comes.
    #[error("this never happens: no future day matches")]
    Never,
    /// The time zone has no name, so the schedule cannot be stored.
    #[error("the time zone must have a name, such as `Europe/Berlin`")]
    UnnamedZone,
}
