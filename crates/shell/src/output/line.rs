use std::borrow::Cow;
use std::ops::Range;

/// One line of an output.
pub(super) struct Line<'a> {
    /// The text without escape sequences and trailing whitespace.
    pub(super) text: Cow<'a, str>,
    /// The byte range in the output, without the line break.
    pub(super) range: Range<usize>,
}

/// Maximum bytes of a line that are looked at; result lines are short.
const LONGEST: usize = 2000;

/// The lines of the output. Of a line with carriage returns, only the part after the last one
/// remains, as in a terminal.
pub(super) fn lines(output: &str) -> impl Iterator<Item = Line<'_>> {
    let escapes = memchr::memchr(0x1b, output.as_bytes()).is_some();
    let mut at = 0;
    output.split('\n').map(move |raw| {
        let range = at..at + raw.len();
        at += raw.len() + 1;
        let text = raw.trim_end();
        let text = text.rsplit('\r').next().unwrap_or(text);
        let text = cut(text);
        let text = if escapes { strip_ansi(text) } else { Cow::Borrowed(text) };
        Line { text, range }
    })
}

fn cut(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Removes terminal escape sequences.
#[must_use]
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let Some(first) = memchr::memchr(0x1b, bytes) else { return Cow::Borrowed(text) };
    let mut clean = String::with_capacity(text.len());
    let mut start = 0;
    let mut at = first;
    loop {
        clean.push_str(text.get(start..at).unwrap_or_default());
        start = escape_end(bytes, at);
        let rest = bytes.get(start..).unwrap_or_default();
        match memchr::memchr(0x1b, rest) {
            Some(next) => at = start + next,
            None => {
                clean.push_str(text.get(start..).unwrap_or_default());
                return Cow::Owned(clean);
            }
        }
    }
}

/// The end of the escape sequence that begins at `at`.
fn escape_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at + 1..).unwrap_or_default();
    let len = match rest.first() {
        Some(b'[') => {
            // Parameters, then one final byte.
            let body = rest.iter().skip(1).take_while(|b| (0x20..0x40).contains(*b)).count();
            let last = rest.get(1 + body).is_some_and(|b| (0x40..0x7f).contains(b));
            1 + body + usize::from(last)
        }
        Some(b']') => {
            let body = rest.iter().skip(1).take_while(|b| **b != 7 && **b != 0x1b).count();
            match rest.get(1 + body) {
                Some(7) => body + 2,
                Some(0x1b) if rest.get(2 + body) == Some(&b'\\') => body + 3,
                _ => body + 1,
            }
        }
        Some(b) if b.is_ascii() => 1,
        _ => 0,
    };
    at + 1 + len
}
