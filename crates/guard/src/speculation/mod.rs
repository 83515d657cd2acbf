//! Starts read-only calls before they are known to be needed. Nothing here decides about a call: a
//! speculative call has passed every gate and its receipt supports no claim; the call itself passes
//! the gates again and has its own receipt.

mod ahead;
mod engine;
mod pattern;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use ahead::RanAhead;
pub use engine::{SpeculationCounts, SpeculationEngine};

/// `[tools.speculation]`: read-only calls start before they are known to be needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpeculationOptions {
    /// Which calls start early: none (`off`); a call that the model has finished writing, started
    /// while the model is writing the next one (`decoding`); the call that usually follows calls
    /// similar to the latest one (`pattern`); or both kinds (`both`).
    pub mode: SpeculationMode,
    /// The maximum number of concurrent speculative calls per session, up to 4.
    pub max_in_flight: usize,
    /// How long an unused result is valid, in seconds, up to 30.
    pub ttl_secs: u64,
    /// After this many unused results in a row, speculation pauses for a while.
    pub max_wasted: u32,
    /// How long the pause is, in seconds.
    pub pause_secs: u64,
}

impl Default for SpeculationOptions {
    fn default() -> Self {
        Self {
            mode: SpeculationMode::Off,
            max_in_flight: MOST_IN_FLIGHT,
            ttl_secs: LONGEST_TTL_SECS,
            max_wasted: 8,
            pause_secs: 60,
        }
    }
}

const MOST_IN_FLIGHT: usize = 4;
const LONGEST_TTL_SECS: u64 = 30;

/// What is guessed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpeculationMode {
    /// Nothing.
    #[default]
    Off,
    /// The call that the model has written completely, while it writes the next one.
    Decoding,
    /// The call that usually follows calls similar to the latest one.
    Pattern,
    /// Both.
    Both,
}

/// The source of a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// The model wrote it.
    Decoded,
    /// It followed a similar call before.
    Pattern,
}

impl SpeculationMode {
    fn allows(self, guess: Guess) -> bool {
        match self {
            Self::Off => false,
            Self::Decoding => guess == Guess::Decoded,
            Self::Pattern => guess == Guess::Pattern,
            Self::Both => true,
        }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpeculationOptionsError {
    /// The number of concurrent calls is out of range.
    #[error("`max_in_flight` is {0}; it must be between 1 and {MOST_IN_FLIGHT}")]
    InFlight(usize),
    /// The lifetime of an unused result is out of range.
    #[error("`ttl_secs` is {0}; it must be between 1 and {LONGEST_TTL_SECS}")]
    Ttl(u64),
}

impl SpeculationOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn resolve(self) -> Result<SpeculationSettings, SpeculationOptionsError> {
        let Self { mode, max_in_flight, ttl_secs, max_wasted, pause_secs } = self;
        if !(1..=MOST_IN_FLIGHT).contains(&max_in_flight) {
            return Err(SpeculationOptionsError::InFlight(max_in_flight));
        }
        if !(1..=LONGEST_TTL_SECS).contains(&ttl_secs) {
            return Err(SpeculationOptionsError::Ttl(ttl_secs));
        }
        Ok(SpeculationSettings {
            mode,
            max_in_flight,
            ttl: Duration::from_secs(ttl_secs),
            max_wasted: max_wasted.max(1),
            pause: Duration::from_secs(pause_secs),
        })
    }
}

/// Validated settings of speculation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpeculationSettings {
    /// What is guessed.
    pub mode: SpeculationMode,
    /// The maximum number of concurrent speculative calls.
    pub max_in_flight: usize,
    /// How long an unused result is valid.
    pub ttl: Duration,
    /// After this many unused results in a row, speculation pauses for a while.
    pub max_wasted: u32,
    /// How long the pause is.
    pub pause: Duration,
}

impl Default for SpeculationSettings {
    fn default() -> Self {
        Self {
            mode: SpeculationMode::Off,
            max_in_flight: MOST_IN_FLIGHT,
            ttl: Duration::from_secs(LONGEST_TTL_SECS),
            max_wasted: 8,
            pause: Duration::from_secs(60),
        }
    }
}
