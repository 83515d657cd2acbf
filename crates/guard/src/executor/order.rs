use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identifies an executor in errors and determines its place in the order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutorId {
    /// Its kind.
    pub kind: ExecutorKind,
    /// Distinguishes it from others of its kind, such as the name of an MCP server; may be empty.
    pub name: String,
}

impl ExecutorId {
    /// Creates the id of an executor from its kind and its name.
    #[must_use]
    pub fn new(kind: ExecutorKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

impl fmt::Display for ExecutorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.name.is_empty() { Ok(()) } else { write!(f, " {}", self.name) }
    }
}

/// Where the tools of an executor come from. The variants are in the declared order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ExecutorKind {
    /// Tools defined in skill files.
    Skill,
    /// Shell commands.
    Shell,
    /// Files.
    File,
    /// Web pages.
    Web,
    /// MCP servers.
    Mcp,
    /// Everything that is built into a program.
    Native,
}

impl ExecutorKind {
    /// Every kind, in the declared order.
    pub const ALL: [Self; 6] =
        [Self::Skill, Self::Shell, Self::File, Self::Web, Self::Mcp, Self::Native];

    /// The name that errors and configuration use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Shell => "shell",
            Self::File => "file",
            Self::Web => "web",
            Self::Mcp => "mcp",
            Self::Native => "native",
        }
    }
}

/// The order in which executors are asked for their tools. Only configuration can change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutorOrder(Vec<ExecutorKind>);

impl ExecutorOrder {
    /// The configured order. An empty list means the declared order.
    ///
    /// # Errors
    /// When a kind is named twice or not at all.
    pub fn configured(kinds: &[ExecutorKind]) -> Result<Self, ExecutorOrderError> {
        if kinds.is_empty() {
            return Ok(Self::default());
        }
        for kind in ExecutorKind::ALL {
            match kinds.iter().filter(|named| **named == kind).count() {
                0 => return Err(ExecutorOrderError::Missing { kind: kind.name() }),
                1 => {}
                _ => return Err(ExecutorOrderError::Repeated { kind: kind.name() }),
            }
        }
        Ok(Self(kinds.to_vec()))
    }

    /// The place of a kind, from 0.
    pub(super) fn place(&self, kind: ExecutorKind) -> usize {
        self.0.iter().position(|named| *named == kind).unwrap_or(self.0.len())
    }
}

impl Default for ExecutorOrder {
    fn default() -> Self {
        Self(ExecutorKind::ALL.to_vec())
    }
}

/// Why a configured order of executors is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecutorOrderError {
    /// A kind is missing.
    #[error("the executor order does not list `{kind}`")]
    Missing {
        /// The kind.
        kind: &'static str,
    },
    /// A kind is named more than once.
    #[error("the executor order lists `{kind}` more than once")]
    Repeated {
        /// The kind.
        kind: &'static str,
    },
}
