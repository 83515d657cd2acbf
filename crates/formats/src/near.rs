//! Conversations in an unknown format: finds the messages, and suggests a `jq` program that
//! converts them to OpenAI chat messages.

use serde_json::Value;

use crate::sketch;

/// Members that name the speaker, most reliable first.
const SPEAKERS: [&str; 11] = [
    "role",
    "speaker",
    "sender",
    "from",
    "author",
    "actor",
    "participant",
    "who",
    "source",
    "party",
    "type",
];

/// Members that hold the text of a message.
const TEXTS: [&str; 10] =
    ["content", "text", "message", "utterance", "value", "body", "msg", "data", "answer", "output"];

/// Names of agents and people in logs.
const ASSISTANTS: [&str; 8] =
    ["assistant", "bot", "agent", "ai", "model", "llm", "gpt", "system_response"];
const USERS: [&str; 6] = ["user", "human", "customer", "client", "person", "caller"];

/// How deeply lists of messages are searched for.
const DEEPEST: usize = 4;

/// A `jq` command that converts a JSON text to OpenAI chat messages, if the text seems to hold a
/// conversation. Only its beginning is needed.
pub(crate) fn recipe(head: &str) -> Option<String> {
    let text = head.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let line = text.lines().next().unwrap_or_default();
    if let Ok(value) = serde_json::from_str::<Value>(line) {
        // One message per line, or one conversation per line.
        let found = find(&value, "", DEEPEST);
        return match found {
            Some(found) => Some(format!("jq -c '{}' FILE", found.program())),
            None => Message::from_value(&value).map(|message| {
                format!("jq -s -c '{{messages: [.[] | {}]}}' FILE", message.program())
            }),
        };
    }
    let value = serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&sketch::closed(text).unwrap_or_default()));
    let found = find(&value.ok()?, "", DEEPEST)?;
    Some(format!("jq -c '{}' FILE", found.program()))
}

/// A list of messages, and its path.
struct Found {
    place: String,
    message: Message,
}

impl Found {
    fn program(&self) -> String {
        let place = if self.place.is_empty() { "." } else { &self.place };
        let dots = if place == "." { ".[]".to_owned() } else { format!("{place}[]") };
        format!("{{messages: [{dots} | {}]}}", self.message.program())
    }
}

/// The relevant members of a message.
struct Message {
    speaker: String,
    text: String,
    /// The names used for the agent and the user.
    names: [Option<String>; 2],
}

impl Message {
    fn from_value(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let is_text = |name: &&&str| members.get(**name).is_some_and(Value::is_string);
        let speaker = SPEAKERS.iter().find(is_text)?;
        let text = TEXTS.iter().find(|name| is_text(name) && *name != speaker)?;
        Some(Self { speaker: (*speaker).to_owned(), text: (*text).to_owned(), names: [None, None] })
    }

    fn program(&self) -> String {
        let mut role = format!(".{}", self.speaker);
        let [assistant, user] = &self.names;
        let tests = [(assistant, "assistant"), (user, "user")];
        let renamed = tests.iter().filter_map(|(name, role)| Some((name.as_ref()?, *role)));
        let renamed: Vec<(&String, &str)> = renamed.filter(|(name, role)| *name != role).collect();
        if !renamed.is_empty() {
            let cases = renamed.iter().map(|(name, role)| {
                format!("if . == {} then \"{role}\" else ", Value::from(name.as_str()))
            });
            let ends = " end".repeat(renamed.len());
            role = format!("(.{} | {}.{ends})", self.speaker, cases.collect::<String>());
        }
        format!("{{role: {role}, content: .{}}}", self.text)
    }
}

/// The first list below a value that contains at least one message.
fn find(value: &Value, place: &str, depth: usize) -> Option<Found> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Array(items) => {
            let first = items.iter().find_map(Message::from_value)?;
            // All elements must have the same shape, except the last, which may be cut off.
            let alike = |item: &Value| item.get(&first.speaker).is_some_and(Value::is_string);
            if !items.iter().rev().skip(1).all(alike) {
                return None;
            }
            let names: Vec<&str> =
                items.iter().filter_map(|item| item.get(&first.speaker)?.as_str()).collect();
            let called = |known: &[&str]| {
                let is = |name: &&&str| known.contains(&name.to_ascii_lowercase().as_str());
                names.iter().find(is).map(|name| (*name).to_owned())
            };
            let names = [called(&ASSISTANTS), called(&USERS)];
            // It is only a conversation if some speaker is named like an agent or a person.
            names
                .iter()
                .any(Option::is_some)
                .then(|| Found { place: place.to_owned(), message: Message { names, ..first } })
        }
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit());
            let step =
                if plain { format!(".{name}") } else { format!(".{}", Value::from(name.as_str())) };
            find(value, &format!("{place}{step}"), depth)
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes() {
        for (text, expected) in [
            (
                r#"{"conversation_log":[{"speaker":"customer","utterance":"Hi."},{"speaker":"bot","utterance":"Done."}]}"#,
                Some(
                    r#"jq -c '{messages: [.conversation_log[] | {role: (.speaker | if . == "bot" then "assistant" else if . == "customer" then "user" else . end end), content: .utterance}]}' FILE"#,
                ),
            ),
            (
                "{\"who\":\"user\",\"text\":\"Hi.\"}\n{\"who\":\"assistant\",\"text\":\"Done.\"}",
                Some("jq -s -c '{messages: [.[] | {role: .who, content: .text}]}' FILE"),
            ),
            (
                "{\n \"a-b\": {\"turns\": [\n {\"from\": \"user\", \"body\": \"Hi.\"},\n {\"from\": \"assis",
                Some(
                    r#"jq -c '{messages: [."a-b".turns[] | {role: .from, content: .body}]}' FILE"#,
                ),
            ),
            (r#"{"rows":[{"type":"click","value":"7"}]}"#, None),
            (r#"{"name":"x"}"#, None),
            ("Hello", None),
        ] {
            assert_eq!(recipe(text).as_deref(), expected, "{text}");
        }
    }
}
