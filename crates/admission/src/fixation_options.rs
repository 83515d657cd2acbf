use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fixation::FixationSettings;

/// The tool that reads further output of a command, which is meant to be called repeatedly.
pub const SHELL_OUTPUT: &str = "shell_output";

/// `[tools.fixation]`: the limits for repetition without progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FixationOptions {
    /// The number of identical calls without progress at which the model gets a note.
    pub nudge: usize,
    /// The number of identical calls without progress at which further ones are refused. The MCP
    /// gateway and hooks never refuse a call for this reason, because they cannot tell whether the
    /// user wants the call repeated.
    pub refuse: usize,
    /// The number of consecutive calls to one tool at which the model gets a note; no limit if not
    /// set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streak: Option<usize>,
    /// The minimum number of recent calls that are remembered to detect repeating cycles of calls.
    /// `nudge`, `refuse` and `streak` may be higher than this number.
    pub window: usize,
    /// Names of tools that are called repeatedly on purpose, in addition to `shell_output`.
    pub pollers: Vec<String>,
}

/// Why the thresholds are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FixationOptionsError {
    /// A threshold that the first call would reach.
    #[error("`{key}` must be at least 2, got {given}")]
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
        let pollers = pollers.into_iter().chain([SHELL_OUTPUT.to_owned()]).collect();
        Ok(FixationSettings { nudge, refuse, streak, window, pollers })
    }
}
