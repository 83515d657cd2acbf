//! What a server's tools were when they were first seen. A server that shows one definition to the
//! person who approves it, and another one later, is found out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

use counterfoil_model::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Members of a tool that say nothing to a model: they may change.
const BESIDE: [&str; 2] = ["_meta", "icons"];

/// Where the pins of one server are kept, as a text.
pub trait PinStore: Send + Sync {
    /// What is there; `None` where nothing is yet.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self) -> io::Result<Option<String>>;

    /// Puts this in its place: all of it or nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, text: &str) -> io::Result<()>;
}

/// The pins of one server.
pub struct Pins {
    store: Box<dyn PinStore>,
}

/// A tool that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChange {
    /// The server did not have it when it was first seen.
    New {
        /// Its name.
        tool: String,
    },
    /// Its definition is another one.
    Changed {
        /// Its name.
        tool: String,
        /// The members of its definition that changed, came or went.
        members: Vec<String>,
    },
}

impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New { tool } => write!(f, "`{tool}` is new since the server was first seen"),
            Self::Changed { tool, members } => write!(
                f,
                "`{tool}` is not what it was when it was first seen: {}",
                members.join(", ")
            ),
        }
    }
}

/// Pins cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// Their store.
    #[error("the pinned tools cannot be read or written: {0}")]
    Store(#[from] io::Error),
    /// What is in it.
    #[error("the pinned tools cannot be read: {0}")]
    Broken(#[from] serde_json::Error),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    /// By tool, then by member: its digest.
    tools: BTreeMap<String, BTreeMap<String, String>>,
}

impl Pins {
    /// Reconnecting there.
    #[must_use]
    pub fn in_store(store: Box<dyn PinStore>) -> Self {
        Self { store }
    }

    /// Holds a whole list against what was seen first; the first list is pinned. What changed, or
    /// came later, is found again each time, until somebody accepts it.
    ///
    /// # Errors
    /// When pins cannot be read or written.
    pub fn compare(&self, tools: &[Value]) -> Result<Vec<ToolChange>, PinsError> {
        let Some(text) = self.store.read()? else {
            self.accept(tools)?;
            return Ok(Vec::new());
        };
        let pinned: Pinned = serde_json::from_str(&text)?;
        let mut changes = Vec::new();
        for tool in tools {
            let tool_name = name(tool);
            match pinned.tools.get(&tool_name) {
                None => changes.push(ToolChange::New { tool: tool_name }),
                Some(then) => {
                    let members = differing(then, &members(tool));
                    if !members.is_empty() {
                        changes.push(ToolChange::Changed { tool: tool_name, members });
                    }
                }
            }
        }
        Ok(changes)
    }

    /// The same, in words for a server of this name, and the tools that are meant.
    pub(crate) fn changed(
        &self,
        server: &str,
        tools: &[Value],
    ) -> Result<(Vec<String>, BTreeSet<String>), PinsError> {
        let changes = self.compare(tools)?;
        let told = changes.iter().map(|change| format!("tools of `{server}`: {change}")).collect();
        let names = changes.into_iter().map(|change| match change {
            ToolChange::New { tool } | ToolChange::Changed { tool, .. } => tool,
        });
        Ok((told, names.collect()))
    }

    /// Pins these, whatever was pinned before.
    ///
    /// # Errors
    /// When pins cannot be written.
    pub fn accept(&self, tools: &[Value]) -> Result<(), PinsError> {
        let tools = tools.iter().map(|tool| (name(tool), members(tool))).collect();
        Ok(self.store.write(&serde_json::to_string_pretty(&Pinned { tools })?)?)
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pins").finish_non_exhaustive()
    }
}

fn name(tool: &Value) -> String {
    tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn members(tool: &Value) -> BTreeMap<String, String> {
    let members = tool.as_object().into_iter().flatten();
    let said = members.filter(|(member, _)| !BESIDE.contains(&member.as_str()));
    said.map(|(member, value)| (member.clone(), Digest::of_json(value).to_string())).collect()
}

fn differing(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<&String> = then.keys().chain(now.keys()).collect();
    names.sort();
    names.dedup();
    names.into_iter().filter(|name| then.get(*name) != now.get(*name)).cloned().collect()
}
