use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fixation::FixationSettings;

/// The tool that reads further output of a command, which is meant to be called repeatedly.
pub const SHELL_OUTPUT: &str = "shell_output";

/// `[tools.fixation]`: when repetition without progress counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FixationOptions {
    /// Identical calls without progress that earn a word to the model.
    pub nudge: usize,
    /// Identical calls without progress that are refused.
    pub refuse: usize,
    /// Calls of one name in a row that earn a word; not set counts no names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streak: Option<usize>,
    /// How many of the latest calls are looked at for calls of one name; at least `streak`.
    pub window: usize,
    /// Tools that are called again on purpose, by name, beside `shell_output`.
    pub pollers: Vec<String>,
}

/// Why the thresholds are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FixationOptionsError {
    /// A threshold that the first call would reach.
    #[error("`{key}` is {given}, it must be at least 2")]
    TooSmall {
        /// The option.
        key: &'static str,
        /// The given value.
        given: usize,
    },
}

impl Default for FixationOptions {
    fn default() -> Self {
        let FixationSettings { nudge, refuse, streak, window, pollers } =
            FixationSettings::default();
        Self { nudge, refuse, streak, window, pollers: pollers.into_iter().collect() }
    }
}

impl FixationOptions {
    /// The validated settings.
    ///
    /// # Errors
    /// When a threshold is less than 2.
    pub fn resolve(self) -> Result<FixationSettings, FixationOptionsError> {
        let Self { nudge, refuse, streak, window, pollers } = self;
        for (key, given) in [("nudge", nudge), ("refuse", refuse), ("streak", streak.unwrap_or(2))]
        {
            if given < 2 {
                return Err(FixationOptionsError::TooSmall { key, given });
            }
        }
        // The window must be at least as long as the streak.
        let window = window.max(streak.unwrap_or(0));
        let pollers = pollers.into_iter().chain([SHELL_OUTPUT.to_owned()]).collect();
        Ok(FixationSettings { nudge, refuse, streak, window, pollers })
    }
}

#[cfg(test)]
mod tests {
    use super::FixationOptions;

    #[test]
    fn a_streak_widens_the_window() {
        for (streak, window, expected) in [(Some(15), 10, 15), (Some(5), 10, 10), (None, 10, 10)] {
            let options = FixationOptions { streak, window, ..FixationOptions::default() };
            assert_eq!(options.resolve().unwrap().window, expected, "{streak:?} {window}");
        }
    }
}
