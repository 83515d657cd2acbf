//! Tools for models that cannot be given any: they read about all of them in their instructions,
//! and write their calls into their text.

use counterfoil_model::{Tool, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::chat::{Reply, Request, Stop, Turn};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// The same request in plain text.
pub(crate) fn in_text(request: &Request) -> Request {
    let mut system = request.system.clone();
    if !request.tools.is_empty() {
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str(&instructions(&request.tools));
    }
    Request { system, turns: request.turns.iter().map(turn).collect(), tools: Vec::new() }
}

fn instructions(tools: &[Tool]) -> String {
    let mut text = format!(
        "You can call tools. To call one, write a line of its own in exactly this form, and then \
         stop and wait for its result:\n{OPEN}{{\"name\": \"TOOL\", \"arguments\": {{}}}}{CLOSE}\n\
         The result comes in the next message. Never write a result yourself.\n\nThe tools, each \
         with the JSON Schema of its arguments:"
    );
    for tool in tools {
        let schema = tool.parameters.as_ref().map_or_else(|| "{}".to_owned(), ToString::to_string);
        text.push_str(&format!("\n- {}: {}\n  {schema}", tool.name, tool.description));
    }
    text
}

fn turn(turn: &Turn) -> Turn {
    match turn {
        Turn::User(text) => Turn::User(text.clone()),
        Turn::Assistant { text, calls, .. } => {
            let mut said = text.clone();
            for call in calls {
                if !said.is_empty() {
                    said.push('\n');
                }
                let name = serde_json::Value::from(&*call.tool);
                let arguments = call.arguments.as_str();
                said.push_str(&format!(
                    "{OPEN}{{\"name\": {name}, \"arguments\": {arguments}}}{CLOSE}"
                ));
            }
            Turn::Assistant { text: said, calls: Vec::new(), kept: Vec::new() }
        }
        Turn::Result { call_id, text, failed } => {
            let state = if *failed { " (failed)" } else { "" };
            Turn::User(format!("Result of the call {call_id}{state}:\n{text}"))
        }
    }
}

#[derive(Deserialize)]
struct Written<'a> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// Takes the calls out of the text.
pub(crate) fn out_of_text(mut reply: Reply) -> Reply {
    let text = std::mem::take(&mut reply.text);
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let (inside, after) = behind.split_once(CLOSE).unwrap_or((behind, ""));
        reply.text.push_str(before);
        let id = format!("call_{}", reply.calls.len() + 1);
        reply.calls.push(match serde_json::from_str::<Written<'_>>(inside.trim()) {
            Ok(written) => {
                let arguments = written.arguments.map_or("{}", RawValue::get);
                ToolCall::new(id, written.name, arguments)
            }
            // It is refused as it stands, and the model reads why.
            Err(_) => ToolCall::new(id, String::new(), inside.trim()),
        });
        rest = after;
    }
    reply.text.push_str(rest);
    reply.text = reply.text.trim().to_owned();
    if !reply.calls.is_empty() {
        reply.stop = Stop::Calls;
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_taken_out_of_text() {
        let cases = [
            ("Nothing to do.", "Nothing to do.", vec![]),
            (
                "I look.\n<tool_call>{\"name\": \"ls\", \"arguments\": {\"n\": 1.50}}</tool_call>",
                "I look.",
                vec![("ls", "{\"n\": 1.50}")],
            ),
            (
                "<tool_call>{\"name\":\"a\"}</tool_call> and <tool_call>{\"name\":\"b\",\"arguments\":{}}",
                "and",
                vec![("a", "{}"), ("b", "{}")],
            ),
            ("<tool_call>ls -l</tool_call>", "", vec![("", "ls -l")]),
        ];
        for (text, left, calls) in cases {
            let reply = out_of_text(Reply { text: text.to_owned(), ..Reply::default() });
            let found: Vec<(&str, &str)> =
                reply.calls.iter().map(|call| (&*call.tool, call.arguments.as_str())).collect();
            assert_eq!((reply.text.as_str(), found), (left, calls), "{text}");
        }
    }

    #[test]
    fn a_conversation_reads_as_it_was_written() {
        let call = ToolCall::new("c1", "ls", "{\"n\": 1}");
        let request = Request {
            system: "Be brief.".to_owned(),
            turns: vec![
                Turn::Assistant { text: "Look:".to_owned(), calls: vec![call], kept: vec![] },
                Turn::Result { call_id: "c1".to_owned(), text: "a.txt".to_owned(), failed: false },
            ],
            tools: vec![Tool::named("ls")],
        };
        let plain = in_text(&request);
        assert!(plain.tools.is_empty());
        assert!(plain.system.starts_with("Be brief.\n\n") && plain.system.contains("- ls: "));
        let said = "Look:\n<tool_call>{\"name\": \"ls\", \"arguments\": {\"n\": 1}}</tool_call>";
        let Turn::Assistant { text, .. } = &plain.turns[0] else { panic!() };
        assert_eq!(text, said);
        assert_eq!(plain.turns[1], Turn::User("Result of the call c1:\na.txt".to_owned()));
    }
}
