//! Cleans a server's messages before they reach the client: removes execution ids, which only we
//! assign, and secrets if so configured.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use counterfoil_formats::mended_json;
use counterfoil_guard::Redactor;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::gateway::Gateway;
use super::members::{Members, written};
use super::message::{EXECUTION_ID, Message};

/// Top-level members that only the server reads again, so they stay verbatim.
const OPAQUE: [&str; 3] = ["requestState", "nextCursor", "progressToken"];

impl Gateway {
    /// The server's message for the client, without forged ids and, if so configured, secrets.
    pub(super) fn without_secrets(&self, message: &Message<'_>, text: &str) -> String {
        self.cleaned_message(message, text, self.redacts)
    }

    /// A message that defines what the server offers, without forged ids. Secrets are not redacted,
    /// because examples may look like secrets.
    pub(super) fn without_forged_ids(&self, message: &Message<'_>, text: &str) -> String {
        self.cleaned_message(message, text, false)
    }

    fn cleaned_message(&self, message: &Message<'_>, text: &str, redacts: bool) -> String {
        match self.cleaned_members(message, ("", ""), redacts) {
            (members, true) => members,
            (_, false) => text.to_owned(),
        }
    }

    /// The server's message with one member replaced by the given value, and the others cleaned.
    pub(super) fn cleaned_with(&self, message: &Message<'_>, name: &str, value: &str) -> String {
        self.cleaned_members(message, (name, value), self.redacts).0
    }

    /// The message, and whether any of the other members changed.
    fn cleaned_members(
        &self,
        message: &Message<'_>,
        (given, value): (&str, &str),
        redacts: bool,
    ) -> (String, bool) {
        let mut changed = false;
        let members = message.members.0.iter().map(|(name, raw)| {
            let cleaned = match name.as_str() {
                "jsonrpc" | "id" | "method" => None,
                name if name == given => Some(value.to_owned()),
                _ => self.cleaned(raw.get(), redacts),
            };
            changed |= cleaned.is_some();
            (name.as_str(), cleaned.map_or(Cow::Borrowed(raw.get()), Cow::Owned))
        });
        let members: Vec<(&str, Cow<'_, str>)> = members.collect();
        (written(members.iter().map(|(name, value)| (*name, value.as_ref()))), changed)
    }

    /// The JSON text without forged ids and, if requested, secrets; `None` if unchanged. Text that
    /// only a lenient reader accepts is replaced by what was read.
    pub(super) fn cleaned(&self, raw: &str, redacts: bool) -> Option<String> {
        if !redacts && !may_hold_ids(raw) {
            return None;
        }
        let mended;
        let (text, before) = match serde_json::from_str::<Value>(raw) {
            Ok(value) => (raw, value),
            Err(_) => {
                mended = mended_json(raw);
                match serde_json::from_str(&mended) {
                    Ok(value) => (mended.as_str(), value),
                    // Text that cannot be checked must not pass.
                    Err(_) => return Some("null".to_owned()),
                }
            }
        };
        let mut after = before.clone();
        if redacts {
            let redactor = self.guard.redactor();
            after = redactor.redact_value(&before);
            restore(redactor, &before, &mut after, 0);
        }
        remove_ids(&mut after);
        match (before == after, text == raw) {
            (true, true) => None,
            (true, false) => Some(text.to_owned()),
            (false, _) => Some(spliced(text, &before, &after)),
        }
    }
}

/// The name may contain escapes.
fn may_hold_ids(raw: &str) -> bool {
    raw.contains("execution_id") || raw.contains("\\u00")
}

fn remove_ids(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_ids),
        Value::Object(members) => {
            members.remove(EXECUTION_ID);
            members.values_mut().for_each(remove_ids);
        }
        _ => {}
    }
}

/// Restores values that are not text for people: images, audio, and what only the server reads.
/// Base64 data that contains text is redacted as text.
fn restore(redactor: &Redactor, before: &Value, after: &mut Value, depth: usize) {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            let both = before.iter().zip(after.iter_mut());
            both.for_each(|(before, after)| restore(redactor, before, after, depth + 1));
        }
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                let Some(after) = after.get_mut(name) else { continue };
                match value {
                    Value::String(_) if depth == 0 && OPAQUE.contains(&name.as_str()) => {
                        *after = value.clone();
                    }
                    Value::String(text) if is_data(name, before) => {
                        *after = Value::String(data(redactor, text));
                    }
                    _ => restore(redactor, value, after, depth + 1),
                }
            }
        }
        _ => {}
    }
}

/// Whether a member contains base64 data.
fn is_data(name: &str, members: &Map<String, Value>) -> bool {
    let kind = members.get("type").and_then(Value::as_str);
    name == "blob" || name == "data" && matches!(kind, Some("image" | "audio"))
}

/// Base64 data, without the secrets of any text in it.
fn data(redactor: &Redactor, text: &str) -> String {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, config);
    let compact: String = text.split_whitespace().collect();
    // Invalid base64 is treated as text.
    let Ok(bytes) = engine.decode(&compact) else { return redactor.redact(text).into_owned() };
    let Ok(decoded) = String::from_utf8(bytes) else { return text.to_owned() };
    let left = redactor.redact(&decoded);
    if left == decoded { text.to_owned() } else { engine.encode(left.as_bytes()) }
}

/// The text with the differences between two versions applied; everything else stays verbatim.
fn spliced(text: &str, before: &Value, after: &Value) -> String {
    if before == after {
        return text.to_owned();
    }
    let whole = || after.to_string();
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let Ok(members) = serde_json::from_str::<Members<'_>>(text) else { return whole() };
            if !after.keys().all(|name| before.contains_key(name)) {
                return whole();
            }
            let left = members.0.iter().filter_map(|(name, raw)| {
                let value = spliced(raw.get(), before.get(name)?, after.get(name)?);
                Some((name.as_str(), value))
            });
            let left: Vec<(&str, String)> = left.collect();
            written(left.iter().map(|(name, value)| (*name, value.as_str())))
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else { return whole() };
            let items = items.iter().zip(before.iter().zip(after));
            let items = items.map(|(raw, (before, after))| spliced(raw.get(), before, after));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        _ => whole(),
    }
}
