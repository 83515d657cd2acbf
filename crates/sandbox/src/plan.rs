use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Gap, Limits, Profile};

/// What a command is held to. The helper behind bubblewrap gets it as one line of JSON on its
/// standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How far it may reach.
    pub profile: Profile,
    /// Files and folders with everything in them that may be read and executed.
    pub read: Vec<PathBuf>,
    /// Folders whose names may be seen, and nothing else.
    pub list: Vec<PathBuf>,
    /// Files and folders with everything in them that may be changed.
    pub write: Vec<PathBuf>,
    /// Devices that may be used.
    pub devices: Vec<PathBuf>,
    /// Whether it may make sockets to other programs of this machine.
    pub unix_sockets: bool,
    /// The user and group that it becomes; `None` keeps them.
    pub identity: Option<(u32, u32)>,
    /// What each of its processes may use.
    pub limits: Limits,
    /// It runs in a mount and process namespace of its own.
    pub own_namespaces: bool,
    /// An essential gap is a reason not to run.
    pub strict: bool,
    /// The program and its arguments; nothing runs when it is empty.
    pub program: Vec<String>,
}

#[cfg(target_os = "linux")]
impl Plan {
    /// A plan by which some folders may be read, and nothing else.
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

/// What the helper answers before it becomes the command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is held, but for the gaps.
    Held {
        /// What is not.
        gaps: Vec<Gap>,
    },
    /// It did not run, because `strict` does not let it.
    Refused {
        /// What could not be held.
        gaps: Vec<Gap>,
    },
    /// It did not run.
    Failed {
        /// Why.
        reason: String,
    },
}
