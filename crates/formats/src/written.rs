//! Calls that an agent writes into its texts, and results that its harness returns in the user's
//! place. A result counts only directly after a call of its kind; a result written by the agent
//! itself never counts.

use counterfoil_model::{Arguments, Format, Message, Outcome, Role, ToolCall};
use serde_json::{Map, Value};

use crate::fields::{self, Fields};

/// Whether harnesses with this log format return results as text. The other formats have fields for
/// calls and results, and their texts contain neither.
fn tells_results_as_text(format: Format) -> bool {
    matches!(format, Format::OpenaiChat | Format::Anthropic | Format::Sharegpt)
}

/// Reads calls and results from texts. Returns the position of the first message with a result that
/// no call explains.
pub(crate) fn read_written(format: Format, messages: &mut [Message]) -> Option<usize> {
    if !tells_results_as_text(format) {
        return messages.iter().position(|message| results_of(message).is_some());
    }
    let mut unread = None;
    let mut count = 0;
    for at in 0..messages.len() {
        let Some((before, rest)) = messages.split_at_mut_checked(at) else { continue };
        let Some(message) = rest.first_mut() else { continue };
        let Some(results) = results_of(message) else { continue };
        let request = before.last_mut().filter(|request| request.role == Role::Assistant);
        let calls =
            request.as_ref().map(|request| calls_of(&request.text, &results)).unwrap_or_default();
        let (Some(request), true) = (request, calls.len() == results.len()) else {
            unread = unread.or(Some(at));
            continue;
        };
        let (line, request_line) = (message.line, request.line);
        message.role = Role::Tool;
        message.text.clear();
        message.outcomes.clear();
        for ((tool, arguments), result) in calls.into_iter().zip(results) {
            count += 1;
            let id = format!("written-{count}");
            request.calls.push(ToolCall { id: id.clone(), tool, arguments, line: request_line });
            let text = result.text;
            message.outcomes.push(Outcome { call_id: id, text, line, ..Outcome::default() });
        }
    }
    unread
}

/// A result found in text, and the tool it names.
struct FoundResult {
    tool: Option<String>,
    text: String,
}

/// Finds the results in a message: `<tool_response>…</tool_response>`, `<function_results>…`, or
/// `[tool for '…'] Result:` followed by the result.
fn results_of(message: &Message) -> Option<Vec<FoundResult>> {
    let text = match (message.role, message.outcomes.as_slice()) {
        (Role::User, []) => message.text.trim_start(),
        (Role::Tool, [only]) if only.call_id.is_empty() => only.text.trim_start(),
        _ => return None,
    };
    if text.starts_with("<tool_response>") {
        let found = tagged(text, "tool_response").map(|text| FoundResult { tool: None, text });
        return Some(found.collect());
    }
    if text.starts_with("<function_results>") {
        return Some(Vec::new());
    }
    let mut found: Vec<FoundResult> = Vec::new();
    for line in text.lines() {
        match (heading(line), found.last_mut()) {
            (Some((tool, rest)), _) => {
                found.push(FoundResult { tool: Some(tool), text: rest.trim_start().to_owned() });
            }
            (None, Some(last)) => {
                if !last.text.is_empty() {
                    last.text.push('\n');
                }
                last.text.push_str(line);
            }
            // The text begins with something else.
            (None, None) => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The tool named in `[execute_command for 'ls'] Result:`, and the rest of the line.
fn heading(line: &str) -> Option<(String, &str)> {
    let (inner, rest) = line.strip_prefix('[')?.split_once("] Result:")?;
    let tool = inner.split(' ').next()?;
    let name = !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    name.then(|| (tool.to_owned(), rest))
}

/// The calls in a text that these results may answer, in order.
fn calls_of(text: &str, results: &[FoundResult]) -> Vec<(String, Arguments)> {
    let named: Vec<&str> = results.iter().filter_map(|result| result.tool.as_deref()).collect();
    if named.is_empty() {
        return tagged(text, "tool_call").filter_map(|call| json_call(&call)).collect();
    }
    let mut rest = text;
    let mut calls = Vec::new();
    for tool in named {
        let Some((inner, after)) = first_tagged(rest, tool) else { return Vec::new() };
        calls.push((tool.to_owned(), members(inner)));
        rest = after;
    }
    calls
}

fn json_call(text: &str) -> Option<(String, Arguments)> {
    let mut fields = Fields::parse(text.trim()).ok()?;
    let tool = fields.string("name")?.into_owned();
    Some((tool, fields::arguments(fields.take_any("arguments"))))
}

/// `<path>a.py</path><content>…</content>` as an object of texts.
fn members(text: &str) -> Arguments {
    let mut members = Map::new();
    let mut rest = text;
    while let Some((_, begin)) = rest.split_once('<') {
        let Some((tag, _)) = begin.split_once('>') else { break };
        let Some((inner, after)) = first_tagged(rest, tag) else { break };
        members.insert(tag.to_owned(), Value::from(inner.trim_matches('\n')));
        rest = after;
    }
    Arguments::raw(Value::Object(members).to_string())
}

/// The text between the first pair of these tags, and the text after it.
fn first_tagged<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str)> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>"))
}

fn tagged<'t>(text: &'t str, tag: &'t str) -> impl Iterator<Item = String> + 't {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (inner, after) = first_tagged(rest, tag)?;
        rest = after;
        Some(inner.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(request: &str, answer: &str) -> (Option<usize>, String) {
        let mut messages =
            [Message::text(Role::Assistant, request), Message::text(Role::User, answer)];
        let unread = read_written(Format::OpenaiChat, &mut messages);
        let [request, answer] = messages;
        let mut shown = String::new();
        for (call, outcome) in request.calls.iter().zip(&answer.outcomes) {
            shown.push_str(&format!(
                "{} {} -> {}; ",
                call.tool,
                call.arguments.as_str(),
                outcome.text
            ));
        }
        (unread, shown)
    }

    #[test]
    fn calls_and_results_in_texts() {
        let hermes = r#"<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>"#;
        let cline = "<execute_command>\n<command>ls -l</command>\n</execute_command>";
        for (request, answer, unread, shown) in [
            (hermes, "<tool_response>\n7\n</tool_response>", None, "f {\"a\":1} -> 7; "),
            (
                cline,
                "[execute_command for 'ls -l'] Result:\nexit 0\na.py",
                None,
                "execute_command {\"command\":\"ls -l\"} -> exit 0\na.py; ",
            ),
            (
                cline,
                "[execute_command for 'ls -l'] Result: done",
                None,
                "execute_command {\"command\":\"ls -l\"} -> done; ",
            ),
            // A result is not explained by the agent's own text or by a call of something else.
            ("All done.", "<tool_response>7</tool_response>", Some(1), ""),
            (cline, "[write_to_file for 'a'] Result:\ndone", Some(1), ""),
            (hermes, "Thanks. <tool_response>7</tool_response>", None, ""),
            (hermes, "Go on.", None, ""),
        ] {
            assert_eq!(read(request, answer), (unread, shown.to_owned()), "{request} {answer}");
        }
    }

    #[test]
    fn where_calls_have_a_place_texts_are_texts() {
        let call = r#"<tool_call>{"name":"f","arguments":{}}</tool_call>"#;
        let answer = "<tool_response>42 passed</tool_response>";
        let mut messages =
            [Message::text(Role::Assistant, call), Message::text(Role::User, answer)];
        assert_eq!(read_written(Format::ClaudeCode, &mut messages), Some(1));
        assert!(messages.iter().all(|m| m.calls.is_empty() && m.outcomes.is_empty()));
    }
}
