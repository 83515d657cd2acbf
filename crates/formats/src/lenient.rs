//! Reads JSON that strict readers reject. Agents and servers may send strings with unpaired
//! surrogates, and nesting of any depth; only the offending part is lost.

use std::borrow::Cow;

use counterfoil_model::{ExactValue, JsonLimits};
use serde_json::Value;

/// Maximum nesting depth of an event; deeper values are replaced by [`TOO_DEEP`].
const DEPTH: usize = 100;

/// Placeholder for a value that is nested too deeply.
const TOO_DEEP: &str = "\"[nested too deeply to be read]\"";

/// Reads JSON sent by an agent or a server. A byte-order mark is skipped; invalid UTF-8 and
/// unpaired surrogates become U+FFFD; a number outside the range of a double becomes a string;
/// values nested more than 100 levels deep are left out.
///
/// # Errors
/// When the text is not JSON even after these corrections.
pub fn read_lenient(sent: &[u8]) -> Result<Value, serde_json::Error> {
    let text = text_of(sent);
    serde_json::from_str(&text).or_else(|_| serde_json::from_str(&mended_json(&text)))
}

/// Like [`read_lenient`], but keeps every number exactly as written, for the arguments of calls.
///
/// # Errors
/// When the text is not JSON even after these corrections.
pub fn read_lenient_exact(sent: &[u8]) -> Result<ExactValue, serde_json::Error> {
    let text = text_of(sent);
    exact(&text).or_else(|_| exact(&mended_json(&text)))
}

fn text_of(sent: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(sent.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sent))
}

fn exact(text: &str) -> Result<ExactValue, serde_json::Error> {
    let read = ExactValue::from(serde_json::from_str::<Value>(text)?);
    if !read.has_doubles() {
        return Ok(read);
    }
    // If a member is repeated, the last one counts, with its numbers as serde read them.
    Ok(ExactValue::parse(text, JsonLimits::RECORDED).unwrap_or(read))
}

/// Rewrites the text into JSON that strict readers accept, with the same corrections as
/// [`read_lenient`]. Text that is not JSON at all stays invalid.
#[must_use]
pub fn mended_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => text_length(rest),
            '-' | '0'..='9' => number_length(rest),
            c => c.len_utf8(),
        };
        let Some((token, after)) = rest.split_at_checked(length) else { break };
        rest = after;
        match c {
            '[' | '{' => {
                depth += 1;
                if depth == DEPTH + 1 {
                    out.push_str(TOO_DEEP);
                }
            }
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let closes = matches!(c, ']' | '}') && depth == DEPTH;
        if depth > DEPTH || closes {
            continue;
        }
        match c {
            '"' => push_text(&mut out, token),
            '-' | '0'..='9' if token.parse::<f64>().is_ok_and(f64::is_infinite) => {
                out.push('"');
                out.push_str(token);
                out.push('"');
            }
            _ => out.push_str(token),
        }
    }
    out
}

/// The length in bytes of the string that begins here, including its quotation marks.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn number_length(rest: &str) -> usize {
    let part = |byte: u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    rest.bytes().position(|byte| !part(byte)).unwrap_or(rest.len())
}

/// Appends a string, replacing unpaired surrogates.
fn push_text(out: &mut String, mut token: &str) {
    while let Some((before, escape)) = token.split_once('\\') {
        out.push_str(before);
        let length = match (surrogate(escape), escape.get(5..)) {
            (Some(Half::High), Some(after)) => {
                let low = after.strip_prefix('\\').and_then(surrogate);
                if low == Some(Half::Low) { 11 } else { 0 }
            }
            (Some(_), _) => 0,
            (None, _) => escape.chars().next().map_or(0, char::len_utf8),
        };
        if length == 0 && surrogate(escape).is_some() {
            out.push_str("\\ufffd");
            token = escape.get(5..).unwrap_or_default();
        } else {
            out.push('\\');
            out.push_str(escape.get(..length).unwrap_or_default());
            token = escape.get(length..).unwrap_or_default();
        }
    }
    out.push_str(token);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Which half of a surrogate pair the escape is, if any; `escape` starts after the backslash.
fn surrogate(escape: &str) -> Option<Half> {
    let unit = u16::from_str_radix(escape.strip_prefix('u')?.get(..4)?, 16).ok()?;
    match unit {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_strict_json_refuses_costs_only_itself() {
        for (sent, read) in [
            (&b"\xef\xbb\xbf{\"a\":1}"[..], json!({"a": 1})),
            (b"{\"a\":\"x\xffy\",\"b\":1e999}", json!({"a": "x\u{fffd}y", "b": "1e999"})),
            (
                br#"{"a":"\ud83d","b":"\udfff \ud83d\ude00 \\ud83d"}"#,
                json!({"a": "\u{fffd}", "b": "\u{fffd} 😀 \\ud83d"}),
            ),
            (br#"{"\ud800":"\ud800\"","b":-1e-999}"#, json!({"\u{fffd}": "\u{fffd}\"", "b": -0.0})),
        ] {
            assert_eq!(read_lenient(sent).unwrap(), read);
            assert_eq!(*read_lenient_exact(sent).unwrap().value(), read);
        }
        assert!(read_lenient(b"{\"a\":").is_err());
        assert!(read_lenient(b"\"\\").is_err());
    }

    #[test]
    fn a_neighbour_nested_too_deeply_hides_nothing() {
        for depth in [70, 100, 101, 127, 5_000] {
            let sent = format!(
                r#"{{"command":"ls","x":{}1{},"y":"]"}}"#,
                "[".repeat(depth),
                "]".repeat(depth)
            );
            let read = read_lenient(sent.as_bytes()).unwrap();
            assert_eq!((&read["command"], &read["y"]), (&json!("ls"), &json!("]")), "{depth}");
        }
    }
}
