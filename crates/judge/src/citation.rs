//! Finds quotations in a text.

mod fold;

use std::ops::Range;

use counterfoil_record::values;

pub(crate) use fold::is_format;
use fold::{fold, places};

/// The position of a quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// From the beginning of its first part to the end of its last, in bytes of the text.
    pub span: Range<usize>,
    /// The parts of the quotation, which are separated by ellipses.
    pub parts: Vec<Range<usize>>,
}

/// Why a quotation is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotFound {
    /// It has fewer than two words and no value.
    TooShort,
    /// It is longer than the limit.
    TooLong,
    /// The text does not contain it.
    Absent,
}

/// Maximum length of a quotation in bytes.
const LONGEST: usize = 4_000;
/// Maximum number of positions tried for one part.
const MOST_PLACES: usize = 10_000;

/// Finds a quotation in a text.
///
/// Both are normalised first: NFC, a single space for any whitespace, straight quotes and dashes,
/// no format characters, lower case, decoded escapes. An ellipsis separates parts, which must occur
/// in order. Punctuation at the ends of a part is ignored, except `-`, `%` and `+`. Each part must
/// have two words or a value, and must begin and end at the boundary of a word or number.
///
/// # Errors
/// When the quotation is too short, too long, or not in the text.
///
/// ```
/// use counterfoil_judge::find;
/// let text = "Total:\n  1,250 EUR";
/// assert_eq!(find("total: 1,250", text).map(|found| found.span), Ok(0..14));
/// assert!(find("total: 1,25", text).is_err());
/// ```
pub fn find(quotation: &str, text: &str) -> Result<Citation, NotFound> {
    if quotation.len() > LONGEST {
        return Err(NotFound::TooLong);
    }
    let wanted = fold(quotation);
    let wanted = wanted.replace("[…]", "…").replace("[...]", "…").replace("...", "…");
    let parts: Vec<&str> = wanted.split('…').map(trimmed).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() || !parts.iter().all(|part| is_telling(part)) {
        return Err(NotFound::TooShort);
    }
    let folded = fold(text);
    let mut found = Vec::with_capacity(parts.len());
    let mut from = 0;
    for part in parts {
        let at = locate(&folded, part, from).ok_or(NotFound::Absent)?;
        from = at + part.len();
        found.push(at..from);
    }
    let parts = places(text, &found).ok_or(NotFound::Absent)?;
    let start = parts.first().map_or(0, |part| part.start);
    let end = parts.last().map_or(start, |part| part.end);
    Ok(Citation { span: start..end, parts })
}

/// Strips punctuation that may have been added or lost at the ends.
fn trimmed(part: &str) -> &str {
    part.trim_matches(|c: char| c.is_whitespace() || ".,:;!?\"'`*_()[]{}<>|#~=".contains(c))
}

/// Whether a part has two words or a value.
fn is_telling(part: &str) -> bool {
    let words = part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // In scripts without spaces, two characters carry as much.
    let wide = part.chars().filter(|c| c.is_alphanumeric() && u32::from(*c) >= 0x0e00).count();
    words.count() >= 2 || wide >= 2 || !values(part).is_empty()
}

/// The first position from `from` on at which a part begins and ends at word boundaries.
fn locate(text: &str, part: &str, from: usize) -> Option<usize> {
    let finder = memchr::memmem::Finder::new(part.as_bytes());
    let mut at = from;
    for _ in 0..MOST_PLACES {
        at += finder.find(text.as_bytes().get(at..)?)?;
        if is_bounded(text, at, at + part.len()) {
            return Some(at);
        }
        at = text.ceil_char_boundary(at + 1);
    }
    None
}

fn is_bounded(text: &str, start: usize, end: usize) -> bool {
    let (Some(before), Some(part), Some(after)) =
        (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return false;
    };
    // Underscores trimmed from a quotation, as in `x.__format__` or `__so__`, are ignored in the
    // text as well.
    let word = |c: char| c.is_alphanumeric();
    let left = before.trim_end_matches('_');
    let before = if left.ends_with(word) { before } else { left };
    let right = after.trim_start_matches('_');
    let after = if right.starts_with(word) { after } else { right };
    let (first, last) = (part.chars().next(), part.chars().next_back());
    let mut left = before.chars().rev();
    let mut right = after.chars();
    begins(left.next(), left.next(), first) && ends(right.next(), right.next(), last)
}

/// Whether `first` begins a word or number, given the two characters before it (the nearer first).
fn begins(near: Option<char>, far: Option<char>, first: Option<char>) -> bool {
    let (Some(near), Some(first)) = (near, first) else { return true };
    if joins(near, first) {
        return false;
    }
    if !first.is_numeric() {
        return true;
    }
    match near {
        // In `-5` the dash is a sign, in `a-5` it is not; `2026-02` and `1.5` are single values.
        '-' | '+' => far.is_some_and(|far| far.is_alphabetic()),
        '.' | ',' | ':' | '/' => !far.is_some_and(char::is_numeric) && near != '.',
        _ => true,
    }
}

/// Whether `last` ends a word or number, given the two characters after it (the nearer first).
fn ends(near: Option<char>, far: Option<char>, last: Option<char>) -> bool {
    let (Some(near), Some(last)) = (near, last) else { return true };
    if joins(near, last) {
        return false;
    }
    if !last.is_numeric() {
        return true;
    }
    match near {
        '%' => false,
        '.' | ',' | ':' | '/' | '-' => !far.is_some_and(char::is_numeric),
        _ => true,
    }
}

/// Whether two neighbouring characters belong to one word or number.
fn joins(a: char, b: char) -> bool {
    let unspaced =
        |c: char| matches!(u32::from(c), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff);
    let part = |c: char| c.is_alphanumeric() || c == '_';
    part(a) && part(b) && !(unspaced(a) || unspaced(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_found() {
        for (quotation, text, expected) in [
            ("3 failed", "1 passed, 3 failed", Some("3 failed")),
            ("“The total” — 5", "he said: \"the  total\" - 5.", Some("the  total\" - 5")),
            ("caf\u{e9} noir", "un cafe\u{301} noir", Some("cafe\u{301} noir")),
            ("all\u{200b} tests", "ALL TE\u{ad}STS pass", Some("ALL TE\u{ad}STS")),
            ("a b … e f", "a b c d e f", Some("a b c d e f")),
            ("e f … a b", "a b c d e f", None),
            ("a b [...] e f", "a b\n[…] e f", Some("a b\n[…] e f")),
            ("\"status\": \"ok\",", r#"{"status": "ok"}"#, Some(r#"status": "ok"#)),
            ("52", "the 52 rows", Some("52")),
            ("word", "the word", None),
            ("the", "the word", None),
            ("", "x", None),
            ("…", "x", None),
            ("12%", "up 12% now", Some("12%")),
            ("up 12", "up 12% now", None),
            ("-5", "at -5 now", Some("-5")),
            ("5 now", "at -5 now", None),
            ("total 38", "total 384", None),
            ("total 38", "total 38.4", None),
            ("2026", "on 2026-02-11", None),
            ("4 now", "1.4 now", None),
            ("total 38", "total 38.", Some("total 38")),
            ("tests pass", "pretests pass", None),
            ("order_id 7", "my_order_id 7", None),
            ("to X.__format__", "not passed to X.__format__ here", Some("to X.__format")),
            ("__init__ of X", "see `__init__ of X`", Some("init__ of X")),
            ("Committed as", "__Committed as__ 7", Some("Committed as")),
            ("id_ of X", "my_id_ of X", None),
            ("全部通过", "测试全部通过。", Some("全部通过")),
            ("pаss the tests", "pass the tests", None),
            ("src/lib.rs", "edited `src/lib.rs`", Some("src/lib.rs")),
            ("Found 1 error", r#"{"out": "x\nFound 1 error\n"}"#, Some("Found 1 error")),
            ("a\nb", r"a\\nb", Some(r"a\\nb")),
            ("the \"key\" is", r#"{"t": "the \"key\" is"}"#, Some(r#"the \"key\" is"#)),
            ("café noir", r"caf\u00e9 noir", Some(r"caf\u00e9 noir")),
            (r"caf\u00e9 noir", "café noir", Some("café noir")),
            (r"c:\src\x.rs", r"in C:\src\x.rs", Some(r"C:\src\x.rs")),
            (r"a\", r"a\", None),
            (r"a b\u12", r"a b\u12", Some(r"a b\u12")),
            ("STRASSE 5 a", "straße 5 a", None),
        ] {
            let found = find(quotation, text).ok().and_then(|found| text.get(found.span));
            assert_eq!(found, expected, "{quotation} in {text}");
        }
    }

    #[test]
    fn large_texts_are_searched() {
        let text = "a ".repeat(200_000);
        assert_eq!(find(&"a ".repeat(500).replace('a', "aa"), &text), Err(NotFound::Absent));
        assert_eq!(find(&"x".repeat(5_000), &text), Err(NotFound::TooLong));
    }
}
