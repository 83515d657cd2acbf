//! Results of commands that a harness wrapped into a JSON object.

use serde_json::{Map, Value};

use crate::call::Outcome;

/// Members that hold the exit code of a command.
const CODES: [&str; 6] =
    ["exit_code", "exitCode", "returncode", "return_code", "returnCode", "exit_status"];
/// Members that hold what a command printed, in the order in which it is shown.
const PRINTED: [&str; 4] = ["output", "aggregated_output", "stdout", "stderr"];

impl Outcome {
    /// Takes a command's result out of the object that it was wrapped into, as in
    /// `{"exit_code":1,"output":"…"}`: its exit code, and what it printed as the text. Any other
    /// result stays as it is, and so does one whose exit code is known already.
    pub fn unwrap_command(&mut self) {
        let text = self.text.trim();
        if self.exit_code.is_some() || !text.starts_with('{') || !text.ends_with('}') {
            return;
        }
        let marks = ["\"exit", "\"return", "\"stdout\"", "\"metadata\""];
        if !marks.iter().any(|mark| text.contains(mark)) {
            return;
        }
        let Ok(Value::Object(members)) = serde_json::from_str(text) else { return };
        let Some(code) = exit_code(&members) else { return };
        self.exit_code = Some(code);
        let printed: Vec<&str> = PRINTED
            .iter()
            .filter_map(|name| members.get(*name)?.as_str())
            .filter(|printed| !printed.is_empty())
            .collect();
        if PRINTED.iter().any(|name| members.contains_key(*name)) {
            self.text = printed.join("\n");
        }
    }
}

fn exit_code(members: &Map<String, Value>) -> Option<i32> {
    let number = |value: &Value| i32::try_from(value.as_i64()?).ok();
    let direct = CODES.iter().find_map(|name| members.get(*name).and_then(number));
    let beside = || {
        let inner = members.get("metadata")?.as_object()?;
        CODES.iter().find_map(|name| inner.get(*name).and_then(number))
    };
    // `code` alone may be anything; beside the streams of a process it is the exit code.
    let code = || {
        let streams = members.contains_key("stdout") || members.contains_key("stderr");
        members.get("code").filter(|_| streams).and_then(number)
    };
    direct.or_else(beside).or_else(code)
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
            (r#"{"exit_code":"none"}"#, None, r#"{"exit_code":"none"}"#),
            (r#"{"exit_code":0"#, None, r#"{"exit_code":0"#),
            ("exit_code 0", None, "exit_code 0"),
        ] {
            let mut outcome = Outcome { text: text.to_owned(), ..Outcome::default() };
            outcome.unwrap_command();
            assert_eq!((outcome.exit_code, outcome.text.as_str()), (code, printed), "{text}");
        }
    }
}
