//! Pins a server's tools as first seen, to detect a server that shows one definition for approval
//! and another one later.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

use counterfoil_model::{CanonicalForm, Digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lists::List;
use super::looks::sentences;
use super::pins_of_servers::PinnedServers;

/// Members of a tool that are for programs and people: they may change, but for the sentences in
/// them, which a client may show a model.
const BESIDE: [&str; 2] = ["_meta", "icons"];

/// The member of our greeting's `_meta` that names the servers that cannot be reached.
pub(crate) const UNREACHABLE: &str = "counterfoil/unreachable";

/// The member of `_meta` with which several servers as one name the server of an entry.
pub(crate) const SERVER: &str = "counterfoil/server";

/// The member of a greeting's `_meta` with the server's name and version, without sessions.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Members of a greeting that are pinned on their own, or agreed on with each client.
pub(super) const AGREED: [&str; 7] = [
    "instructions",
    "capabilities",
    "protocolVersion",
    "supportedVersions",
    "resultType",
    "ttlMs",
    "cacheScope",
];

/// Storage for the pins of one server, as text.
pub trait PinStore: Send + Sync {
    /// Returns the stored text; `None` if there is none yet.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self) -> io::Result<Option<String>>;

    /// Replaces the stored text atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, text: &str) -> io::Result<()>;
}

/// The pins of one server, or of several.
pub struct Pins {
    kept: Kept,
}

enum Kept {
    /// Of one server.
    Own(Box<dyn PinStore>),
    /// Of several servers, each of which has its own.
    Several(PinnedServers),
}

/// A text in a greeting that has changed since its server was first seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GreetingChange {
    /// The server's name, if there are several.
    pub server: Option<String>,
    /// Its present instructions, if they have changed; else its other texts have.
    pub instructions: Option<String>,
}

impl fmt::Display for GreetingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.server, &self.instructions) {
            (None, Some(_)) => f.write_str("the server's instructions have changed"),
            (None, None) => {
                f.write_str("other text in the server's `initialize` result has changed")
            }
            (Some(server), Some(_)) => write!(f, "the instructions of `{server}` have changed"),
            (Some(server), None) => {
                write!(f, "other texts in the `initialize` result of `{server}` have changed")
            }
        }?;
        f.write_str(" since they were first seen")
    }
}

/// A difference between a tool and its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChange {
    /// The tool did not exist when the server was first seen.
    New {
        /// Its name.
        tool: String,
    },
    /// The server has several tools with this name, so it is unknown which one was seen first.
    Twice {
        /// Its name.
        tool: String,
    },
    /// The definition changed.
    Changed {
        /// Its name.
        tool: String,
        /// The members that changed, were added or were removed.
        members: Vec<String>,
    },
}

impl ToolChange {
    pub(super) fn new_tool(tool: &Value) -> Self {
        Self::New { tool: name(tool) }
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self {
            Self::New { tool } | Self::Twice { tool } | Self::Changed { tool, .. } => tool,
        }
    }
}

impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New { tool } => write!(f, "`{tool}` is new since the server was first seen"),
            Self::Twice { tool } => write!(f, "more than one tool is named `{tool}`"),
            Self::Changed { tool, members } => {
                write!(f, "`{tool}` has changed since it was first seen: {}", members.join(", "))
            }
        }
    }
}

/// The pins cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// The store failed.
    #[error("cannot read or write the pinned tools: {0}")]
    Store(#[from] io::Error),
    /// The stored text is invalid.
    #[error("cannot read the pinned tools: {0}")]
    Broken(#[from] serde_json::Error),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    /// Digests by tool and member. `None` until a list was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// Digest of the server's instructions, empty if it has none. `None` until it has been greeted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    /// Digest of the other texts of its greeting. `None` until it has been greeted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greeting: Option<String>,
    /// Digests of prompts and resources, by list and name. A list is absent until it is seen.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    described: BTreeMap<List, BTreeMap<String, String>>,
}

impl Pins {
    /// Pins in this store.
    #[must_use]
    pub fn in_store(store: Box<dyn PinStore>) -> Self {
        Self { kept: Kept::Own(store) }
    }

    pub(super) fn in_several(several: PinnedServers) -> Self {
        Self { kept: Kept::Several(several) }
    }

    pub(super) fn several(&self) -> Option<&PinnedServers> {
        match &self.kept {
            Kept::Own(_) => None,
            Kept::Several(several) => Some(several),
        }
    }

    /// Compares a whole list with the pins; the first list is pinned. A change or a new tool is
    /// reported every time until it is accepted.
    ///
    /// # Errors
    /// When the pins cannot be read or written.
    pub fn compare(&self, tools: &[Value]) -> Result<Vec<ToolChange>, PinsError> {
        match self.several() {
            Some(several) => several.compare(tools),
            None => self.compare_own(tools),
        }
    }

    pub(super) fn compare_own(&self, tools: &[Value]) -> Result<Vec<ToolChange>, PinsError> {
        let Some(pinned) = self.read()?.tools else {
            self.accept_own(tools)?;
            return Ok(Vec::new());
        };
        let (mut changes, mut names) = (Vec::new(), BTreeSet::new());
        for tool in tools {
            let tool_name = name(tool);
            if !names.insert(tool_name.clone()) {
                changes.push(ToolChange::Twice { tool: tool_name.clone() });
            }
            match pinned.get(&tool_name) {
                None => changes.push(ToolChange::new_tool(tool)),
                Some(then) => {
                    let members = differing(then, tool);
                    if !members.is_empty() {
                        changes.push(ToolChange::Changed { tool: tool_name, members });
                    }
                }
            }
        }
        Ok(changes)
    }

    /// Like [`Pins::compare`], as messages about the server with this name, and the names of the
    /// tools.
    pub(crate) fn changed(
        &self,
        server: &str,
        tools: &[Value],
    ) -> Result<(Vec<String>, BTreeSet<String>), PinsError> {
        let changes = self.compare(tools)?;
        let messages =
            changes.iter().map(|change| format!("tools of `{server}`: {change}")).collect();
        Ok((messages, changes.iter().map(|change| change.tool().to_owned()).collect()))
    }

    /// Pins these tools, replacing earlier pins.
    ///
    /// # Errors
    /// When the pins cannot be written.
    pub fn accept(&self, tools: &[Value]) -> Result<(), PinsError> {
        match self.several() {
            Some(several) => several.accept(tools, &[]),
            None => self.accept_own(tools),
        }
    }

    pub(super) fn accept_own(&self, tools: &[Value]) -> Result<(), PinsError> {
        let tools = tools.iter().map(|tool| (name(tool), members(tool))).collect();
        self.write(|pinned| pinned.tools = Some(tools))
    }

    /// The texts of a greeting that differ from those first seen; the first ones are pinned.
    /// `greeting` is the whole greeting.
    ///
    /// # Errors
    /// When the pins cannot be read or written.
    pub fn greeting_changes(&self, greeting: &Value) -> Result<Vec<GreetingChange>, PinsError> {
        if let Some(several) = self.several() {
            return several.greeting_changes(greeting);
        }
        let (text, now) = (instructions(greeting), of_greeting(greeting));
        let pinned = self.read()?;
        if pinned.instructions.is_none() || pinned.greeting.is_none() {
            self.write(|pinned| {
                pinned.instructions.get_or_insert_with(|| of_instructions(text));
                pinned.greeting.get_or_insert_with(|| now.clone());
            })?;
        }
        let change = |instructions| GreetingChange { server: None, instructions };
        let own = pinned.instructions.is_some_and(|then| then != of_instructions(text));
        let own = own.then(|| change(Some(text.unwrap_or_default().to_owned())));
        let others = pinned.greeting.is_some_and(|then| then != now).then(|| change(None));
        Ok(own.into_iter().chain(others).collect())
    }

    /// Pins the texts of this greeting, replacing earlier ones. The prompts and resources that come
    /// next are pinned, too.
    pub(super) fn accept_greeting(&self, greeting: &Value) -> Result<(), PinsError> {
        self.write(|pinned| {
            pinned.instructions = Some(of_instructions(instructions(greeting)));
            pinned.greeting = Some(of_greeting(greeting));
            pinned.described.clear();
        })
    }

    /// The pinned entries of a list of prompts or resources.
    pub(crate) fn described(
        &self,
        list: List,
    ) -> Result<Option<BTreeMap<String, String>>, PinsError> {
        match self.several() {
            Some(several) => several.described(list, |_| true).map(Some),
            None => Ok(self.read()?.described.remove(&list)),
        }
    }

    /// Pins these entries; `None` removes the list.
    pub(super) fn accept_described(
        &self,
        list: List,
        entries: Option<BTreeMap<String, String>>,
    ) -> Result<(), PinsError> {
        self.write(|pinned| match entries {
            Some(entries) => drop(pinned.described.insert(list, entries)),
            None => drop(pinned.described.remove(&list)),
        })
    }

    /// Whether a list of tools has been pinned.
    pub(crate) fn have_tools(&self) -> Result<bool, PinsError> {
        // Of several servers, each may be seen for the first time.
        Ok(self.several().is_some() || self.read()?.tools.is_some())
    }

    pub(super) fn is_unwritten(&self) -> Result<bool, PinsError> {
        Ok(self.store()?.read()?.is_none())
    }

    /// The store of one server.
    fn store(&self) -> io::Result<&dyn PinStore> {
        match &self.kept {
            Kept::Own(store) => Ok(store.as_ref()),
            Kept::Several(_) => Err(io::Error::other("several servers have no pins in common")),
        }
    }

    fn read(&self) -> Result<Pinned, PinsError> {
        match self.store()?.read()? {
            Some(text) => Ok(serde_json::from_str(&text)?),
            None => Ok(Pinned::default()),
        }
    }

    /// Changes the pins. Unreadable pins are replaced, because the caller has checked the current
    /// state.
    fn write(&self, change: impl FnOnce(&mut Pinned)) -> Result<(), PinsError> {
        let mut pinned = match self.read() {
            Ok(pinned) => pinned,
            Err(PinsError::Broken(_)) => Pinned::default(),
            Err(error) => return Err(error),
        };
        change(&mut pinned);
        Ok(self.store()?.write(&serde_json::to_string_pretty(&pinned)?)?)
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pins").finish_non_exhaustive()
    }
}

fn instructions(greeting: &Value) -> Option<&str> {
    greeting.get("instructions").and_then(Value::as_str)
}

fn of_instructions(text: Option<&str>) -> String {
    let text = text.filter(|text| !text.is_empty());
    text.map(|text| Digest::of_bytes(text.as_bytes()).to_string()).unwrap_or_default()
}

/// The digest of what a greeting tells a client: who the server is, with everything experimental or
/// unknown. A plain version may change.
fn of_greeting(greeting: &Value) -> String {
    let mut kept = greeting.as_object().cloned().unwrap_or_default();
    kept.retain(|name, _| !AGREED.contains(&name.as_str()));
    // The protocol without sessions names the server there.
    let named = kept.get_mut("_meta").and_then(Value::as_object_mut);
    if let Some(who) = named.and_then(|meta| meta.remove(SERVER_INFO)) {
        kept.entry("serverInfo").or_insert(who);
    }
    if let Some(Value::Object(who)) = kept.get_mut("serverInfo") {
        let plain = |version: &Value| version.as_str().is_some_and(|text| text.len() <= 40);
        who.retain(|name, value| {
            name != "version" || !plain(value) || !sentences(value).is_empty()
        });
    }
    if let Some(meta) = kept.get_mut("_meta") {
        let texts = sentences(meta);
        let is_ours = |meta: &Value| {
            meta.as_object().is_some_and(|meta| meta.keys().all(|name| name == UNREACHABLE))
        };
        // Which of several servers are away differs from one greeting to the next.
        if texts.is_empty() && is_ours(meta) {
            kept.remove("_meta");
        } else {
            *meta = serde_json::json!(texts);
        }
    }
    let able = |name: &str| greeting.get("capabilities").and_then(|able| able.get(name)).cloned();
    kept.insert("experimental".to_owned(), able("experimental").unwrap_or_default());
    let texts = greeting.get("capabilities").map(sentences).unwrap_or_default();
    // Without such texts, the digest is that of earlier versions.
    if !texts.is_empty() {
        kept.insert("capabilities".to_owned(), serde_json::json!(texts));
    }
    Digest::of_json(&Value::Object(kept)).to_string()
}

/// The digest of a prompt or a resource.
pub(super) fn of_entry(entry: &Value) -> String {
    Digest::of_json(&serde_json::json!(members(entry))).to_string()
}

fn name(tool: &Value) -> String {
    tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn members(tool: &Value) -> BTreeMap<String, String> {
    let members = tool.as_object().into_iter().flatten();
    let digests = members.filter_map(|(member, value)| {
        let digest = match BESIDE.contains(&member.as_str()) {
            false => Digest::of_json(value),
            true => {
                let mut sentences = sentences(value);
                // Of several servers, each pins what it offers itself.
                let server = value.get(SERVER).and_then(Value::as_str);
                sentences.extend(server.map(|server| format!("of {server}")));
                (!sentences.is_empty()).then(|| Digest::of_json(&serde_json::json!(sentences)))?
            }
        };
        Some((member.clone(), digest.to_string()))
    });
    digests.collect()
}

/// The members of a tool that differ from the pin. Older pins have digests in form 1.
fn differing(then: &BTreeMap<String, String>, tool: &Value) -> Vec<String> {
    let now = members(tool);
    let in_form_1 = |name: &str| {
        let digest = Digest::of_json_in(tool.get(name)?, CanonicalForm::Rfc8785);
        digest.map(|digest| digest.to_string())
    };
    let mut names: Vec<&String> = then.keys().chain(now.keys()).collect();
    names.sort();
    names.dedup();
    let differs = |name: &&String| {
        let pinned = then.get(*name);
        pinned != now.get(*name) && (pinned.is_none() || pinned != in_form_1(name).as_ref())
    };
    names.into_iter().filter(differs).cloned().collect()
}
