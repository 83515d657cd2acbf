use serde::{Deserialize, Serialize};

/// What each process of a command may use, at most; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Processor time in seconds.
    pub(crate) cpu_secs: Option<u64>,
    /// Private memory in bytes.
    pub(crate) memory: Option<u64>,
    /// Processes of the user, all together.
    pub(crate) processes: Option<u64>,
    /// The longest file that is written, in bytes.
    pub(crate) file: Option<u64>,
    /// By what its processes are found again; no limit to anything.
    pub(crate) mark: Option<u64>,
}
