use counterfoil_model::{Claim, Evidence, Status};

use super::compare::Difference;

/// One execution cited in one message, compared with the record.
#[derive(Debug)]
pub(crate) struct Citation {
    /// The claim.
    pub(crate) claim: Claim,
    /// The faults of the citation; empty if it is correct.
    pub(crate) faults: Vec<Fault>,
    /// The execution, if it is known.
    pub(crate) evidence: Vec<Evidence>,
}

/// A fault of a citation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// No execution has this id.
    Unknown {
        /// The id.
        id: String,
        /// Whether the record is complete, so that the fault is proven.
        provable: bool,
    },
    /// The execution was of another tool.
    OtherTool {
        /// The stated tool.
        stated: String,
        /// The recorded tool.
        recorded: String,
    },
    /// The execution is older than the window.
    Expired {
        /// Its age in seconds.
        age: u64,
        /// The window in seconds.
        window: u64,
    },
    /// The execution did not succeed, and the agent presents it as if it had.
    Unfinished {
        /// How it ended.
        status: Status,
    },
    /// The content differs from the recorded result.
    Altered(Difference),
    /// A tool's result without an id: the record has no such result, or the agent knew an id.
    MissingId {
        /// The tool.
        tool: String,
    },
    /// An id without a tool, and no receipt that names it.
    MissingTool {
        /// The id.
        id: String,
    },
}
