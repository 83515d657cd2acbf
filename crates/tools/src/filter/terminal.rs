use std::borrow::Cow;

use super::preserved::is_preserved;

/// The text without colours, and with only the last state of a line that was overwritten, plus any
/// states that must not be lost. Borrowed if nothing changes.
pub(super) fn on_paper(text: &str) -> Cow<'_, str> {
    let plain =
        if text.contains('\u{1b}') { Cow::Owned(without_codes(text)) } else { Cow::Borrowed(text) };
    if !plain.contains('\r') {
        return plain;
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in plain.split('\n') {
        let line = line.trim_end_matches('\r');
        let mut states: Vec<&str> = line.split('\r').collect();
        let last = states.pop().unwrap_or_default();
        lines.extend(states.into_iter().filter(|state| is_preserved(state)));
        lines.push(last);
    }
    Cow::Owned(lines.join("\n"))
}

fn without_codes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, code)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after_sequence(code);
    }
    out.push_str(rest);
    out
}

/// The text after a control sequence whose escape character is already removed.
fn after_sequence(code: &str) -> &str {
    let mut chars = code.chars();
    match chars.next() {
        // Colours and cursor movements: parameters and a final letter.
        Some('[') => {
            let rest = chars.as_str();
            let end = rest.find(|c: char| !matches!(c, '\u{20}'..='\u{3f}')).unwrap_or(rest.len());
            let rest = rest.get(end..).unwrap_or_default();
            rest.strip_prefix(|c: char| matches!(c, '\u{40}'..='\u{7e}')).unwrap_or(rest)
        }
        // Titles and links: up to a bell or the next escape.
        Some(']') => {
            let rest = chars.as_str();
            let end = rest.find(['\u{7}', '\u{1b}', '\n']).unwrap_or(rest.len());
            let rest = rest.get(end..).unwrap_or_default();
            rest.strip_prefix('\u{7}').or_else(|| rest.strip_prefix("\u{1b}\\")).unwrap_or(rest)
        }
        Some('(' | ')' | '#') => {
            chars.next();
            chars.as_str()
        }
        Some('\u{30}'..='\u{7e}') => chars.as_str(),
        _ => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_overwritten_states_are_gone() {
        for (text, expected) in [
            ("plain\n", "plain\n"),
            ("\u{1b}[1;31merror\u{1b}[0m: no\n", "error: no\n"),
            ("\u{1b}]8;;https://example.org\u{1b}\\link\u{1b}]8;;\u{7}\n", "link\n"),
            (" 10%\r 50%\r100%\ndone\r\n", "100%\ndone\n"),
            (" 10%\rerror: disk\r100%", "error: disk\n100%"),
            ("a\u{1b}", "a"),
            ("a\u{1b}[", "a"),
            ("ä\u{1b}[2K\u{1b}(Bö", "äö"),
        ] {
            assert_eq!(on_paper(text), expected, "{text:?}");
        }
    }
}
