//! Calls of tools that a model knows natively. They have members of their own instead of arguments.

use serde_json::Value;

use super::loose;
use super::members::{Members, is_nothing, only_text, place, text};
use super::reader::Parts;
use super::unreadable::{Read, Unreadable};

/// The members of native calls: those that are judged, and those that do nothing.
const OF_CALLS: [&str; 8] = [
    "call_id",
    "name",
    "action",
    "actions",
    "operation",
    "environment",
    "max_output_length",
    "pending_safety_checks",
];

/// Prefixes of events with a part of a native call.
const EVENTS: [&str; 2] =
    ["response.shell_call_command.", "response.apply_patch_call_operation_diff."];

/// Whether an event has a part of a native call.
pub(super) fn streams(kind: &str) -> bool {
    EVENTS.iter().any(|begin| kind.starts_with(begin))
}

/// Reads a native call. Other members may say what it does, too, and are not judged.
pub(super) fn read(item: &Members, parts: &mut Parts) -> Read {
    parts.within(item, &OF_CALLS)?;
    let known = |name: &str| OF_CALLS.contains(&name) || loose::is_beside(name);
    match item.iter().all(|(name, value)| known(name) || is_nothing(value)) {
        true => Ok(()),
        false => Err(Unreadable::LooseCall),
    }
}

/// The parts of a native call that are streamed before its final form.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    commands: Vec<String>,
    diff: Option<String>,
}

impl Streamed {
    /// Adds a part to a call of this kind.
    pub(super) fn add(&mut self, kind: &str, event: &Members, parts: &mut Parts) -> Read {
        let known = ["command", "command_index", "delta", "diff", "output_index", "item_id"];
        parts.within(event, &known)?;
        let step = text(event, "type").rsplit('.').next().unwrap_or_default();
        match kind {
            "shell_call" => self.command(step, event),
            "apply_patch_call" => self.patch(step, event),
            _ => Err(Unreadable::Call),
        }
    }

    fn command(&mut self, step: &str, event: &Members) -> Read {
        let at = place(event, "command_index")?.ok_or(Unreadable::Place)?;
        let whole = only_text(event, "command")?;
        if step == "added" && at == self.commands.len() {
            self.commands.push(whole.to_owned());
            return Ok(());
        }
        let command = self.commands.get_mut(at).ok_or(Unreadable::Place)?;
        match step {
            "delta" => command.push_str(only_text(event, "delta")?),
            "done" if command == whole => {}
            _ => return Err(Unreadable::Repeated),
        }
        Ok(())
    }

    fn patch(&mut self, step: &str, event: &Members) -> Read {
        let whole = only_text(event, "diff")?;
        match (step, &mut self.diff) {
            ("delta", diff) => {
                diff.get_or_insert_default().push_str(only_text(event, "delta")?);
            }
            ("done", None) => self.diff = Some(whole.to_owned()),
            ("done", Some(diff)) if diff == whole => {}
            _ => return Err(Unreadable::Repeated),
        }
        Ok(())
    }

    /// Whether the final call agrees with what was streamed.
    pub(super) fn ends_as(&self, item: &Members) -> bool {
        let member = |name: &str, inner: &str| item.get(name)?.get(inner);
        let commands = member("action", "commands").and_then(Value::as_array);
        let commands =
            commands.map(|all| all.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        let diff = member("operation", "diff").and_then(Value::as_str);
        (self.commands.is_empty() || commands.flatten().is_some_and(|all| all == self.commands))
            && self.diff.as_deref().is_none_or(|own| diff == Some(own))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_native_call_has_members_that_are_judged() {
        for (item, expected) in [
            (json!({ "type": "computer_call", "id": "c", "actions": [{ "type": "wait" }] }), true),
            (json!({ "type": "shell_call", "status": "completed", "action": {} }), true),
            (json!({ "type": "computer_call", "steps": [{ "x": 1 }] }), false),
            (json!({ "type": "shell_call", "command": "ls" }), false),
            (json!({ "type": "shell_call", "command": null }), true),
        ] {
            let read = read(item.as_object().unwrap(), &mut Parts::default());
            assert_eq!(read.is_ok(), expected, "{item}");
        }
    }
}
