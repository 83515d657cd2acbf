use serde_json::Value;

/// Maximum length of a template in bytes.
const LONGEST: usize = 200;

/// Whether the whole value is a template that was not filled in.
///
/// Markup (`<b>x</b>`), JSON arrays and lists of quoted texts are not templates.
pub(crate) fn is_placeholder(text: &str) -> bool {
    // The first byte rules out most values.
    let Some(first) = text.bytes().next() else { return false };
    if !matches!(first | 0x20, b'<' | b'{' | b't' | b'f' | b'y' | b'x' | b'e' | b'1')
        || text.len() > LONGEST
    {
        return false;
    }
    match first {
        b'<' => enclosed(text, '<', '>').is_some(),
        b'[' => enclosed(text, '[', ']').is_some_and(|inner| {
            inner.chars().any(char::is_alphabetic)
                && !inner.contains(['"', '\''])
                && serde_json::from_str::<Vec<Value>>(text).is_err()
        }),
        _ => is_template_word(text),
    }
}

/// The text between the brackets, if they enclose the whole value and nothing else.
fn enclosed(text: &str, open: char, close: char) -> Option<&str> {
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    (!inner.contains([open, close, '\n'])).then_some(inner)
}

fn is_template_word(text: &str) -> bool {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    let key = || {
        let folded = text.to_ascii_uppercase().replace(['-', ' '], "_");
        folded == "YOUR_API_KEY" || folded == "YOUR_API_KEY_HERE"
    };
    is("TODO")
        || is("FIXME")
        || is("example.com")
        || text == "127.0.0.1"
        || (text.len() >= 3 && text.bytes().all(|b| b | 0x20 == b'x'))
        || (text.len() < 20 && key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_only() {
        for (text, expected) in [
            ("<placeholder>", true),
            ("<your api key>", true),
            ("<b>bold</b>", false),
            ("<p>\n</p>", false),
            ("[placeholder]", true),
            ("[\"a\"]", false),
            ("['a', 'b']", false),
            ("[1, 2]", false),
            ("[]", false),
            ("[a][b]", false),
            ("todo", true),
            ("Fixme", true),
            ("todos", false),
            ("YOUR_API_KEY", true),
            ("your-api-key", true),
            ("xxxx", true),
            ("XXX", true),
            ("xx", false),
            ("Example.COM", true),
            ("example.com/a", false),
            ("127.0.0.1", true),
            ("127.0.0.10", false),
            ("", false),
            ("é", false),
        ] {
            assert_eq!(is_placeholder(text), expected, "{text}");
        }
    }
}
