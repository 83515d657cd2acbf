//! Messages, and answers inside them, that are data: JSON or a printed Python dictionary.

use counterfoil_model::Span;

use super::block::{Block, BlockKind};

/// The string values of a text that is a single object or array; `None` otherwise.
pub(super) fn fields(text: &str) -> Option<Vec<Block>> {
    let trimmed = text.trim();
    if trimmed.starts_with("{'") && trimmed.ends_with('}') {
        return strings(text, b"'\"").filter(|_| is_dictionary(text));
    }
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    strings(text, b"\"")
}

/// The strings of a text, delimited by any of `quotes`, without the names of members.
fn strings(text: &str, quotes: &[u8]) -> Option<Vec<Block>> {
    let bytes = text.as_bytes();
    let mut fields = Vec::new();
    let mut at = 0;
    while let Some((open, end)) = next_string(bytes, at, quotes) {
        at = end + 1;
        let is_key = bytes.get(at..)?.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
        let kind = match is_key {
            false => BlockKind::Field,
            true if is_true(text.get(at..)?) => BlockKind::Flag,
            true => continue,
        };
        if end > open + 1 {
            fields.push(Block { kind, span: Span::new(open + 1, end) });
        }
    }
    Some(fields)
}

/// The positions where the next string opens and closes.
fn next_string(bytes: &[u8], from: usize, quotes: &[u8]) -> Option<(usize, usize)> {
    let open = from + bytes.get(from..)?.iter().position(|byte| quotes.contains(byte))?;
    let quote = bytes.get(open)?;
    let mut end = open + 1;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 2,
            byte if byte == quote => break,
            _ => end += 1,
        }
    }
    Some((open, end))
}

/// Whether a text contains only strings and the punctuation, numbers and names of a dictionary.
fn is_dictionary(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"{}[](),:+-._ \n\t".contains(byte);
    let mut at = 0;
    while let Some((open, end)) = next_string(bytes, at, b"'\"") {
        if !bytes.get(at..open).unwrap_or_default().iter().all(plain) || end >= bytes.len() {
            return false;
        }
        at = end + 1;
    }
    bytes.get(at..).unwrap_or_default().iter().all(plain)
}

/// Whether a member's name is followed by `true`.
fn is_true(rest: &str) -> bool {
    let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
    value.is_some_and(|value| value.starts_with("true") || value.starts_with("True"))
}

/// The message for the user in a fenced action: `{"action": "Final Answer", "action_input": "…"}`.
/// The string may contain line breaks.
pub(super) fn final_answer(text: &str, fenced: Span) -> Option<Span> {
    const INPUT: &str = "\"action_input\"";
    let code = fenced.slice(text);
    let input = code.find(INPUT)?;
    let (_, name) = code.get(..input)?.trim_start().strip_prefix('{')?.split_once(':')?;
    let name = name.trim().trim_end_matches(',').trim_matches('"');
    let from = input + INPUT.len();
    let open = from + code.get(from..)?.find('"')?;
    let end = code.rfind('"').filter(|end| *end > open)?;
    let alone = code.get(from..open)?.trim() == ":" && code.get(end + 1..)?.trim() == "}";
    let is_answer = alone && name.eq_ignore_ascii_case("final answer");
    is_answer.then(|| Span::new(fenced.start + open + 1, fenced.start + end))
}

/// The name of the member that a string value belongs to, in a message that is data.
pub(crate) fn name_of_field(text: &str, value: Span) -> Option<&str> {
    let before = text.get(..value.start.checked_sub(1)?)?.trim_end().strip_suffix(':')?;
    let before = before.trim_end();
    let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    before.strip_suffix(quote)?.rsplit_once(quote).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_are_read_as_python_prints_them() {
        let found = |text: &str| -> Option<Vec<String>> {
            let fields = fields(text)?;
            Some(fields.iter().map(|field| field.span.slice(text).to_owned()).collect())
        };
        let one = found(r#"{'response': "I've sent it.", 'count': 2, 'ok': None}"#);
        assert_eq!(one, Some(vec![String::from("I've sent it.")]));
        assert_eq!(found("{'a' is not what it's called}"), None);
        assert_eq!(found("{'open: 1}"), None);
    }

    #[test]
    fn final_answers_are_found_in_fences() {
        let cases = [
            (r#"{"action": "Final Answer", "action_input": "Sent."}"#, Some("Sent.")),
            (
                "{\n \"action\": \"Final Answer\",\n \"action_input\": \"One\ntwo\"\n}\n",
                Some("One\ntwo"),
            ),
            (r#"{"action": "mail.send", "action_input": {"to": "a"}}"#, None),
            (r#"{"action": "mail.send", "action_input": "a"}"#, None),
        ];
        for (text, expected) in cases {
            let found = final_answer(text, Span::new(0, text.len())).map(|span| span.slice(text));
            assert_eq!(found, expected, "{text}");
        }
    }
}
