//! The pins of several servers as one: each server is pinned on its own, so that one that is away
//! loses nothing, and one that comes later is seen for the first time then.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lists::List;
use super::pins::{GreetingChange, PinStore, Pins, PinsError, ToolChange};
use crate::upstream::{NamedServer, Servers};

/// Returns the store for the pins of one server.
pub type StoreOf = Box<dyn Fn(&NamedServer) -> Box<dyn PinStore> + Send + Sync>;

/// The member of a greeting's `_meta` with which several servers as one tell the gateway what each of
/// them said. It does not reach the client.
pub(crate) const GREETINGS: &str = "counterfoil/said_by";

/// The servers that are pinned on their own.
pub(super) struct PinnedServers {
    servers: Servers,
    store_of: StoreOf,
}

impl Pins {
    /// The pins of several servers as one, each of which has its own store.
    #[must_use]
    pub fn of_servers(servers: Servers, store_of: StoreOf) -> Self {
        Self::in_several(PinnedServers { servers, store_of })
    }

    /// Whether nothing is pinned yet.
    ///
    /// # Errors
    /// When the pins cannot be read.
    pub fn are_empty(&self) -> Result<bool, PinsError> {
        let Some(several) = self.several() else { return self.is_unwritten() };
        for server in several.servers.now().iter() {
            if !several.pins(server).is_unwritten()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Pins these tools and the texts of this greeting, replacing all earlier pins; the prompts and
    /// resources that come next are pinned, too. Of several servers, those that are `away` keep
    /// their pins.
    ///
    /// # Errors
    /// When the pins cannot be written.
    pub fn accept_offer(
        &self,
        tools: &[Value],
        greeting: &Value,
        away: &[String],
    ) -> Result<(), PinsError> {
        let Some(several) = self.several() else {
            self.accept_own(tools)?;
            return self.accept_greeting(greeting);
        };
        several.accept(tools, away)?;
        for (name, part) in greetings_by_server(greeting).filter(|(name, _)| !away.contains(name)) {
            several.named(name).map_or(Ok(()), |pins| pins.accept_greeting(part))?;
        }
        Ok(())
    }
}

impl PinnedServers {
    /// Compares each server's tools with its own pins; those of a server that is seen for the first
    /// time are pinned.
    pub(super) fn compare(&self, tools: &[Value]) -> Result<Vec<ToolChange>, PinsError> {
        let mut changes = Vec::new();
        for (name, tools) in by_server(tools) {
            match self.named(name) {
                Some(pins) => changes.extend(pins.compare_own(&tools)?),
                None => changes.extend(tools.iter().map(ToolChange::new_tool)),
            }
        }
        Ok(changes)
    }

    pub(super) fn accept(&self, tools: &[Value], away: &[String]) -> Result<(), PinsError> {
        let by_server = by_server(tools);
        for server in self.servers.now().iter().filter(|server| !away.contains(&server.name)) {
            let own = by_server.get(server.name.as_str()).map(Vec::as_slice).unwrap_or_default();
            self.pins(server).accept_own(own)?;
        }
        Ok(())
    }

    /// Compares what each server said with its own pins.
    pub(super) fn greeting_changes(
        &self,
        greeting: &Value,
    ) -> Result<Vec<GreetingChange>, PinsError> {
        let mut changes = Vec::new();
        for (name, part) in greetings_by_server(greeting) {
            let Some(pins) = self.named(name) else { continue };
            let own = pins.greeting_changes(part)?.into_iter();
            changes.extend(own.map(|own| GreetingChange { server: Some(name.clone()), ..own }));
        }
        Ok(changes)
    }

    /// The pinned entries of the servers with such a name.
    pub(super) fn described(
        &self,
        list: List,
        which: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, String>, PinsError> {
        let mut all = BTreeMap::new();
        for server in self.servers.now().iter().filter(|server| which(&server.name)) {
            all.extend(self.pins(server).described(list)?.unwrap_or_default());
        }
        Ok(all)
    }

    /// The pins of the server with this name.
    pub(super) fn named(&self, name: &str) -> Option<Pins> {
        let servers = self.servers.now();
        servers.iter().find(|server| server.name == name).map(|server| self.pins(server))
    }

    fn pins(&self, server: &NamedServer) -> Pins {
        Pins::in_store((self.store_of)(server))
    }
}

/// What each of several servers said in their common greeting.
pub(super) fn greetings_by_server(greeting: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let parts = greeting.get("_meta").and_then(|meta| meta.get(GREETINGS)?.as_object());
    parts.into_iter().flatten()
}

/// The instructions of such servers in one text.
pub(crate) fn joined_instructions(
    greetings: &Map<String, Value>,
    which: impl Fn(&str) -> bool,
) -> Option<String> {
    let texts = greetings.iter().filter(|(name, _)| which(name)).filter_map(|(name, greeting)| {
        let text = greeting.get("instructions")?.as_str()?;
        Some(format!("# {name}\n\n{text}"))
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The tools by the name of their server, which their names begin with.
fn by_server(tools: &[Value]) -> BTreeMap<&str, Vec<Value>> {
    let mut found: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for tool in tools {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let server = name.split_once("__").map_or("", |(server, _)| server);
        found.entry(server).or_default().push(tool.clone());
    }
    found
}
