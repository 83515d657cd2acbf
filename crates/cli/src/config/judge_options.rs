use counterfoil_judge::Grading;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The judge that reads answers. A project's file may set none of these keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JudgeOptions {
    /// The judge to use if no flag names one: `claude`, `codex`, `gemini`, `auto`, or the name of
    /// an entry of `[[llm.providers]]`. If this is empty and `command` is set, `command` is used.
    pub(crate) name: String,
    /// A program that reads the question on its standard input and writes the reply, such as
    /// `["my-judge"]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) command: Vec<String>,
    /// The model's name, for programs that accept one and for files of batch requests.
    pub(crate) model: String,
    /// The minimum confidence, from 0 to 1, for an error (a contradiction) or a warning (anything
    /// else). Below it, a finding is a note.
    pub(crate) threshold: f64,
    /// Maximum number of tokens in one question to the judge; 0 means 12,000.
    pub(crate) budget: usize,
    /// Number of answers judged at a time.
    pub(crate) concurrency: usize,
    /// Have a judge read a coding agent's last answer at each stop, if the rules found nothing.
    pub(crate) hooks: bool,
    /// Have a judge read every answer of `chat` before it is shown, if the rules found nothing.
    pub(crate) chat: bool,
    /// Have a judge read every answer that ends a turn in the proxy, if the rules found nothing.
    pub(crate) proxy: bool,
    /// Maximum time for a judge to read one answer, in seconds; at most 22 in a hook.
    pub(crate) timeout_secs: u64,
    /// Maximum number of answers judged in one run; the others are not judged. 0 means no limit.
    pub(crate) max_answers: usize,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            command: Vec::new(),
            model: String::new(),
            threshold: Grading::default().threshold,
            budget: 0,
            concurrency: 4,
            hooks: false,
            chat: false,
            proxy: false,
            timeout_secs: 120,
            max_answers: 0,
        }
    }
}
