//! Whether a result reports a failure, whatever its mark says.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::values::end_of_string;

/// A result longer than this is content, not a status message.
const LONGEST_STATUS: usize = 4_000;

/// Openings of a status message that reports a failure.
const OPENINGS: [&str; 22] = [
    "error",
    "err:",
    "exception",
    "traceback (most recent call last)",
    "failed",
    "failure",
    "fatal:",
    "<tool_use_error>",
    "tool execution failed",
    "unable to",
    "could not",
    "cannot ",
    "no such ",
    "invalid ",
    "permission denied",
    "access denied",
    "unauthorized",
    "not authorized",
    "unknown tool",
    "tool call rejected",
    "blocked by",
    "string to replace not found",
];

/// Whether a result's text says that the call failed: an error payload, or a status message that
/// opens with an error.
pub(crate) fn reports_failure(text: &str) -> bool {
    let text = text.trim_start();
    if text.is_empty() || text.len() > LONGEST_STATUS {
        return false;
    }
    if text.starts_with('{') {
        return may_fail(text.as_bytes())
            && serde_json::from_str::<Payload>(text).is_ok_and(|payload| payload.fails);
    }
    if opens_with_http_error(text) {
        return true;
    }
    OPENINGS.iter().any(|opening| {
        let split = text.split_at_checked(opening.len());
        split.filter(|(head, _)| head.eq_ignore_ascii_case(opening)).is_some_and(|(_, rest)| {
            let plain = opening.ends_with([' ', ':', '>', ')']) || opening.contains(' ');
            plain || rest.is_empty() || rest.starts_with([':', ' ', '!', '.', '-', '\n', '('])
        })
    })
}

/// Whether a text opens with the status of an HTTP answer that is an error: `HTTP 401`,
/// `HTTP/1.1 503`.
fn opens_with_http_error(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let opens = words.next().is_some_and(|word| word == "HTTP" || word.starts_with("HTTP/"));
    let code = words.next().unwrap_or_default().trim_end_matches([':', ',']);
    opens && code.len() == 3 && code.starts_with(['4', '5'])
}

/// What an answer says whose call changed nothing. A text is one of these as a whole, up to its
/// first full stop, colon or semicolon.
const NOTHING_DONE: [&str; 12] = [
    "no change",
    "no changes",
    "no changes detected",
    "no changes made",
    "no changes were made",
    "nothing to do",
    "nothing changed",
    "nothing was changed",
    "no rows affected",
    "no matches found",
    "0 rows affected",
    "0 replacements",
];

/// Members that say how much a call changed: `false`, or 0, is nothing.
const CHANGED: [&str; 12] = [
    "changed",
    "modified",
    "updated",
    "deleted",
    "inserted",
    "replacements",
    "rows_affected",
    "rowsaffected",
    "affected_rows",
    "affectedrows",
    "modifiedcount",
    "deletedcount",
];

/// Whether the answer of a call that was to change something says that it changed nothing. What
/// says nothing at all does not: many tools answer with an empty text or object.
pub(crate) fn did_nothing(text: &str) -> bool {
    let text = text.trim();
    if text.len() > LONGEST_STATUS {
        return false;
    }
    if text.starts_with('{') {
        let Ok(Value::Object(members)) = serde_json::from_str(text) else { return false };
        let mut counts = members
            .iter()
            .filter(|(key, _)| CHANGED.contains(&key.to_ascii_lowercase().as_str()))
            .filter_map(|(_, value)| match value {
                Value::Bool(changed) => Some(*changed),
                Value::Number(number) => Some(number.as_f64() != Some(0.0)),
                _ => None,
            })
            .peekable();
        return counts.peek().is_some() && counts.all(|changed| !changed);
    }
    let first = text.split(['.', ':', ';', '\n']).next().unwrap_or_default().trim();
    NOTHING_DONE.iter().any(|said| first.eq_ignore_ascii_case(said))
}

/// Whether all that a command printed is its own complaint: `rm: cannot remove 'x': …` of `rm x`.
pub(crate) fn only_complains(command: &str, text: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    let complaint = |line: &str| {
        line.strip_prefix(program).and_then(|rest| rest.strip_prefix(": ")).is_some_and(|said| {
            ["cannot ", "can't ", "missing ", "invalid ", "unrecognized "]
                .iter()
                .any(|opening| said.starts_with(opening))
                || said.contains(": No such file or directory")
                || said.contains(": Permission denied")
        })
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    !program.is_empty() && lines.peek().is_some() && lines.all(complaint)
}

/// Whether a JSON object may have a member that reports a failure. Looks only as closely as it takes
/// to tell the many results that are none.
fn may_fail(text: &[u8]) -> bool {
    let (mut at, mut depth) = (0, 0_usize);
    let mut key: Option<&[u8]> = None;
    let mark = |byte: &u8| matches!(byte, b'{' | b'[' | b'}' | b']' | b'"' | b':');
    while let Some(skip) = text.get(at..).and_then(|rest| rest.iter().position(mark)) {
        let byte = text.get(at + skip).copied().unwrap_or_default();
        at += skip + 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let from = at;
                at = end_of_string(text, at).unwrap_or(text.len());
                if depth == 1 {
                    key = text.get(from..at);
                }
                at += 1;
            }
            b':' if depth == 1 => {
                let value = text.get(at..).unwrap_or_default().trim_ascii_start();
                if key.is_some_and(|key| may_report(key, value)) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether a member may report a failure, by its name and how its value begins.
fn may_report(key: &[u8], value: &[u8]) -> bool {
    if key.contains(&b'\\') {
        return true;
    }
    if !KEYS.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes())) {
        return false;
    }
    // The words of a state that is no failure are told here; the rest is read in full.
    let is = |word: &[u8]| value.starts_with(word);
    match value.first() {
        Some(b'"') => {
            let word =
                end_of_string(value, 1).and_then(|end| value.get(1..end)).unwrap_or_default();
            let states = ["status", "result", "outcome", "state"];
            let state = states.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes()));
            !state
                || word.contains(&b'\\')
                || BAD.iter().any(|bad| word.eq_ignore_ascii_case(bad.as_bytes()))
        }
        _ => !is(b"null"),
    }
}

/// States that are failures.
const BAD: [&str; 5] = ["error", "failed", "failure", "fail", "denied"];

/// A JSON result, of which only the members are read that may report a failure.
struct Payload {
    fails: bool,
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Payload;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload, A::Error> {
        let mut fails = false;
        while let Some(key) = map.next_key::<String>()? {
            let key = key.to_ascii_lowercase();
            if KEYS.contains(&key.as_str()) {
                fails |= reports(&key, &map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Payload { fails })
    }
}

/// The members that tell how a call went.
const KEYS: [&str; 19] = [
    "error",
    "errors",
    "exception",
    "error_message",
    "errormessage",
    "message",
    "success",
    "ok",
    "succeeded",
    "iserror",
    "is_error",
    "status",
    "result",
    "outcome",
    "state",
    "status_code",
    "statuscode",
    "http_status",
    "code",
];

/// Whether a member reports a failure.
fn reports(key: &str, value: &Value) -> bool {
    match key {
        "error" | "errors" | "exception" | "error_message" | "errormessage" => match value {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty() && text != "none",
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Number(n) => n.as_f64() != Some(0.0),
            Value::Bool(true) => true,
        },
        "message" => value.as_str().is_some_and(is_http_error),
        "success" | "ok" | "succeeded" => value == &Value::Bool(false),
        "iserror" | "is_error" => value == &Value::Bool(true),
        "status" | "result" | "outcome" | "state" => match value.as_str() {
            Some(word) => BAD.iter().any(|bad| word.eq_ignore_ascii_case(bad)),
            None => value.as_u64().is_some_and(|code| (400..600).contains(&code)),
        },
        _ => value.as_u64().is_some_and(|code| (400..600).contains(&code)),
    }
}

/// Whether a message is nothing but the name of an HTTP error.
fn is_http_error(message: &str) -> bool {
    [
        "unauthorized",
        "forbidden",
        "not found",
        "bad request",
        "internal server error",
        "service unavailable",
        "bad gateway",
        "gateway timeout",
        "too many requests",
        "method not allowed",
    ]
    .iter()
    .any(|name| message.trim_end_matches('.').eq_ignore_ascii_case(name))
}

/// Whether what failed says that it broke off before it could tell anything: a time-out, no
/// permission. That nothing was found is an answer.
pub(crate) fn broke_off(text: &str) -> bool {
    const CODES: [&str; 5] = ["500", "502", "503", "504", "429"];
    const BROKEN: [&str; 17] = [
        "timeout",
        "timed out",
        "timed_out",
        "time-out",
        "unavailable",
        "denied",
        "forbidden",
        "unauthorized",
        "unauthorised",
        "permission",
        "rate limit",
        "rate_limit",
        "connection",
        "unreachable",
        "could not be reached",
        "internal error",
        "expired",
    ];
    let text = text.get(..text.floor_char_boundary(LONGEST_STATUS)).unwrap_or(text);
    let text = text.to_ascii_lowercase();
    // `15003 not found` has no such code.
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    BROKEN.iter().any(|word| text.contains(word)) || words.any(|word| CODES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_calls_that_changed_nothing() {
        for (text, expected) in [
            ("No changes detected", true),
            ("No changes made: old and new strings are identical.", true),
            ("No changes to the interface are needed", false),
            (r#"{"changed":false}"#, true),
            (r#"{"replacements":0}"#, true),
            (r#"{"rows_affected":0,"ms":3}"#, true),
            (r#"{"inserted":0,"updated":2}"#, false),
            (r#"{"changed":true}"#, false),
            (r#"{"deleted":"A1"}"#, false),
            ("{}", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(did_nothing(text), expected, "{text}");
        }
    }

    #[test]
    fn complaints_of_commands() {
        for (command, text, expected) in [
            ("rm a.log", "rm: cannot remove 'a.log': No such file or directory", true),
            ("cp a b", "cp: a: No such file or directory\n", true),
            ("rm a.log", "", false),
            ("rm -v a b", "rm: cannot remove 'a': No such file or directory\nremoved 'b'", false),
            ("cat notes", "rm: cannot remove 'a'", false),
        ] {
            assert_eq!(only_complains(command, text), expected, "{text}");
        }
    }

    #[test]
    fn payloads() {
        for (text, expected) in [
            ("Error: order not found", true),
            ("error", true),
            ("Errors are listed in errors.txt", false),
            (r#"{"error":"no such user"}"#, true),
            (r#"{"error":null,"id":1}"#, false),
            (r#"{"success":false}"#, true),
            (r#"{"status":"failed"}"#, true),
            (r#"{"status":404}"#, true),
            (r#"{"status":"cancelled"}"#, false),
            (r#"{"status" : "Denied", "n": 1}"#, true),
            (r#"{"status":"fa\u0069l"}"#, true),
            (r#"{"n":{"error":"x"},"list":["error"]}"#, false),
            (r#"{"note":"a \" {","ok":false}"#, true),
            (r#"{"\u006fk":false}"#, true),
            (r#"{"code":503}"#, true),
            (r#"{"error":"no end"#, false),
            ("[]", false),
            ("", false),
            ("Failed to send: quota", true),
            ("Cannot read it", true),
            ("<tool_use_error>String not found", true),
            ("HTTP 401 Unauthorized", true),
            ("HTTP/1.1 200 OK", false),
            ("Blocked by the PreToolUse hook", true),
            (r#"{"message":"Unauthorized"}"#, true),
            (r#"{"message":"The user is unauthorized to fly"}"#, false),
            (r#"{"message":"done","id":4}"#, false),
        ] {
            assert_eq!(reports_failure(text), expected, "{text}");
        }
    }
}
