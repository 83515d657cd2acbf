//! Tool use for models without tool support: the tools are described in the instructions, and the
//! model writes its calls into its text.

use counterfoil_model::{Tool, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::chat::{Reply, Request, Stop, Turn};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// The request as plain text, without tools.
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
            let mut content = text.clone();
            for call in calls {
                if !content.is_empty() {
                    content.push('\n');
                }
                let name = serde_json::Value::from(&*call.tool);
                let arguments = call.arguments.as_str();
                content.push_str(&format!(
                    "{OPEN}{{\"name\": {name}, \"arguments\": {arguments}}}{CLOSE}"
                ));
            }
            Turn::Assistant { text: content, calls: Vec::new(), kept: Vec::new() }
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

/// Moves calls out of the text if they begin a line or directly follow another call. Calls in
/// quoted text or reasoning are ignored.
pub(crate) fn out_of_text(mut reply: Reply) -> Reply {
    let text = std::mem::take(&mut reply.text);
    let mut rest = text.as_str();
    let mut quoting = Quoting::default();
    while !rest.is_empty() {
        if let Some((inside, after)) = call_at(rest).filter(|_| !quoting.is_open()) {
            reply.calls.push(read_call(reply.calls.len() + 1, inside.trim()));
            rest = after;
            continue;
        }
        let (line, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |end| end + 1));
        quoting.read(line);
        reply.text.push_str(line);
        rest = after;
    }
    reply.text = reply.text.trim().to_owned();
    if !reply.calls.is_empty() {
        reply.stop = Stop::Calls;
    }
    reply
}

/// The content of the call that a text begins with, and the text after it. Four leading spaces make
/// it a code block instead.
fn call_at(text: &str) -> Option<(&str, &str)> {
    let inside = text.trim_start_matches(' ');
    if text.len() - inside.len() > 3 {
        return None;
    }
    let inside = inside.strip_prefix(OPEN)?;
    Some(inside.split_once(CLOSE).unwrap_or((inside, "")))
}

fn read_call(number: usize, inside: &str) -> ToolCall {
    let id = format!("call_{number}");
    match serde_json::from_str::<Written<'_>>(inside) {
        Ok(written) => {
            let arguments = written.arguments.map_or("{}", RawValue::get);
            ToolCall::new(id, written.name, arguments)
        }
        // The call will be rejected, and the model will read why.
        Err(_) => ToolCall::new(id, String::new(), inside),
    }
}

/// The block that is open above a line: a code fence, reasoning, or a code tag.
#[derive(Default)]
struct Quoting<'t> {
    fence: Option<&'t str>,
    tag: Option<&'static str>,
}

impl<'t> Quoting<'t> {
    fn is_open(&self) -> bool {
        self.fence.is_some() || self.tag.is_some()
    }

    fn read(&mut self, line: &'t str) {
        let line = line.trim();
        if let Some(fence) = self.fence {
            let rest = line.strip_prefix(fence).map(|rest| rest.trim_start_matches(['`', '~']));
            self.fence = if rest == Some("") { None } else { Some(fence) };
            return;
        }
        if self.tag.is_none() {
            let marks = line.chars().take_while(|c| line.starts_with(*c)).count();
            let fence = line.get(..marks).filter(|_| marks >= 3 && line.starts_with(['`', '~']));
            self.fence = fence.filter(|_| !line.trim_start_matches(['`', '~']).contains('`'));
        }
        for tag in ["think", "pre", "code"] {
            let (opens, closes) = (format!("<{tag}>"), format!("</{tag}>"));
            match (line.rfind(&opens), line.rfind(&closes)) {
                (opened, Some(closed)) if opened.is_none_or(|opened| opened < closed) => {
                    self.tag = self.tag.filter(|open| *open != tag);
                }
                (Some(_), _) => self.tag = Some(tag),
                _ => {}
            }
        }
    }
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
                "<tool_call>{\"name\":\"a\"}</tool_call> <tool_call>{\"name\":\"b\",\"arguments\":{}}",
                "",
                vec![("a", "{}"), ("b", "{}")],
            ),
            ("<tool_call>ls -l</tool_call>", "", vec![("", "ls -l")]),
            (
                "```sh\nls\n```\n<think>no</think>\n<tool_call>{\"name\":\"a\"}</tool_call>",
                "```sh\nls\n```\n<think>no</think>",
                vec![("a", "{}")],
            ),
        ];
        for (text, left, calls) in cases {
            let reply = out_of_text(Reply { text: text.to_owned(), ..Reply::default() });
            let found: Vec<(&str, &str)> =
                reply.calls.iter().map(|call| (&*call.tool, call.arguments.as_str())).collect();
            assert_eq!((reply.text.as_str(), found), (left, calls), "{text}");
        }
    }

    #[test]
    fn what_is_quoted_calls_nothing() {
        const CALL: &str = "<tool_call>{\"name\": \"rm\", \"arguments\": {}}</tool_call>";
        for quoted in [
            "Write `CALL` to call one.",
            "Write CALL to call one.",
            "They look so: CALL",
            "```\nCALL\n```",
            "```xml\nCALL\n```\nDone.",
            "~~~\nCALL\n~~~",
            "````\n```\nCALL\n```\n````",
            "    CALL",
            "> CALL",
            "- CALL",
            "\"CALL\"",
            "<pre>\nCALL\n</pre>",
            "<think>\nPerhaps\nCALL\n</think>\nNo.",
            "A mark that nobody closes: <tool_call> is how they begin.",
        ] {
            let text = quoted.replace("CALL", CALL);
            let reply = out_of_text(Reply { text: text.clone(), ..Reply::default() });
            assert!(reply.calls.is_empty(), "{text}");
            assert_eq!(reply.text, text.trim());
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
        let expected =
            "Look:\n<tool_call>{\"name\": \"ls\", \"arguments\": {\"n\": 1}}</tool_call>";
        let Turn::Assistant { text, .. } = &plain.turns[0] else { panic!() };
        assert_eq!(text, expected);
        assert_eq!(plain.turns[1], Turn::User("Result of the call c1:\na.txt".to_owned()));
    }
}
