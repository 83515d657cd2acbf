use std::path::PathBuf;

use counterfoil_model::Digest;
use serde::{Deserialize, Serialize};

/// The former state of one path in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) was: Was,
    /// What was there after the command ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) left: Option<Left>,
}

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Was {
    Absent,
    Folder {
        mode: u32,
    },
    Link {
        target: PathBuf,
    },
    File {
        copy: String,
        mode: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<Modified>,
    },
}

/// When a file was last written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Modified {
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
}

/// What a command left at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Left {
    Absent,
    Folder,
    Link { target: PathBuf },
    File { digest: Digest },
}

impl Entry {
    /// Whether a folder is there that must be removed.
    pub(super) fn goes_as_a_folder(&self) -> bool {
        self.left == Some(Left::Folder) && !matches!(self.was, Was::Folder { .. })
    }
}
