//! A call that is held until a person decides, and the protocol through which it came.

use std::time::Instant;

use counterfoil_guard::Undecided;
use serde_json::Value;

use super::call::Call;
use super::members::Members;
use super::message::{self, CAPABILITIES, REVISION};

/// A call that is waiting for a person.
pub(super) struct Held {
    pub(super) wire: Wire,
    pub(super) since: Instant,
    /// The client's id for it.
    pub(super) id: String,
    pub(super) call: Box<Call>,
    pub(super) undecided: Undecided,
    /// The message for the server if the person agrees.
    pub(super) line: String,
}

impl Held {
    /// Whether its client is still waiting for it under this id.
    pub(super) fn is_of(&self, id: &str) -> bool {
        self.wire == Wire::Session && self.id == id
    }
}

/// The protocol through which a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// With a session: the client declared its capabilities once.
    Session,
    /// Without a session: each request declares its client's capabilities.
    Stateless {
        /// Whether the client can ask a person.
        elicits: bool,
    },
}

impl Wire {
    pub(super) fn new(params: &Members<'_>) -> Self {
        let meta = params.get("_meta").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Some(meta): Option<Value> = meta else { return Self::Session };
        match meta.get(REVISION) {
            Some(_) => {
                let able = meta.get(CAPABILITIES);
                Self::Stateless { elicits: able.is_some_and(elicits) }
            }
            None => Self::Session,
        }
    }

    /// Our result in the format of this protocol.
    pub(super) fn result(self, id: &str, mut result: Value) -> String {
        if let (Self::Stateless { .. }, Some(members)) = (self, result.as_object_mut()) {
            members.entry("resultType").or_insert_with(|| "complete".into());
        }
        message::result(id, &result)
    }
}

/// Whether a client with these capabilities can show a form to a person.
pub(super) fn elicits(capabilities: &Value) -> bool {
    let able = capabilities.get("elicitation").and_then(Value::as_object);
    able.is_some_and(|able| able.contains_key("form") || !able.contains_key("url"))
}
