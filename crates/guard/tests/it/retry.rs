//! Retries: the budget, the bounds of the jitter, and what is never retried.

use std::time::Duration;

use counterfoil_guard::{
    Randomness, RandomnessError, RetryOptions, RetryOptionsError, RetrySettings, ToolError,
    may_retry,
};
use counterfoil_model::ToolErrorCategory::{self, *};
use proptest::prelude::*;

/// A source that returns the same eight bytes every time, or fails.
#[derive(Debug)]
struct Fixed(Option<u64>);

impl Randomness for Fixed {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        let value = self.0.ok_or_else(|| RandomnessError("none".to_owned()))?;
        bytes.copy_from_slice(&value.to_le_bytes());
        Ok(())
    }
}

const MOST: Fixed = Fixed(Some(u64::MAX));

fn settings(max_attempts: u32) -> RetrySettings {
    RetrySettings { max_attempts, ..RetrySettings::default() }
}

#[test]
fn the_defaults_are_those_of_the_configuration() {
    assert_eq!(RetryOptions::default().resolve(), Ok(RetrySettings::default()));
    let written = "max_attempts = 2\nbase_ms = 500\nmax_ms = 5000\nbudget_secs = 30\n\
                   parameter_reformat_provider = \"\"\n";
    assert_eq!(toml::from_str::<RetryOptions>(written).unwrap(), RetryOptions::default());
    assert_eq!(toml::to_string(&RetryOptions::default()).unwrap(), written);
    assert!(toml::from_str::<RetryOptions>("max_attempst = 2").is_err());
}

#[test]
fn options_are_checked() {
    let options = RetryOptions::default;
    let cases = [
        (RetryOptions { max_attempts: 0, ..options() }, Ok(settings(1))),
        (
            RetryOptions { parameter_reformat_provider: "fast".to_owned(), ..options() },
            Ok(RetrySettings {
                parameter_reformat_provider: Some("fast".to_owned()),
                ..RetrySettings::default()
            }),
        ),
        (
            RetryOptions { max_attempts: 21, ..options() },
            Err(RetryOptionsError::TooManyAttempts { given: 21, most: 20 }),
        ),
        (
            RetryOptions { base_ms: 6_000, ..options() },
            Err(RetryOptionsError::BaseAboveMax { base_ms: 6_000, max_ms: 5_000 }),
        ),
        (
            RetryOptions { max_ms: u64::MAX, ..options() },
            Err(RetryOptionsError::TooLong { key: "max_ms" }),
        ),
        (
            RetryOptions { budget_secs: 86_401, ..options() },
            Err(RetryOptionsError::TooLong { key: "budget_secs" }),
        ),
    ];
    for (options, expected) in cases {
        assert_eq!(options.clone().resolve(), expected, "{options:?}");
    }
}

#[test]
fn pauses_double_up_to_the_longest_and_end_with_attempts_and_budget() {
    let ms = Duration::from_millis;
    let cases = [
        // Attempts made, time elapsed, the maximum pause.
        (1, ms(0), Some(ms(500))),
        (2, ms(0), Some(ms(1_000))),
        (4, ms(0), Some(ms(4_000))),
        (5, ms(0), Some(ms(5_000))),
        (9, ms(0), Some(ms(5_000))),
        (10, ms(0), None),
        (1, ms(29_900), Some(ms(100))),
        (1, ms(30_000), None),
        (1, ms(99_000), None),
    ];
    for (attempts, elapsed, expected) in cases {
        let delay = settings(10).next_delay(attempts, elapsed, &MOST);
        assert_eq!(delay, expected, "{attempts} {elapsed:?}");
    }
    assert_eq!(settings(10).next_delay(1, ms(0), &Fixed(Some(0))), Some(ms(0)));
    assert_eq!(settings(10).next_delay(1, ms(0), &Fixed(None)), None);
    assert_eq!(settings(2).next_delay(2, ms(0), &MOST), None);
}

#[test]
fn what_is_never_tried_again() {
    for category in ToolErrorCategory::ALL {
        let error = ToolError::new(category, "");
        let transient = matches!(category, RateLimited | ServerError | NetworkError | Timeout);
        assert_eq!(may_retry(&error, true), transient, "{category}");
        assert!(!may_retry(&error, false), "{category}: its effect may have happened");
    }
}

proptest! {
    /// The jitter is between zero and the maximum pause, and never exceeds the budget.
    #[test]
    fn retry_budget_and_jitter_bounds(
        max_attempts in 1_u32..=20,
        base_ms in 0_u64..10_000,
        more_ms in 0_u64..100_000,
        budget_secs in 0_u64..100,
        attempts in 0_u32..100,
        elapsed_ms in 0_u64..120_000,
        random: u64,
    ) {
        let settings = RetryOptions {
            max_attempts,
            base_ms,
            max_ms: base_ms + more_ms,
            budget_secs,
            ..RetryOptions::default()
        };
        let settings = settings.resolve().unwrap();
        let elapsed = Duration::from_millis(elapsed_ms);
        let delay = settings.next_delay(attempts, elapsed, &Fixed(Some(random)));
        let may = attempts < max_attempts && elapsed < settings.budget;
        prop_assert_eq!(delay.is_some(), may);
        if let Some(delay) = delay {
            prop_assert!(delay <= settings.max);
            prop_assert!(elapsed + delay <= settings.budget);
            let doubled = settings.base.as_secs_f64() * 2_f64.powi(attempts.max(1) as i32 - 1);
            prop_assert!(delay.as_secs_f64() <= doubled + 1e-6);
        }
    }

    /// Attempts and time are bounded: a call always ends, however often it fails and whatever the
    /// random numbers are.
    #[test]
    fn a_failing_call_ends(random: u64, budget_secs in 0_u64..60, each_ms in 0_u64..5_000) {
        let options = RetryOptions { max_attempts: 20, budget_secs, ..RetryOptions::default() };
        let settings = options.resolve().unwrap();
        let each = Duration::from_millis(each_ms);
        let (mut attempts, mut elapsed) = (1, each);
        while let Some(delay) = settings.next_delay(attempts, elapsed, &Fixed(Some(random))) {
            attempts += 1;
            elapsed += delay + each;
        }
        prop_assert!(attempts <= settings.max_attempts);
        prop_assert!(elapsed <= settings.budget + each + each);
    }
}
