//! Reads calls from JSON: one per line, over several lines, or in lists.

use std::collections::{BTreeMap, VecDeque};

use counterfoil_model::{Arguments as CallArguments, ToolCall, WrongJson};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

/// What cannot be read as a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The 1-based line.
    pub(super) line: usize,
    pub(super) message: String,
}

/// The calls of a text, in order. A line that is not JSON costs only itself.
pub(super) struct Calls<'t> {
    rest: &'t [u8],
    line: usize,
    ready: VecDeque<Result<ToolCall, Wrong>>,
}

impl Iterator for Calls<'_> {
    type Item = Result<ToolCall, Wrong>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            let blank = |byte: &u8| byte.is_ascii_whitespace() || BOM.contains(byte);
            let begin = self.rest.iter().position(|byte| !blank(byte))?;
            self.skip(begin);
            self.read_value();
        }
        self.ready.pop_front()
    }
}

/// The bytes of a byte-order mark, which no JSON value begins with.
const BOM: &[u8] = b"\xef\xbb\xbf";

impl<'t> Calls<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { rest: text, line: 1, ready: VecDeque::new() }
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, &[]));
        self.line += breaks(skipped);
        self.rest = rest;
    }

    fn read_value(&mut self) {
        let mut values = Deserializer::from_slice(self.rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(raw)) => {
                self.ready.extend(calls(raw, self.line));
                self.skip(values.byte_offset());
            }
            Some(Err(error)) => self.refuse(&error),
            None => self.rest = &[],
        }
    }

    /// Reports what is not JSON. If only the first line is wrong, reading goes on after it; in a
    /// value over several lines, nothing shows where the next one begins.
    fn refuse(&mut self, error: &serde_json::Error) {
        let mut lines = self.rest.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let second = lines.find(|line| !line.trim_ascii().is_empty());
        let alone = second.is_none_or(|line| serde_json::from_slice::<Members<'_>>(line).is_ok());
        let of_line = serde_json::from_slice::<&RawValue>(first).err();
        let wrong = match of_line.filter(|of_line| alone || !of_line.is_eof()) {
            Some(of_line) => {
                let wrong = Wrong { line: self.line, message: invalid(&of_line) };
                self.skip(first.len());
                wrong
            }
            None => {
                // Reading the values as well explains a comma too many.
                let mut strict = Deserializer::from_slice(self.rest).into_iter::<Value>();
                let strict = strict.next().and_then(Result::err);
                let error = strict.as_ref().unwrap_or(error);
                let line = self.line + error.line().saturating_sub(1);
                let message = invalid(error) + "; the calls after this were not read";
                self.rest = &[];
                Wrong { line, message }
            }
        };
        self.ready.push_back(Err(wrong));
    }
}

/// Describes the error; its line is shown elsewhere.
fn invalid(error: &serde_json::Error) -> String {
    let WrongJson { what, column, .. } = WrongJson::new(error);
    format!("invalid JSON: {what} (column {column})")
}

fn breaks(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Reads a call, or each call of a list, that begins on this line.
fn calls(raw: &RawValue, line: usize) -> Vec<Result<ToolCall, Wrong>> {
    let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else {
        return vec![call(raw, line)];
    };
    let line_of = |one: &RawValue| {
        let begin = (one.get().as_ptr() as usize).saturating_sub(raw.get().as_ptr() as usize);
        line + breaks(raw.get().as_bytes().get(..begin).unwrap_or_default())
    };
    list.into_iter().map(|one| call(one, line_of(one))).collect()
}

/// Reads a call.
fn call(raw: &RawValue, line: usize) -> Result<ToolCall, Wrong> {
    let wrong = |message: &str| Wrong { line, message: message.to_owned() };
    let outer: Members<'_> = serde_json::from_str(raw.get())
        .map_err(|_| wrong(r#"expected a JSON object such as {"name": …, "arguments": …}"#))?;
    let wrapped = ["function", "params"]
        .into_iter()
        .find_map(|wrapper| serde_json::from_str::<Members<'_>>(outer.get(wrapper)?.get()).ok());
    let inner = wrapped.as_ref().unwrap_or(&outer);
    let text = |object: &Members<'_>, names: &[&str]| {
        names.iter().find_map(|name| match serde_json::from_str(object.get(*name)?.get()).ok()? {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    };
    let Some(tool) = text(inner, &["name", "tool", "tool_name"]) else {
        return Err(wrong("the call has no `name`"));
    };
    let arguments = ["arguments", "input", "args", "parameters"]
        .into_iter()
        .find_map(|name| inner.get(name))
        .map_or_else(|| CallArguments::raw("{}"), |raw| written(raw));
    let id = text(&outer, &["id", "call_id", "tool_call_id"]).unwrap_or_default();
    Ok(ToolCall { id, tool, arguments, line })
}

/// The members of an object, unparsed, so that nothing in the arguments is lost.
type Members<'l> = BTreeMap<String, &'l RawValue>;

/// Returns the arguments as emitted: a string contains JSON; any other value already is JSON.
fn written(raw: &RawValue) -> CallArguments {
    match serde_json::from_str::<String>(raw.get()) {
        Ok(text) => CallArguments::raw(text),
        Err(_) => CallArguments::raw(raw.get()),
    }
}
