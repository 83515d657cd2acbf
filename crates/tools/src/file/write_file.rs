use serde_json::{Value, json};

use super::atomic::replace;
use super::policy::Need;
use super::shown::shown;
use super::tool::{FileTool, Work};
use crate::{ToolError, ToolOutput};

pub(super) const TOOL: FileTool = FileTool {
    name: "write_file",
    description: "Writes a file in the workspace, replacing any existing one. Creates missing \
                  directories.",
    need: Need::Write,
    idempotent: true,
    parameters,
    run,
};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the workspace." },
            "content": { "type": "string", "description": "The whole content of the file." }
        },
        "required": ["path", "content"],
        "additionalProperties": false
    })
}

fn run(work: &Work<'_>) -> Result<ToolOutput, ToolError> {
    work.needed("path")?;
    let content = work.needed("content")?;
    let place = work.place(Need::Write)?;
    let replaced = replace(&place, content.as_bytes(), None, work.stop)?;
    let verb = if replaced.created { "created" } else { "replaced" };
    let (path, length) = (shown(&place.requested), content.len());
    let bytes = if length == 1 { "byte" } else { "bytes" };
    Ok(ToolOutput {
        text: format!("{verb} `{path}` ({length} {bytes})\n"),
        side_effects: replaced.side_effects,
        ..ToolOutput::default()
    })
}
