use std::path::Path;

use counterfoil_sandbox::Globs;

use crate::settings::FilePolicy;

/// What a tool does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Lists names, or content that is then checked file by file.
    Look,
    Read,
    Write,
    /// Reads and writes.
    Edit,
}

impl Need {
    pub(super) fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Edit)
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Edit)
    }
}

impl FilePolicy {
    /// Why a path is denied. Checks the absolute path and the one relative to its root.
    ///
    /// INVARIANT: this is called before [`FilePolicy::allows`], so that a path that both match is
    /// denied.
    pub(super) fn denial(&self, full: &Path, relative: &Path, need: Need) -> Option<&'static str> {
        if self.protected.iter().any(|folder| full.starts_with(folder)) {
            return Some("Counterfoil keeps its own records there");
        }
        if named(&self.deny_read, full, relative) {
            return Some("it matches `tools.file.deny_read`");
        }
        if need.writes() && named(&self.deny_write, full, relative) {
            return Some("it matches `tools.file.deny_write`");
        }
        None
    }

    /// Whether the content may be read, once nothing denies it.
    pub(super) fn allows(&self, full: &Path, relative: &Path) -> bool {
        let Some(allowed) = &self.allow_read else { return true };
        allowed.is_match(full) || allowed.is_match(relative)
    }
}

/// Whether a pattern matches the path or a folder that contains it.
fn named(patterns: &Globs, full: &Path, relative: &Path) -> bool {
    !patterns.is_empty()
        && (patterns.is_match(full.join(""))
            || [full, relative]
                .iter()
                .flat_map(|path| path.ancestors())
                .any(|path| patterns.is_match(path)))
}
