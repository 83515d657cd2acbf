use std::path::PathBuf;

use counterfoil_guard::{Disposition, ToolFilterOptions};
use counterfoil_model::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[agent]`: the agent of `counterfoil chat`, and the tools that a model is offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentOptions {
    /// The name of the model in `[[llm.providers]]`; if empty, the first one is used.
    pub provider: String,
    /// The model that compresses conversations; if empty, the agent's own model is used.
    pub compress_provider: String,
    /// The share of the model's context window that may be full before the conversation is
    /// compressed, from 0.1 to 1.
    pub compress_at: f64,
    /// The maximum number of requests to the model in one user turn.
    pub max_steps: u32,
    /// How many times an answer that the record does not support is sent back to the model.
    pub max_retries: u32,
    /// Which findings hold an answer back: only those that prove it wrong (`error`), or also those
    /// that raise doubts (`warning`).
    pub hold_back: HoldBack,
    /// Instructions about the model's task, sent before the execution protocol.
    pub instructions: String,
    /// Whether the model is told about doubtful parts of its calls: paths that do not exist, values
    /// that do not appear earlier in the session. No call is refused for that alone.
    pub hallucination_detection: bool,
    /// Whether the model is treated as a reasoning model, and is told about doubtful parts of its
    /// calls in the same way. This is never guessed from the model's name.
    pub reasoning_model_detection: bool,
    /// Additional folders of skills, besides those of the user and the project. A skill in them is
    /// used if a scan of it finds nothing suspicious; otherwise, you have to trust it first. Once
    /// you have trusted a skill, you have to trust it again after any change.
    pub skill_paths: Vec<PathBuf>,
    /// Whether a model is shown every tool, or only those that are relevant to a request.
    pub tool_filter: ToolFilterOptions,
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self {
            provider: String::new(),
            compress_provider: String::new(),
            compress_at: 0.9,
            max_steps: 50,
            max_retries: 1,
            hold_back: HoldBack::default(),
            instructions: String::new(),
            hallucination_detection: false,
            reasoning_model_detection: false,
            skill_paths: Vec::new(),
            tool_filter: ToolFilterOptions::default(),
        }
    }
}

/// What holds an answer back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HoldBack {
    /// Claims that the record contradicts, or that a complete record does not contain. Doubts are
    /// shown with the answer.
    #[default]
    Error,
    /// Doubts, too: this holds back more lies, but sometimes also honest answers.
    Warning,
}

impl HoldBack {
    /// The least that holds an answer back.
    pub(crate) fn least(self) -> (Disposition, Severity) {
        match self {
            Self::Error => (Disposition::Block, Severity::Error),
            Self::Warning => (Disposition::Annotate, Severity::Warning),
        }
    }
}

/// An option that is out of its bounds.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("agent.{key} is {value}; it must be between {least} and {most}")]
pub struct AgentOptionsError {
    key: &'static str,
    value: f64,
    least: f64,
    most: f64,
}

impl AgentOptionsError {
    /// The option's key, such as `agent.max_steps`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("agent.{}", self.key)
    }
}

impl AgentOptions {
    /// These options, if they can be used.
    ///
    /// # Errors
    /// Options that cannot be used.
    pub fn checked(&self) -> Result<Self, AgentOptionsError> {
        for (key, value, least, most) in [
            ("compress_at", self.compress_at, 0.1, 1.0),
            ("max_steps", self.max_steps.into(), 1.0, 1000.0),
            ("max_retries", self.max_retries.into(), 0.0, 5.0),
        ] {
            if !(least..=most).contains(&value) {
                return Err(AgentOptionsError { key, value, least, most });
            }
        }
        Ok(self.clone())
    }

    /// Whether the model is told what is doubtful about its calls.
    pub(crate) fn tells_doubts(&self) -> bool {
        self.hallucination_detection || self.reasoning_model_detection
    }
}
