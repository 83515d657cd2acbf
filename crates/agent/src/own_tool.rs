//! What the agent's own tools have in common.

use std::fmt::Display;

use counterfoil_guard::ToolError;
use counterfoil_model::{Effects, Origin, Tool, ToolErrorCategory};
use counterfoil_providers::ProviderError;
use serde_json::{Value, json};

/// A tool of the agent itself, which takes these members and no others, and only reads.
pub(crate) fn own_tool(name: &str, description: &str, members: Value, required: &[&str]) -> Tool {
    Tool {
        description: description.to_owned(),
        parameters: Some(json!({
            "type": "object",
            "properties": members,
            "required": required,
            "additionalProperties": false,
        })),
        origin: Origin::Builtin,
        effects: Effects {
            reads: Some(true),
            writes: Some(false),
            network: Some(false),
            // What it gives may be another thing the next time.
            idempotent: Some(false),
            retrieves: Some(false),
        },
        ..Tool::named(name)
    }
}

/// The same for one that changes what the agent keeps.
pub(crate) fn writing(tool: Tool) -> Tool {
    let effects = Effects { reads: Some(false), writes: Some(true), ..tool.effects };
    Tool { effects, ..tool }
}

/// A text among the arguments; nothing where it is missing.
pub(crate) fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// It did not work, and would not the next time.
pub(crate) fn failed(why: impl Display) -> ToolError {
    ToolError::new(ToolErrorCategory::PermanentFailure, why.to_string())
}

/// The arguments do not go.
pub(crate) fn refused(why: impl Display) -> ToolError {
    ToolError::new(ToolErrorCategory::InvalidParameters, why.to_string())
}

/// The model did not answer. Where it may be asked again, so may the tool.
pub(crate) fn unanswered(error: &ProviderError) -> ToolErrorCategory {
    match error {
        _ if !error.is_transient() => ToolErrorCategory::PermanentFailure,
        ProviderError::NotReached { .. } => ToolErrorCategory::NetworkError,
        ProviderError::Status { status: 429, .. } => ToolErrorCategory::RateLimited,
        _ => ToolErrorCategory::ServerError,
    }
}
