//! What the ledger needs from its environment, as traits, so that tests and hosts can supply their
//! own.
#![expect(clippy::disallowed_methods, reason = "this port wraps the system's clock")]

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The current time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since the Unix epoch. May jump, even backwards.
    fn wall(&self) -> i64;
    /// The time since a fixed moment in this process. Never goes backwards.
    fn monotonic(&self) -> Duration;
}

/// A source of unpredictable bytes.
pub trait Randomness: Send + Sync + fmt::Debug {
    /// Fills the whole slice.
    ///
    /// # Errors
    /// When the source fails; then no id and no key can be generated.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError>;
}

/// The source of randomness failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no random bytes available: {0}")]
pub struct RandomnessError(pub String);

/// The clock of this machine.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn wall(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}

/// The randomness of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        getrandom::fill(bytes).map_err(|error| RandomnessError(error.to_string()))
    }
}
