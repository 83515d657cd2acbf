//! Stored opinions, so that a repeated check gives the same findings, and the request and result
//! formats of batch APIs.

use std::collections::HashMap;

use counterfoil_model::{Digest, JsonLimits, parse_strict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::case::Case;
use crate::opinion::Opinion;
use crate::prompt::{PROMPT_VERSION, Prompt, answer_schema};

/// The digest of a case, from its text and the version of the prompt.
#[must_use]
pub fn digest(case: &Case<'_>) -> Digest {
    Digest::of_json(&[case.text(), PROMPT_VERSION.to_owned()].as_slice().into())
}

/// A line of an opinion file (JSON Lines).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpinionLine {
    /// The version of the line format.
    pub version: u32,
    /// The digest of the case.
    pub digest: Digest,
    /// The model that was asked.
    pub model: String,
    /// The version of the prompt.
    pub prompt: String,
    /// The model's reply.
    pub opinion: Opinion,
}

/// Why a line could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not JSON, or not in the expected format.
    #[error("not an opinion: {0}")]
    Form(String),
    /// It was written by a newer version.
    #[error("unsupported version {0} of an opinion line: update counterfoil")]
    Version(u32),
}

impl OpinionLine {
    /// The version written by this program.
    pub const VERSION: u32 = 1;

    /// A line for an opinion on a case.
    #[must_use]
    pub fn new(digest: Digest, model: impl Into<String>, opinion: Opinion) -> Self {
        let prompt = PROMPT_VERSION.to_owned();
        Self { version: Self::VERSION, digest, model: model.into(), prompt, opinion }
    }

    /// Reads a line written by [`OpinionLine::write`].
    ///
    /// # Errors
    /// When it is not a line of a known version with a valid opinion.
    pub fn read(line: &str) -> Result<Self, LineError> {
        Self::of_value(parsed(line)?)
    }

    fn of_value(value: Value) -> Result<Self, LineError> {
        let version = value.get("version").and_then(Value::as_u64);
        if let Some(version) = version.filter(|v| *v != u64::from(Self::VERSION)) {
            return Err(LineError::Version(u32::try_from(version).unwrap_or(u32::MAX)));
        }
        let line: Self = serde_json::from_value(value).map_err(form)?;
        // Stored opinions are validated like replies from a model.
        let again = serde_json::to_string(&line.opinion).map_err(form)?;
        Opinion::read(&again).map_err(form)?;
        Ok(line)
    }

    /// The serialised line, without a line break.
    ///
    /// # Errors
    /// When it contains a number that JSON cannot represent.
    pub fn write(&self) -> Result<String, LineError> {
        serde_json::to_string(self).map_err(form)
    }
}

fn parsed(line: &str) -> Result<Value, LineError> {
    parse_strict(line, JsonLimits { depth: 64, bytes: 4_000_000 }).map_err(form)
}

fn form(error: impl ToString) -> LineError {
    LineError::Form(error.to_string())
}

/// The opinion on a case, or the error that took its place.
pub type Kept = Result<OpinionLine, String>;

/// The opinions of a file by the digest of their case.
#[derive(Debug, Clone, Default)]
pub struct Opinions {
    by_digest: HashMap<Digest, Kept>,
}

impl Opinions {
    /// Adds an opinion line, or a line of the results of an `OpenAI` or Anthropic batch, whose
    /// `custom_id` is the digest of the case. A later opinion replaces an earlier one; a failure is
    /// only kept if the case has no entry yet.
    ///
    /// # Errors
    /// When the line is neither.
    pub fn add(&mut self, line: &str) -> Result<(), LineError> {
        let value = parsed(line)?;
        let (digest, kept) = match value.get("custom_id").and_then(Value::as_str) {
            None => {
                let line = OpinionLine::of_value(value)?;
                (line.digest, Ok(line))
            }
            Some(id) => {
                let digest =
                    Digest::from_hex(id).ok_or_else(|| form("`custom_id` is not a case digest"))?;
                (digest, result_of(digest, &value))
            }
        };
        if kept.is_ok() || !self.by_digest.contains_key(&digest) {
            self.by_digest.insert(digest, kept);
        }
        Ok(())
    }

    /// The entry for a case; `None` if no model was asked about it.
    #[must_use]
    pub fn about(&self, digest: Digest) -> Option<&Kept> {
        self.by_digest.get(&digest)
    }

    /// The number of cases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_digest.len()
    }

    /// Whether there are no cases.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_digest.is_empty()
    }
}

/// The reply in a line of batch results.
fn result_of(digest: Digest, value: &Value) -> Kept {
    let at = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let of_openai = "/response/body";
    let (model, texts) = match value.pointer("/result/message") {
        Some(message) => (message.get("model"), texts_of(message.get("content"))),
        None => (
            value.pointer("/response/body/model"),
            at("/response/body/choices/0/message/content").unwrap_or_default().to_owned(),
        ),
    };
    let model = model.and_then(Value::as_str).unwrap_or("unknown");
    if !texts.trim().is_empty() {
        let opinion = Opinion::read(&texts).map_err(|error| error.to_string())?;
        return Ok(OpinionLine::new(digest, model, opinion));
    }
    let pointers = ["/error/message", "/result/error/error/message", "/result/error/message"];
    let refused = at("/response/body/choices/0/message/refusal");
    let failed = value.pointer(of_openai).and_then(|body| body.pointer("/error/message"));
    let why = pointers.iter().find_map(|pointer| at(pointer)).or(failed.and_then(Value::as_str));
    Err(match (why.or(refused), at("/result/type")) {
        (Some(why), _) => {
            format!("the batch reports: {}", why.chars().take(200).collect::<String>())
        }
        (None, Some(kind)) if kind != "succeeded" => format!("the batch reports: {kind}"),
        _ => "the batch contains no reply for this case".to_owned(),
    })
}

/// The joined text blocks of an Anthropic message.
fn texts_of(content: Option<&Value>) -> String {
    let blocks = content.and_then(Value::as_array).into_iter().flatten();
    blocks.filter_map(|block| block.get("text").and_then(Value::as_str)).collect()
}

/// The format of a batch request file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchForm {
    /// One request to `OpenAI`'s chat completions API per line.
    Openai,
    /// One request to Anthropic's messages API per line.
    Anthropic,
}

/// A batch request line that asks `model` about a case.
#[must_use]
pub fn batch_line(form: BatchForm, model: &str, digest: Digest, prompt: &Prompt) -> Value {
    let Prompt { instructions, question } = prompt;
    match form {
        BatchForm::Openai => json!({
            "custom_id": digest.to_string(),
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": model,
                "messages": [
                    { "role": "system", "content": instructions },
                    { "role": "user", "content": question },
                ],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": { "name": "opinion", "strict": true, "schema": answer_schema() },
                },
            },
        }),
        BatchForm::Anthropic => json!({
            "custom_id": digest.to_string(),
            "params": {
                "model": model,
                "max_tokens": 8192,
                "system": instructions,
                "messages": [{ "role": "user", "content": question }],
            },
        }),
    }
}
