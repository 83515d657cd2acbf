//! Judges the calls of an answer before the client sees them.

use counterfoil_guard::{
    Asking, CallError, HostedCall, Judged, Listed, Reason, Surroundings, without_hidden,
};
use counterfoil_model::{Message, Origin, ToolCall};
use serde_json::Value;

use crate::sessions::Seen;
use crate::shown::Shown;
use crate::spoken::{self, Spoken};

/// The verdict on the calls of an answer.
#[derive(Debug, Default)]
pub(crate) struct CallsJudged {
    /// The calls that are passed on, as the client gets them.
    pub(crate) passed: Vec<ToolCall>,
    /// The calls that are refused, with the message for the model.
    pub(crate) refused: Vec<RefusedCall>,
    /// Notes for the operator: that the model repeats itself, or that a call contains a secret.
    pub(crate) notes: Vec<String>,
    /// Whether the calls differ from what the model wrote, because its thoughts were removed.
    pub(crate) stripped: bool,
}

/// A refused call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RefusedCall {
    pub(crate) call: ToolCall,
    pub(crate) why: String,
    /// Whether a rule of the operator denies it. Otherwise, it does not fit its tool.
    pub(crate) denied: bool,
}

/// Checks the calls of an answer against the tools of its request and the gates.
pub(crate) async fn judge(
    seen: &Seen,
    shown: &Shown,
    answer: &[Message],
    asking: Asking,
) -> Result<CallsJudged, CallError> {
    let mut judged = CallsJudged::default();
    // Calls that the server ran itself come first, with their results.
    let calls = answer.last().into_iter().flat_map(|message| &message.calls);
    for call in calls {
        let visible = without_hidden(call.clone());
        judged.stripped |= visible.arguments != call.arguments;
        if judged.passed.iter().any(|other| !call.id.is_empty() && other.id == call.id) {
            let why = "another call in this answer has the same id".to_owned();
            judged.refused.push(RefusedCall { call: visible, why, denied: false });
            continue;
        }
        let (objection, notes) = one(seen, shown, call, asking).await?;
        judged.notes.extend(notes.into_iter().map(|note| format!("`{}`: {note}", visible.tool)));
        match objection {
            None => judged.passed.push(visible),
            Some((why, denied)) => {
                judged.refused.push(RefusedCall { call: visible, why, denied });
            }
        }
    }
    Ok(judged)
}

/// Returns why a call is refused and whether a rule of the operator denies it, and notes about it.
async fn one(
    seen: &Seen,
    shown: &Shown,
    call: &ToolCall,
    asking: Asking,
) -> Result<(Option<(String, bool)>, Vec<String>), CallError> {
    let around = Surroundings::default();
    // Tools that a model knows natively are declared by the client by their kind.
    let of_models = OF_MODELS.contains(&call.tool.as_str()) && shown.declares(&call.tool);
    let command = of_models.then(|| as_command(call));
    if shown.has_unknown_tools || command.is_some() {
        let call = command.unwrap_or_else(|| call.clone());
        let hosted = HostedCall::of_unknown(call, Origin::External);
        let before = seen.session.before(&hosted, &around, asking).await?;
        return Ok((denied(&before.judged), before.notes));
    }
    let listed = seen.session.before_listed(call.clone(), &shown.tools, &around, asking).await?;
    Ok(match listed {
        // The client knows a tool only under its exact name.
        Listed::Judged(hosted, before) if hosted.tool.name != call.tool => {
            let why =
                format!("there is no tool `{}`; did you mean `{}`?", call.tool, hosted.tool.name);
            (denied(&before.judged).or(Some((why, false))), before.notes)
        }
        Listed::Refused(answer, _) => (Some((answer.text, false)), Vec::new()),
        Listed::Judged(_, before) => (denied(&before.judged), before.notes),
    })
}

/// Why the calls written in a text may not be passed on: its client may read and make them, and
/// they cannot be removed.
pub(crate) async fn spoken(
    seen: &Seen,
    shown: &Shown,
    text: &str,
) -> Result<Option<String>, CallError> {
    let tools: Vec<&str> = shown.transcript.catalog.iter().map(|tool| tool.name.as_str()).collect();
    for Spoken { tool, call, is_data } in spoken::calls(text, &tools) {
        let Some(call) = call else {
            return Ok(Some(format!(
                "the answer's text contains a call to `{tool}` that cannot be read"
            )));
        };
        // The call has no id, so no receipt is opened.
        let (objection, _) = one(seen, shown, &call, Asking::Unattended).await?;
        // Rules did not see a call that is rejected, and a client may make it all the same.
        let why = match objection {
            Some((why, true)) => why,
            Some(_) if !is_data => "it does not match the tool's definition".to_owned(),
            _ => continue,
        };
        return Ok(Some(format!(
            "the answer's text contains a call to `{tool}` that must not run: {why}"
        )));
    }
    Ok(None)
}

/// Tools that models know natively, without a schema.
const OF_MODELS: [&str; 4] = ["local_shell", "shell", "computer", "apply_patch"];

/// Converts a native shell call to the form that gates read, with its command as a single text that
/// also goes to its folder and sets its variables. Other calls stay unchanged.
fn as_command(call: &ToolCall) -> ToolCall {
    // The guard denies unreadable arguments.
    let Ok(mut arguments) = call.arguments.parse() else { return call.clone() };
    let words = ["command", "commands"].iter().find_map(|name| arguments.get(*name));
    let Some(Value::Array(words)) = words else { return call.clone() };
    // A word may be a JSON number; a shell reads it as text.
    let words: Vec<String> = words.iter().map(word).collect();
    // `bash -lc COMMAND` is the command; a list of commands is run in order.
    let command = match words.as_slice() {
        [_, flag, command] if flag.starts_with('-') && flag.ends_with('c') => command.clone(),
        words if arguments.get("commands").is_some() => words.join("\n"),
        [command] => command.clone(),
        words => as_arguments(words),
    };
    let command = format!("{}{command}", surroundings(&arguments));
    if let Some(members) = arguments.as_object_mut() {
        members.remove("commands");
        members.insert("command".to_owned(), Value::String(command));
    }
    ToolCall::new(&call.id, &call.tool, arguments.to_string())
}

/// The commands that do what a native shell call asks for beside its command.
fn surroundings(arguments: &Value) -> String {
    let mut lines = String::new();
    let folder = arguments.get("working_directory").and_then(Value::as_str).unwrap_or_default();
    if !folder.is_empty() {
        lines.push_str(&format!("cd {}\n", quoted(folder)));
    }
    let variables = arguments.get("env").and_then(Value::as_object);
    for (name, value) in variables.into_iter().flatten() {
        lines.push_str(&format!("export {}\n", quoted(&format!("{name}={}", word(value)))));
    }
    lines
}

/// The command of a list of words, each of which its program gets as it is. If some are wildcards or
/// operators, a second line has them bare, because some clients run the list in a shell.
fn as_arguments(words: &[String]) -> String {
    let splits = |c: char| c.is_whitespace() || "#'\"\\`<()".contains(c);
    let special = |c: char| !(c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c));
    let written = |is_quoted: &dyn Fn(&str) -> bool| {
        let word = |word: &String| match word.is_empty() || is_quoted(word) {
            true => quoted(word),
            false => word.clone(),
        };
        words.iter().map(word).collect::<Vec<_>>().join(" ")
    };
    let plain = written(&|word| word.contains(special));
    let bare = written(&|word| word.contains(splits));
    if plain == bare { plain } else { format!("{plain}\n{bare}") }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn denied(judged: &Judged) -> Option<(String, bool)> {
    let Judged::Denied(reasons) = judged else { return None };
    let text_of = |reason: &Reason| match &reason.help {
        Some(help) => format!("{} ({help})", reason.message),
        None => reason.message.clone(),
    };
    Some((reasons.iter().map(text_of).collect::<Vec<_>>().join("; "), true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_native_shell_call_is_one_command() {
        for (arguments, expected) in [
            (json!({ "command": ["bash", "-lc", "ls"], "env": {} }), "ls"),
            (json!({ "commands": ["ls", "pwd"] }), "ls\npwd"),
            (
                json!({ "command": ["cat", "shadow"], "working_directory": "/etc" }),
                "cd '/etc'\ncat shadow",
            ),
            (
                json!({ "command": ["./migrate"], "env": { "DB": "it's" }, "working_directory": null }),
                "export 'DB=it'\\''s'\n./migrate",
            ),
            (
                json!({ "command": ["ls", "x"], "env": { "X <<'E'": "1" } }),
                "export 'X <<'\\''E'\\''=1'\nls x",
            ),
            (
                json!({ "command": ["find", "#", "/", "-name", "*.o", "-delete"] }),
                "find '#' / -name '*.o' -delete\nfind '#' / -name *.o -delete",
            ),
            (
                json!({ "command": ["find", ";", "/", "-delete"] }),
                "find ';' / -delete\nfind ; / -delete",
            ),
            (json!({ "command": ["git", "commit", "-m", "a; b"] }), "git commit -m 'a; b'"),
        ] {
            let call = as_command(&ToolCall::new("c", "local_shell", arguments.to_string()));
            let read = call.arguments.parse().unwrap();
            assert_eq!(read["command"], expected, "{arguments}");
            for name in ["env", "working_directory"] {
                assert_eq!(read.get(name), arguments.get(name), "{arguments}");
            }
        }
    }
}
