//! Decides whether and when a failed call is retried.

use std::time::Duration;

use counterfoil_ledger::Randomness;
use counterfoil_tools::{ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[tools.retry]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryOptions {
    /// The maximum number of attempts, including the first. 0 and 1 disable retries.
    pub max_attempts: u32,
    /// The maximum pause before the second attempt, in milliseconds. It doubles with each attempt.
    pub base_ms: u64,
    /// The maximum pause before any attempt, in milliseconds.
    pub max_ms: u64,
    /// The number of seconds after the start of the call within which another attempt may begin.
    pub budget_secs: u64,
    /// The provider, by its name in `[[llm.providers]]`, that is asked once to rewrite arguments
    /// that do not fit their tool, without adding values. If empty, no provider is asked and the
    /// call goes back to the model.
    pub parameter_reformat_provider: String,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            max_attempts: 2,
            base_ms: 500,
            max_ms: 5_000,
            budget_secs: 30,
            parameter_reformat_provider: String::new(),
        }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetryOptionsError {
    /// The number of attempts is too large.
    #[error("`max_attempts` is {given}; the maximum is {most}")]
    TooManyAttempts {
        /// The given number.
        given: u32,
        /// The maximum.
        most: u32,
    },
    /// The first pause is longer than the maximum.
    #[error("`base_ms` ({base_ms}) is greater than `max_ms` ({max_ms})")]
    BaseAboveMax {
        /// The first pause.
        base_ms: u64,
        /// The maximum.
        max_ms: u64,
    },
    /// A duration is longer than a day.
    #[error("`{key}` is longer than a day")]
    TooLong {
        /// The key.
        key: &'static str,
    },
}

const MOST_ATTEMPTS: u32 = 20;
const DAY_SECS: u64 = 24 * 60 * 60;

impl RetryOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// When values are out of range or contradict each other.
    pub fn resolve(self) -> Result<RetrySettings, RetryOptionsError> {
        let Self { max_attempts, base_ms, max_ms, budget_secs, parameter_reformat_provider } = self;
        if max_attempts > MOST_ATTEMPTS {
            let (given, most) = (max_attempts, MOST_ATTEMPTS);
            return Err(RetryOptionsError::TooManyAttempts { given, most });
        }
        if base_ms > max_ms {
            return Err(RetryOptionsError::BaseAboveMax { base_ms, max_ms });
        }
        if max_ms > DAY_SECS * 1_000 {
            return Err(RetryOptionsError::TooLong { key: "max_ms" });
        }
        if budget_secs > DAY_SECS {
            return Err(RetryOptionsError::TooLong { key: "budget_secs" });
        }
        Ok(RetrySettings {
            max_attempts: max_attempts.max(1),
            base: Duration::from_millis(base_ms),
            max: Duration::from_millis(max_ms),
            budget: Duration::from_secs(budget_secs),
            parameter_reformat_provider: Some(parameter_reformat_provider)
                .filter(|provider| !provider.is_empty()),
        })
    }
}

/// Validated settings: when a failed call is retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySettings {
    /// The maximum number of attempts, including the first; at least 1.
    pub max_attempts: u32,
    /// The maximum pause before the second attempt.
    pub base: Duration,
    /// The maximum pause before any attempt.
    pub max: Duration,
    /// How long after the start of the call another attempt may begin.
    pub budget: Duration,
    /// The provider that rewrites arguments.
    pub parameter_reformat_provider: Option<String>,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self {
            max_attempts: 2,
            base: Duration::from_millis(500),
            max: Duration::from_secs(5),
            budget: Duration::from_secs(30),
            parameter_reformat_provider: None,
        }
    }
}

impl RetrySettings {
    /// Returns the pause before the next attempt, after `attempts` attempts and `elapsed` since the
    /// first one began; `None` if there should be no further attempt. Without randomness there is
    /// none, because callers that all wait for the same time would retry at once.
    pub fn next_delay(
        &self,
        attempts: u32,
        elapsed: Duration,
        randomness: &dyn Randomness,
    ) -> Option<Duration> {
        let longest = self.longest_delay(attempts, elapsed)?;
        let mut bytes = [0; 8];
        randomness.fill(&mut bytes).ok()?;
        Some(share(longest, u64::from_le_bytes(bytes)))
    }

    /// Returns the maximum pause before the next attempt; `None` if there should be none.
    ///
    /// It doubles from `base` with every attempt, up to `max`, and always ends within the budget.
    #[must_use]
    pub fn longest_delay(&self, attempts: u32, elapsed: Duration) -> Option<Duration> {
        if attempts >= self.max_attempts {
            return None;
        }
        let left = self.budget.checked_sub(elapsed).filter(|left| !left.is_zero())?;
        let doublings = attempts.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        Some(self.base.saturating_mul(factor).min(self.max).min(left))
    }
}

/// A uniformly distributed part of `longest`, from zero to all of it ("full jitter").
fn share(longest: Duration, random: u64) -> Duration {
    let nanos = longest.as_nanos() * u128::from(random) / u128::from(u64::MAX);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(longest)
}

/// Whether a failed call may be retried at all: a retry can help, and does no harm. `retryable` is
/// what the tool's owner says. A failed call may already have had its effect, so a tool that is not
/// retryable is never retried.
#[must_use]
pub fn may_retry(error: &ToolError, retryable: bool) -> bool {
    retryable && error.kind() == ToolErrorKind::Transient
}
