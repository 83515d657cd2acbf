//! The circumstances of a call, as recorded in its receipt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in a distributed trace: the `traceparent` of W3C Trace Context. Recorded in the receipt,
/// so that trace and receipt can be found from each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceContext(String);

/// The text is not a `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a `traceparent` must have four fields in lower-case hexadecimal: version, trace, parent, flags"
)]
pub struct TraceContextError;

impl TraceContext {
    /// Parses a `traceparent` as in the header and in `_meta`:
    /// `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
    ///
    /// # Errors
    /// When the text is not a `traceparent`, or its ids are all zeros.
    pub fn parse(traceparent: &str) -> Result<Self, TraceContextError> {
        let fields: Vec<&str> = traceparent.split('-').collect();
        let [version, trace, parent, flags] = fields.as_slice() else {
            return Err(TraceContextError);
        };
        let hex = |field: &str, digits: usize| {
            field.len() == digits
                && field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let named = |field: &str| field.bytes().any(|byte| byte != b'0');
        let whole = hex(version, 2) && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
        match whole && *version != "ff" && named(trace) && named(parent) {
            true => Ok(Self(traceparent.to_owned())),
            false => Err(TraceContextError),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the trace: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        self.0.split('-').nth(1).unwrap_or_default()
    }
}

impl TryFrom<String> for TraceContext {
    type Error = TraceContextError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<TraceContext> for String {
    fn from(context: TraceContext) -> Self {
        context.0
    }
}

/// The phase of the agent's cycle in which a call is made. Stated by the caller, never inferred.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Planning, before the model is asked.
    Planner,
    /// A call requested by the model.
    #[default]
    Executor,
    /// A check after an execution.
    Verifier,
    /// An internal operation started by the agent itself.
    Autonomous,
}

impl Phase {
    /// The name in receipts and in the audit log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Verifier => "verifier",
            Self::Autonomous => "autonomous",
        }
    }
}

/// How far the sources of a turn are trusted, in ascending order.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TrustLevel {
    /// Untrusted content is present.
    Untrusted,
    /// The default: no untrusted content is known.
    #[default]
    Provisional,
    /// Everything was written by the operator.
    Trusted,
}

impl TrustLevel {
    /// The name in receipts and in the audit log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Provisional => "provisional",
            Self::Trusted => "trusted",
        }
    }
}

/// Who asked for a call. Only a surface can say `ByUser`, for a call that the user typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requested {
    /// The model.
    #[default]
    ByModel,
    /// The user, literally.
    ByUser,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_trace_is_one_or_none() {
        let one = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(
            TraceContext::parse(one).unwrap().trace_id(),
            "0af7651916cd43dd8448eb211c80319c"
        );
        for none in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            assert_eq!(TraceContext::parse(none), Err(TraceContextError), "{none}");
        }
    }
}
