//! Conversations in a form that nobody here knows: where the messages stand, and a `jq` program
//! that makes messages of OpenAI's form of them.

use serde_json::Value;

use crate::sketch;

/// Members that say who speaks, the surest first.
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

/// Members that hold what is said.
const SAID: [&str; 10] =
    ["content", "text", "message", "utterance", "value", "body", "msg", "data", "answer", "output"];

/// Names that agents and people go by in logs.
const ASSISTANTS: [&str; 8] =
    ["assistant", "bot", "agent", "ai", "model", "llm", "gpt", "system_response"];
const USERS: [&str; 6] = ["user", "human", "customer", "client", "person", "caller"];

/// How deep lists of messages are looked for.
const DEEPEST: usize = 4;

/// What makes messages of OpenAI's form out of a JSON text that seems to hold a conversation. Only
/// its beginning has to be there.
pub(crate) fn recipe(head: &str) -> Option<String> {
    let text = head.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let line = text.lines().next().unwrap_or_default();
    if let Ok(value) = serde_json::from_str::<Value>(line) {
        // One message a line, or one conversation a line.
        let found = find(&value, "", DEEPEST);
        return match found {
            Some(found) => Some(format!("jq -c '{}' FILE", found.program())),
            None => Message::of(&value).map(|message| {
                format!("jq -s -c '{{messages: [.[] | {}]}}' FILE", message.program())
            }),
        };
    }
    let value = serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&sketch::closed(text).unwrap_or_default()));
    let found = find(&value.ok()?, "", DEEPEST)?;
    Some(format!("jq -c '{}' FILE", found.program()))
}

/// A list of messages, and its place.
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

/// The members of a message that matter.
struct Message {
    speaker: String,
    said: String,
    /// How the agent is called, and the user.
    names: [Option<String>; 2],
}

impl Message {
    fn of(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let is_text = |name: &&&str| members.get(**name).is_some_and(Value::is_string);
        let speaker = SPEAKERS.iter().find(is_text)?;
        let said = SAID.iter().find(|name| is_text(name) && *name != speaker)?;
        Some(Self { speaker: (*speaker).to_owned(), said: (*said).to_owned(), names: [None, None] })
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
        format!("{{role: {role}, content: .{}}}", self.said)
    }
}

/// The first list of at least one message below a value.
fn find(value: &Value, place: &str, depth: usize) -> Option<Found> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Array(items) => {
            let first = items.iter().find_map(Message::of)?;
            // All of them are of one shape, or it is no conversation; the last may be cut off.
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
            // A list in which nobody sounds like an agent or a person is no conversation.
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
