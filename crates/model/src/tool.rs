use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a tool comes from. Declared, never guessed from its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// One of Counterfoil's own tools.
    Builtin,
    /// Offered by an MCP server.
    Mcp {
        /// The server's configured name.
        server: String,
    },
    /// Declared inside a skill file.
    Skill {
        /// The skill's name.
        name: String,
    },
    /// Run by an external program: the usual case for a recorded transcript.
    External,
}

/// The declared effects of a tool. `None` means "not declared", which is not the same as "no".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Effects {
    /// Reads state.
    pub reads: Option<bool>,
    /// Changes state.
    pub writes: Option<bool>,
    /// Uses the network.
    pub network: Option<bool>,
    /// Repeating a call changes nothing.
    pub idempotent: Option<bool>,
    /// Retrieves information (search, fetch, lookup).
    pub retrieves: Option<bool>,
}

/// A tool as offered to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name that the model must use.
    pub name: String,
    /// The description given to the model; may be empty.
    pub description: String,
    /// The JSON Schema of the arguments; `None` if unknown, in which case arguments cannot be
    /// checked.
    pub parameters: Option<Value>,
    /// The JSON Schema of the result, if declared.
    pub output: Option<Value>,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it is switched on; a registered tool may be off.
    pub available: bool,
    /// Declared effects.
    pub effects: Effects,
    /// How it is presented to people.
    pub presentation: Presentation,
}

/// How a tool is presented to people, as written by its provider: passed on, never trusted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Presentation {
    /// A display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Icons: a list, as in MCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Value>,
    /// Hints about its behaviour: an object, as in MCP. [`Effects`] has those that are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// Other metadata, in the member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

impl Tool {
    /// An available external tool of which only the name is known.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            parameters: None,
            output: None,
            origin: Origin::External,
            available: true,
            effects: Effects::default(),
            presentation: Presentation::default(),
        }
    }
}

/// The tools an agent had. Cheap to clone.
///
/// A log without a tool list has an *unknown* catalog: nothing may be concluded from a name that
/// is not in it. An explicit empty list is a *known*, empty catalog.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    tools: Option<Arc<BTreeMap<String, Tool>>>,
}

impl Catalog {
    /// A catalog without any knowledge of the tools.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }

    /// A catalog of exactly these tools. Of several with the same name the first is kept; the
    /// repeated names are returned.
    pub fn known(tools: impl IntoIterator<Item = Tool>) -> (Self, Vec<String>) {
        let mut map = BTreeMap::new();
        let mut repeated = Vec::new();
        for tool in tools {
            match map.entry(tool.name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(tool);
                }
                Entry::Occupied(_) => repeated.push(tool.name),
            }
        }
        (Self { tools: Some(Arc::new(map)) }, repeated)
    }

    /// Whether the list of tools is known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.tools.is_some()
    }

    /// The tool with exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.as_ref()?.get(name)
    }

    /// All tools, by name. Empty if the catalog is unknown.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().flat_map(|tools| tools.values())
    }

    /// The number of tools; 0 if the catalog is unknown.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.as_ref().map_or(0, |tools| tools.len())
    }

    /// Whether there are no known tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
