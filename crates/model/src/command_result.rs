//! Unwraps command results that a harness put into a JSON object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::call::Outcome;
use crate::json::LossyText;

/// Members for the exit code of a command.
const CODES: [&str; 6] =
    ["exit_code", "exitCode", "returncode", "return_code", "returnCode", "exit_status"];
/// Members for the output of a command, in display order.
const PRINTED: [&str; 4] = ["output", "aggregated_output", "stdout", "stderr"];

impl Outcome {
    /// Extracts a command's exit code and output from a JSON object such as
    /// `{"exit_code":1,"output":"…"}`. Other results stay unchanged, and so do those whose exit
    /// code is already known. A member that strict JSON refuses (half a surrogate pair, `1e400`,
    /// any nesting) does not hide the others. An exit code that is not a number marks the result as
    /// unread.
    pub fn unwrap_command(&mut self) {
        let text = self.text.trim();
        if self.exit_code.is_some() || !text.starts_with('{') || !text.ends_with('}') {
            return;
        }
        let marks = ["\"exit", "\"return", "\"stdout\"", "\"metadata\""];
        if !marks.iter().any(|mark| text.contains(mark)) {
            return;
        }
        let Ok(members) = serde_json::from_str::<Members<'_>>(text) else { return };
        match exit_code(&members) {
            Code::None => return,
            Code::Unread => {
                self.unread = true;
                return;
            }
            Code::Of(code) => self.exit_code = Some(code),
        }
        let printed: Vec<&RawValue> =
            PRINTED.iter().filter_map(|name| members.get(*name).copied()).collect();
        if !printed.is_empty() {
            let printed = printed.into_iter().map(shown).filter(|text| !text.is_empty());
            self.text = printed.collect::<Vec<_>>().join("\n");
        }
    }
}

/// The members of an object, with unparsed values.
type Members<'t> = BTreeMap<Cow<'t, str>, &'t RawValue>;

/// The exit code of a command, as read from a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    None,
    Of(i32),
    /// A member for it exists, but has no valid exit code.
    Unread,
}

fn exit_code(members: &Members<'_>) -> Code {
    let direct = code_in(members);
    if direct != Code::None {
        return direct;
    }
    let inner = members.get("metadata").map(|raw| serde_json::from_str::<Members<'_>>(raw.get()));
    let beside = inner.and_then(Result::ok).map_or(Code::None, |inner| code_in(&inner));
    if beside != Code::None {
        return beside;
    }
    // `code` alone may be anything; next to the streams of a process it is the exit code.
    let streams = members.contains_key("stdout") || members.contains_key("stderr");
    match members.get("code").filter(|_| streams).map(|raw| code_of(raw.get())) {
        Some(Code::Of(code)) => Code::Of(code),
        _ => Code::None,
    }
}

fn code_in(members: &Members<'_>) -> Code {
    let codes = CODES.iter().filter_map(|name| members.get(*name));
    codes.map(|raw| code_of(raw.get())).find(|code| *code != Code::None).unwrap_or(Code::None)
}

/// Parses an exit code: `1`, `1.0`, `"1"`. Windows has some above the range of `i32`.
fn code_of(written: &str) -> Code {
    if written == "null" {
        return Code::None;
    }
    match exit_code_of(written) {
        Some(code) => Code::Of(code),
        None => Code::Unread,
    }
}

/// The exit code in a JSON number or string.
///
/// Windows writes codes as unsigned numbers: `3221225477` is `-1073741819`.
#[must_use]
pub fn exit_code_of(written: &str) -> Option<i32> {
    let digits = written.trim_matches('"').trim();
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    digits.parse::<i32>().ok().or_else(|| digits.parse::<u32>().ok().map(u32::cast_signed))
}

/// The content of a stream: its text, or the JSON of another value.
fn shown(raw: &RawValue) -> String {
    match raw.get() {
        "null" => String::new(),
        written if written.starts_with('"') => text_of(written),
        written => written.to_owned(),
    }
}

/// The text of a JSON string; half a surrogate pair is replaced.
fn text_of(written: &str) -> String {
    serde_json::from_str::<LossyText>(written).map_or_else(|_| written.to_owned(), |text| text.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_result_is_taken_out() {
        for (text, code, printed) in [
            (r#"{"exit_code":128,"output":"fatal: no"}"#, Some(128), "fatal: no"),
            (r#"{"exitCode":0,"stdout":"4 passed\n","stderr":""}"#, Some(0), "4 passed\n"),
            (r#"{"returncode":1,"stdout":"a","stderr":"b"}"#, Some(1), "a\nb"),
            (r#"{"output":"x","metadata":{"exit_code":2}}"#, Some(2), "x"),
            (r#"{"stdout":"","stderr":"no","code":3}"#, Some(3), "no"),
            (r#"{"exit_code":0}"#, Some(0), r#"{"exit_code":0}"#),
            (r#"{"exit_code":0,"output":""}"#, Some(0), ""),
            (r#"{"code":404,"output":"x"}"#, None, r#"{"code":404,"output":"x"}"#),
            (r#"{"exit_code":"1","output":"no"}"#, Some(1), "no"),
            (r#"{"exit_code":3221225477,"output":""}"#, Some(-1_073_741_819), ""),
            (r#"{"exit_code":null,"output":"x"}"#, None, r#"{"exit_code":null,"output":"x"}"#),
            (
                r#"{"exit_code":1,"output":"cut \ud83d","n":1e400}"#,
                Some(1),
                "cut \u{fffd}\u{fffd}\u{fffd}",
            ),
            (r#"{"exit_code":0"#, None, r#"{"exit_code":0"#),
            ("exit_code 0", None, "exit_code 0"),
        ] {
            let mut outcome = Outcome { text: text.to_owned(), ..Outcome::default() };
            outcome.unwrap_command();
            assert_eq!((outcome.exit_code, outcome.text.as_str()), (code, printed), "{text}");
        }
    }

    #[test]
    fn an_exit_code_that_is_none_leaves_the_end_unknown() {
        for text in [r#"{"exit_code":"none"}"#, r#"{"exit_code":1e400,"output":"x"}"#] {
            let mut outcome = Outcome { text: text.to_owned(), ..Outcome::default() };
            outcome.unwrap_command();
            assert_eq!((outcome.exit_code, outcome.unread), (None, true), "{text}");
            assert_eq!(outcome.text, text);
        }
        let deep = format!(
            r#"{{"exit_code":2,"output":"x","more":{}{}}}"#,
            "[".repeat(300),
            "]".repeat(300)
        );
        let mut outcome = Outcome { text: deep, ..Outcome::default() };
        outcome.unwrap_command();
        assert_eq!((outcome.exit_code, outcome.text.as_str()), (Some(2), "x"));
    }
}
