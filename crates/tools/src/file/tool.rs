use std::path::Path;

use counterfoil_model::{Effects, Origin, Tool};
use serde_json::Value;

use super::failure::{denied, wrong};
use super::place::{Place, Roots};
use super::policy::Need;
use super::shown::shown;
use super::stop::Stop;
use crate::FileSettings;
use crate::number::whole;
use crate::{ToolError, ToolOutput};

/// A tool that works on files.
pub(super) struct FileTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// What it does with its path.
    pub(super) need: Need,
    /// Whether repeating a call changes nothing.
    pub(super) idempotent: bool,
    /// The JSON Schema of its arguments.
    pub(super) parameters: fn() -> Value,
    /// Runs it; may block.
    pub(super) run: fn(&Work<'_>) -> Result<ToolOutput, ToolError>,
}

/// Where a call may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only in the workspace.
    Workspace,
    /// In the additional folders as well: a person agreed, or the turn is trusted.
    Folders,
}

/// The inputs of a tool.
pub(super) struct Work<'w> {
    pub(super) arguments: &'w Value,
    pub(super) roots: &'w Roots,
    pub(super) settings: &'w FileSettings,
    pub(super) reach: Reach,
    pub(super) stop: &'w Stop,
}

impl FileTool {
    pub(super) fn definition(&self) -> Tool {
        let writes = self.need.writes();
        Tool {
            description: self.description.to_owned(),
            parameters: Some((self.parameters)()),
            origin: Origin::Builtin,
            effects: Effects {
                reads: Some(true),
                writes: Some(writes),
                network: Some(false),
                idempotent: Some(self.idempotent),
                retrieves: Some(!writes),
            },
            ..Tool::named(self.name)
        }
    }
}

impl Work<'_> {
    /// The place that `path` names; the workspace by default.
    pub(super) fn place(&self, need: Need) -> Result<Place, ToolError> {
        let path = self.text("path")?.unwrap_or(".");
        let place = self.roots.place(path, need, self.settings)?;
        // The gates judged it as a place in the workspace, but a link now leads elsewhere.
        if need.writes() && !place.in_workspace && self.reach == Reach::Workspace {
            let path = shown(path);
            return Err(denied(format!(
                "`{path}` is outside the workspace, and access was not \
                approved"
            )));
        }
        Ok(place)
    }

    /// An optional text argument.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, ToolError> {
        match self.arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(format!("`{name}` must be a string"))),
        }
    }

    /// A required text argument.
    pub(super) fn needed(&self, name: &str) -> Result<&str, ToolError> {
        self.text(name)?.ok_or_else(|| wrong(format!("`{name}` is missing")))
    }

    /// An optional positive integer argument.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, ToolError> {
        match self.arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match whole(value).filter(|number| *number > 0) {
                Some(number) => Ok(Some(number)),
                None => Err(wrong(format!("`{name}` must be a whole number of at least 1"))),
            },
        }
    }

    /// Whether a search may show a path: it is not denied and, if `content` is read, it is allowed.
    pub(super) fn may_see(&self, full: &Path, relative: &Path, content: bool) -> bool {
        let policy = &self.settings.policy;
        policy.denial(full, relative, Need::Read).is_none()
            && (!content || policy.allows(full, relative))
    }
}
