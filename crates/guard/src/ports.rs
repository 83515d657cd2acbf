//! What the guard needs from outside, so that tests and hosts can bring their own.
#![expect(clippy::disallowed_methods, reason = "the system's clock stands behind a port here")]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::gate::Question;

/// A future on the heap, for traits that are used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What time it is.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since the Unix epoch. May jump, also back.
    fn wall(&self) -> i64;
    /// Time since some fixed moment of this process. Never goes back.
    fn monotonic(&self) -> Duration;
}

/// Bytes nobody can guess.
pub trait Randomness: Send + Sync + fmt::Debug {
    /// Fills the whole slice.
    ///
    /// # Errors
    /// When the source gives nothing; then no id and no key can be made.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError>;
}

/// The source of randomness gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no randomness: {0}")]
pub struct RandomnessError(pub String);

/// Asks a person.
pub trait Approver: Send + Sync {
    /// `None`: nobody agreed, or nobody was there.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Option<Approval>>;
}

/// Somebody agreed to exactly what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Who agreed, as the receipt will say.
    pub by: String,
}

/// Asks a model whether a call keeps to policies in plain language.
pub trait Judge: Send + Sync {
    /// The model's whole answer. Whoever asks decides what it means.
    fn answer<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Result<String, JudgeError>>;
}

/// The judge could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the judge did not answer: {0}")]
pub struct JudgeError(pub String);

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
