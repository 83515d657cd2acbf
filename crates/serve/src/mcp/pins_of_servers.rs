//! The pins of several servers as one: each server's tools are pinned on their own, so that one that
//! is away loses nothing, and one that comes later is seen for the first time then.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pins::{PinStore, Pins, PinsError, ToolChange};
use crate::upstream::{NamedServer, Servers};

/// Returns the store for the pins of one server.
pub type StoreOf = Box<dyn Fn(&NamedServer) -> Box<dyn PinStore> + Send + Sync>;

/// The servers whose tools are pinned on their own.
pub(super) struct PinnedServers {
    servers: Servers,
    store_of: StoreOf,
}

impl Pins {
    /// The pins of several servers as one. Each server's tools have their own store; everything
    /// else is in `shared`.
    #[must_use]
    pub fn of_servers(shared: Box<dyn PinStore>, servers: Servers, store_of: StoreOf) -> Self {
        Self::with_servers(shared, Some(PinnedServers { servers, store_of }))
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
        self.is_unwritten()
    }

    /// Like [`Pins::accept`]. Of several servers, those that are `away` keep their pins.
    ///
    /// # Errors
    /// When the pins cannot be written.
    pub fn accept_from(&self, tools: &[Value], away: &[String]) -> Result<(), PinsError> {
        let Some(several) = self.several() else { return self.accept_own(tools) };
        let by_server = by_server(tools);
        for server in several.servers.now().iter().filter(|server| !away.contains(&server.name)) {
            let own = by_server.get(server.name.as_str()).map(Vec::as_slice).unwrap_or_default();
            several.pins(server).accept_own(own)?;
        }
        Ok(())
    }
}

impl PinnedServers {
    /// Compares each server's tools with its own pins; those of a server that is seen for the first
    /// time are pinned.
    pub(super) fn compare(&self, tools: &[Value]) -> Result<Vec<ToolChange>, PinsError> {
        let servers = self.servers.now();
        let mut changes = Vec::new();
        for (name, tools) in by_server(tools) {
            match servers.iter().find(|server| server.name == name) {
                Some(server) => changes.extend(self.pins(server).compare_own(&tools)?),
                None => changes.extend(tools.iter().map(ToolChange::new_tool)),
            }
        }
        Ok(changes)
    }

    fn pins(&self, server: &NamedServer) -> Pins {
        Pins::in_store((self.store_of)(server))
    }
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
