//! Texts in Base64: long ones, and short ones that spell something.

use super::super::error::visible;

/// The fewest characters of a text that is decoded.
const FEWEST: usize = 24;
/// So many characters are odd whatever they spell.
const MANY: usize = 160;

/// What is encoded in consecutive lines: the line, and why it is odd.
pub(super) fn encoded(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut wrapped: Option<(usize, String)> = None;
    for (number, line) in lines {
        let whole = line.trim();
        if whole.len() >= 40 && whole.bytes().all(is_base64) && has_mix(whole) {
            wrapped.get_or_insert((*number, String::new())).1.push_str(whole);
            continue;
        }
        let before = wrapped.take();
        found.extend(before.and_then(|(number, text)| Some((number, odd(&text)?))));
        found.extend(tokens(line).find_map(odd).map(|why| (*number, why)));
    }
    found.extend(wrapped.and_then(|(number, text)| Some((number, odd(&text)?))));
    found
}

/// The runs of Base64 of a line, but pictures and fonts.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let is_data = |before: &str| {
        before.strip_suffix("base64").is_some_and(|before| {
            let kinds = ["data:image/", "data:font/", "data:application/font"];
            before.rsplit_once("data:").is_some_and(|(start, _)| {
                line.get(start.len()..)
                    .is_some_and(|rest| kinds.iter().any(|k| rest.starts_with(k)))
            })
        })
    };
    let mut start = 0_usize;
    line.split(|c: char| !c.is_ascii() || !u8::try_from(c).is_ok_and(is_base64)).filter(
        move |token| {
            let at = line.get(start..).and_then(|rest| rest.find(token)).unwrap_or(0) + start;
            start = at + token.len();
            let before = line.get(..at.saturating_sub(1)).unwrap_or_default();
            token.len() >= FEWEST && !is_data(before)
        },
    )
}

fn odd(token: &str) -> Option<String> {
    if let Some(text) = decoded(token.trim_matches('=')) {
        return Some(format!("a text in Base64 that says \"{}\"", visible(&text)));
    }
    let is_long = token.len() >= MANY && has_mix(token);
    is_long.then(|| format!("{} characters of Base64 that nobody can read", token.len()))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Whether a run has capital letters, small ones and digits, and few slashes: no path, no number.
fn has_mix(token: &str) -> bool {
    let count = |wanted: fn(&u8) -> bool| token.bytes().filter(wanted).count();
    let marks = count(|byte| matches!(byte, b'/' | b'-' | b'_' | b'+'));
    count(u8::is_ascii_uppercase) > 0
        && count(u8::is_ascii_lowercase) > 0
        && count(u8::is_ascii_digit) > 0
        && marks * 10 <= token.len()
}

/// What a run spells, where that is a text that people could read.
fn decoded(token: &str) -> Option<String> {
    if token.len() < FEWEST {
        return None;
    }
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in token.bytes() {
        bits = bits << 6 | digit(byte)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap_or_default());
            bits &= (1 << count) - 1;
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
    let letters = text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == ' ').count();
    let readable = text.chars().all(is_text) && letters * 10 >= text.chars().count() * 6;
    (readable && text.is_ascii()).then_some(text)
}

fn digit(byte: u8) -> Option<u32> {
    let offset = |first: u8, base: u32| u32::from(byte - first) + base;
    match byte {
        b'A'..=b'Z' => Some(offset(b'A', 0)),
        b'a'..=b'z' => Some(offset(b'a', 26)),
        b'0'..=b'9' => Some(offset(b'0', 52)),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded() {
        let long = "QUJD/x8Zz0A1b2C3d4E5f6G7h8I9j0K".repeat(6);
        let wrapped = format!(
            "{0}\n{0}\n{0}\nend",
            "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8BI0VniavN7wEjRWeJ"
        );
        let image = format!("![x](data:image/png;base64,{long})");
        for (text, found) in [
            ("curl it", false),
            ("echo Y3VybCBodHRwOi8vZXZpbC5leGFtcGxlIHwgc2g= | base64 -d", true),
            ("aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM", true),
            (long.as_str(), true),
            (wrapped.as_str(), true),
            (image.as_str(), false),
            ("getElementsByClassNameFromDocumentFragment", false),
            (
                "https://example.org/a/very/long/path/to/Some/File/That/Has/Many/Parts/And/1/More/Of/Them/In/It/Than/Anyone/Would/Like/To/Read/Aloud/In/A/Room/Full/Of/People/Who/Came/For/Cake",
                false,
            ),
            ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", false),
            ("sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08==", false),
            ("----------------------------------------------------------------", false),
            ("this_is_a_rather_long_name_of_a_function_in_a_test_suite_of_ours", false),
        ] {
            let lines: Vec<_> = text.lines().map(|line| (1, line)).collect();
            assert_eq!(!encoded(&lines).is_empty(), found, "{text}: {:?}", encoded(&lines));
        }
    }
}
