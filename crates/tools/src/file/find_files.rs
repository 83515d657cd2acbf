use std::ops::ControlFlow;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value, json};

use super::failure::wrong;
use super::policy::Need;
use super::shown::shown_path;
use super::tool::{FileTool, Work};
use super::walk::walk;
use crate::{ToolError, ToolOutput};

pub(super) const TOOL: FileTool = FileTool {
    name: "find_files",
    description: "Finds files in the workspace by name. `*.rs` matches in every directory, \
                  `src/**/*.rs` only below `src`. Skips files that .gitignore excludes.",
    need: Need::Look,
    idempotent: true,
    parameters,
    run,
};

/// The maximum number of files found.
const MOST: usize = 1_000;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": { "type": "string", "minLength": 1, "description": "A glob: `*` stops at `/`, `**` does not." },
            "path": { "type": "string", "minLength": 1, "description": "The directory to look in, relative to the workspace." }
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
}

fn run(work: &Work<'_>) -> Result<ToolOutput, ToolError> {
    let pattern = Pattern::read(work.needed("pattern")?)?;
    let place = work.place(Need::Look)?;
    let (mut text, mut found, mut more) = (String::new(), 0_usize, false);
    let left_out = walk(work, &place, &mut |met, left_out| {
        let inside = met.relative.strip_prefix(&place.relative).unwrap_or(&met.relative);
        if !pattern.matches(inside) {
            return Ok(ControlFlow::Continue(()));
        }
        if !work.may_see(&place.root.path().join(&met.relative), &met.relative, true) {
            left_out.denied += 1;
            return Ok(ControlFlow::Continue(()));
        }
        if found == MOST || text.len() >= work.settings.max_output {
            more = true;
            return Ok(ControlFlow::Break(()));
        }
        found += 1;
        text += &shown_path(&place.named(&met.relative));
        text.push('\n');
        Ok(ControlFlow::Continue(()))
    })?;
    if found == 0 {
        text += "[no files found]\n";
    }
    if more {
        text += &format!("[more than {found} files match; use a narrower pattern]\n");
    }
    text += &left_out.notes();
    Ok(ToolOutput { text, truncated: more, ..ToolOutput::default() })
}

/// A glob for whole paths, or for names if it has no slash.
struct Pattern {
    glob: GlobMatcher,
    only_name: bool,
}

impl Pattern {
    fn read(pattern: &str) -> Result<Self, ToolError> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
            return Err(wrong(
                "`pattern` is relative to `path`: it must not start with `/` or contain `..`",
            ));
        }
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| wrong(format!("`pattern` is not a valid glob: {}", error.kind())))?;
        Ok(Self { glob: glob.compile_matcher(), only_name: !pattern.contains('/') })
    }

    fn matches(&self, inside: &Path) -> bool {
        match inside.file_name() {
            Some(name) if self.only_name => self.glob.is_match(name),
            _ => self.glob.is_match(inside),
        }
    }
}
