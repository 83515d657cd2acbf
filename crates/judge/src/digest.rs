//! Opinions that are kept, so that a check gives the same findings again.

use counterfoil_model::{Digest, JsonLimits, parse_strict};
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::opinion::Opinion;
use crate::prompt::PROMPT_VERSION;

/// What an opinion is about: the digest of the case's text, the version of the prompt and the name of
/// the model.
#[must_use]
pub fn digest(case: &Case<'_>, model: &str) -> Digest {
    let parts = [case.text(), PROMPT_VERSION.to_owned(), model.to_owned()];
    Digest::of_json(&parts.as_slice().into())
}

/// A line of a file of opinions (JSON Lines).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpinionLine {
    /// The version of the form of the line.
    pub version: u32,
    /// What the opinion is about.
    pub digest: Digest,
    /// The model that was asked.
    pub model: String,
    /// The version of the prompt that it was asked with.
    pub prompt: String,
    /// What it replied.
    pub opinion: Opinion,
}

/// Why a line holds no opinion.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is no JSON, or has another form.
    #[error("no opinion: {0}")]
    Form(String),
    /// A newer program wrote it.
    #[error("version {0} of a line of opinions is not known: update counterfoil")]
    Version(u32),
}

impl OpinionLine {
    /// The version that is written.
    pub const VERSION: u32 = 1;

    /// The line for an opinion about a case.
    #[must_use]
    pub fn new(case: &Case<'_>, model: impl Into<String>, opinion: Opinion) -> Self {
        let model = model.into();
        let digest = digest(case, &model);
        let prompt = PROMPT_VERSION.to_owned();
        Self { version: Self::VERSION, digest, model, prompt, opinion }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Why it holds no opinion.
    pub fn read(line: &str) -> Result<Self, LineError> {
        let limits = JsonLimits { depth: 16, bytes: 2_000_000 };
        let value =
            parse_strict(line, limits).map_err(|error| LineError::Form(error.to_string()))?;
        let version = value.get("version").and_then(serde_json::Value::as_u64);
        if let Some(version) = version.filter(|v| *v != u64::from(Self::VERSION)) {
            return Err(LineError::Version(u32::try_from(version).unwrap_or(u32::MAX)));
        }
        let line: Self =
            serde_json::from_value(value).map_err(|error| LineError::Form(error.to_string()))?;
        // What is kept is checked as what comes from a model.
        let again = serde_json::to_string(&line.opinion)
            .map_err(|error| LineError::Form(error.to_string()))?;
        Opinion::read(&again).map_err(|error| LineError::Form(error.to_string()))?;
        Ok(line)
    }

    /// The line as it is written, without a line break.
    ///
    /// # Errors
    /// When a number of it is none.
    pub fn write(&self) -> Result<String, LineError> {
        serde_json::to_string(self).map_err(|error| LineError::Form(error.to_string()))
    }
}
