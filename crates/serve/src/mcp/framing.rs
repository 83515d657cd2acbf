//! Writes each message on one line, whatever characters its author put between tokens. Servers and
//! clients read line by line, and languages differ in what ends a line.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// Writes one message to a process or to a client over streams. Nothing else writes to these.
pub(crate) async fn write_message(
    to: &mut (impl AsyncWrite + Unpin),
    message: &str,
) -> io::Result<()> {
    let message = on_one_line(message);
    // A single write per message, so that readers never see half of one.
    let mut line = String::with_capacity(message.len() + 1);
    line.push_str(&message);
    line.push('\n');
    to.write_all(line.as_bytes()).await?;
    to.flush().await
}

/// Replaces everything that any reader might take for a line break: with a space between tokens,
/// with an escape in strings. All values stay the same, and a message without such characters is
/// unchanged byte for byte.
pub(crate) fn on_one_line(message: &str) -> Cow<'_, str> {
    let message = message.trim();
    // The first bytes of characters that break lines; most messages contain none.
    let suspect = |byte: u8| matches!(byte, 0..=8 | 10..=31 | 0x7f | 0xc2 | 0xe2);
    if !message.bytes().any(suspect) || !message.chars().any(breaks) {
        return Cow::Borrowed(message);
    }
    let mut line = String::with_capacity(message.len() + 16);
    let (mut in_text, mut escaped) = (false, false);
    for c in message.chars() {
        match c {
            // Writing to a string does not fail.
            c if breaks(c) && in_text => drop(write!(line, "\\u{:04x}", u32::from(c))),
            c if breaks(c) => line.push(' '),
            c => line.push(c),
        }
        in_text ^= c == '"' && !escaped;
        escaped = in_text && c == '\\' && !escaped;
    }
    Cow::Owned(line)
}

/// [`on_one_line`] for an owned string.
pub(crate) fn lined(message: String) -> String {
    match on_one_line(&message) {
        Cow::Owned(line) => line,
        Cow::Borrowed(line) if line.len() < message.len() => line.to_owned(),
        Cow::Borrowed(_) => message,
    }
}

/// Whether a character is a control character other than tab, or a line or paragraph separator.
fn breaks(c: char) -> bool {
    c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn nothing_that_ends_a_line_is_left() {
        for (written, line) in [
            ("{\"a\":\t[ 1.50 ] }", "{\"a\":\t[ 1.50 ] }"),
            (" {}\r\n", "{}"),
            ("{\"a\":\n1,\r\"b\":\r\n2}", "{\"a\": 1, \"b\":  2}"),
            ("{\"a\":\"x\u{2028}\u{85}\u{7f}\"}", "{\"a\":\"x\\u2028\\u0085\\u007f\"}"),
            ("{\"a\\\"\":\n\"\\\\\",\n\"b\":1}", "{\"a\\\"\": \"\\\\\", \"b\":1}"),
            ("{\"ä – é\":\"\\n\"}", "{\"ä – é\":\"\\n\"}"),
        ] {
            assert_eq!(on_one_line(written), line, "{written:?}");
            let values = [written, line].map(|text| serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(values[0], values[1], "{written:?}");
        }
    }

    #[test]
    fn whatever_is_written_is_one_line() {
        let breaking = (0..=0x9f).filter_map(char::from_u32).chain(['\u{2028}', '\u{2029}']);
        for c in breaking.filter(|c| breaks(*c)) {
            for text in [format!("{{{c}\"a\":1}}"), format!("\"a{c}\\{c}\"{c}x"), format!("x{c}y")]
            {
                assert!(!on_one_line(&text).contains(breaks), "{text:?}");
            }
        }
    }
}
