use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Gap, Limits, Profile};

/// The restrictions of a command. The helper inside bubblewrap receives them as one line of JSON on
/// its standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What it may reach.
    pub profile: Profile,
    /// Files and folders, with all their content, that may be read and executed.
    pub read: Vec<PathBuf>,
    /// Folders that may only be listed.
    pub list: Vec<PathBuf>,
    /// Files and folders, with all their content, that may be changed.
    pub write: Vec<PathBuf>,
    /// Devices that may be used.
    pub devices: Vec<PathBuf>,
    /// Whether it may connect to other programs of this machine through sockets.
    pub unix_sockets: bool,
    /// The user and group to become; `None` keeps the current ones.
    pub identity: Option<(u32, u32)>,
    /// The limits of each of its processes.
    pub limits: Limits,
    /// Whether it runs in a mount and process namespace of its own.
    pub own_namespaces: bool,
    /// Whether an essential gap prevents it from running.
    pub strict: bool,
    /// The program and its arguments; if empty, nothing is run.
    pub program: Vec<String>,
}

#[cfg(target_os = "linux")]
impl Plan {
    /// A plan that only allows some folders to be read.
    pub(crate) fn to_read(profile: Profile, read: Vec<PathBuf>) -> Self {
        Self {
            profile,
            read,
            list: Vec::new(),
            write: Vec::new(),
            devices: Vec::new(),
            unix_sockets: false,
            identity: None,
            limits: Limits::default(),
            own_namespaces: false,
            strict: false,
            program: Vec::new(),
        }
    }
}

/// The helper's reply before it becomes the command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is confined, except for the gaps.
    Held {
        /// The gaps.
        gaps: Vec<Gap>,
    },
    /// It did not run because of `strict`.
    Refused {
        /// The gaps.
        gaps: Vec<Gap>,
    },
    /// It did not run.
    Failed {
        /// The reason.
        reason: String,
    },
}
