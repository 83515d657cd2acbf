use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
    /// Run by somebody else: the usual case for a recorded transcript.
    External,
}

/// What running a tool does to the world, as declared by whoever registered it.
/// `None` is "not declared", which is not the same as "no".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Effects {
    /// Reads state.
    pub reads: Option<bool>,
    /// Changes state.
    pub writes: Option<bool>,
    /// Reaches the network.
    pub network: Option<bool>,
    /// The same call twice is the same as once.
    pub idempotent: Option<bool>,
    /// Retrieves information from somewhere (search, fetch, look-up).
    pub retrieves: Option<bool>,
}

/// One tool as the model was offered it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name the model must use.
    pub name: String,
    /// What the model was told it does; may be empty.
    pub description: String,
    /// JSON Schema of the arguments; `None` when only the name is known, and then arguments
    /// cannot be checked.
    pub parameters: Option<Value>,
    /// JSON Schema of the result, where declared.
    pub output: Option<Value>,
    /// Where it comes from.
    pub origin: Origin,
    /// Registered tools may be switched off.
    pub available: bool,
    /// Declared effects.
    pub effects: Effects,
    /// How it presents itself to people.
    pub presentation: Presentation,
}

/// How a tool presents itself to people, as whoever offers it wrote that: passed on, never believed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Presentation {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Pictures: a list, as MCP has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Value>,
    /// Hints on what it does: an object, as MCP has it. [`Effects`] says what of them is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// What else stands beside it, in the member `_meta`.
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

/// The tools an agent had.
///
/// A log without a tool list has an *unknown* catalog: nothing may be concluded from a name that
/// is not in it. An explicit empty list is a *known*, empty catalog.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    tools: Option<BTreeMap<String, Tool>>,
}

impl Catalog {
    /// Nothing is known about the tools.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }

    /// Exactly these tools. Of two with one name the first is kept and the name is returned.
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
        (Self { tools: Some(map) }, repeated)
    }

    /// Whether the list of tools is known at all.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.tools.is_some()
    }

    /// The tool of exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.as_ref()?.get(name)
    }

    /// All tools, by name. Empty when the catalog is unknown.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().flat_map(BTreeMap::values)
    }

    /// The number of tools; 0 when the catalog is unknown.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.as_ref().map_or(0, BTreeMap::len)
    }

    /// Whether no tool is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
