//! Classifies a run of characters: a word, a number, a path, an id.

use super::sets;
use super::token::TokenKind;

/// The kind of a run of characters.
pub(super) fn classify(run: &str) -> TokenKind {
    let bytes = run.as_bytes();
    let (mut digits, mut letters, mut camel, mut lower) = (0, 0, false, false);
    for byte in bytes {
        digits += usize::from(byte.is_ascii_digit());
        letters += usize::from(byte.is_ascii_alphabetic());
        camel |= lower && byte.is_ascii_uppercase();
        lower = byte.is_ascii_lowercase();
    }
    if letters == bytes.len() && !camel {
        return TokenKind::Word;
    }
    let has = |b: u8| bytes.contains(&b);
    if run.contains("://") {
        return TokenKind::Url;
    }
    if has(b'@') && has(b'.') && !run.starts_with('@') {
        return TokenKind::Email;
    }
    if digits > 0 && run.starts_with(is_currency) {
        return TokenKind::Money;
    }
    if matches!(bytes.first(), Some(b'#')) && bytes.len() > 1 {
        return TokenKind::Id;
    }
    if has(b'/') || has(b'\\') {
        return if is_path(run) { TokenKind::Path } else { TokenKind::Word };
    }
    if digits > 0 && letters == 0 {
        return if is_date(run) { TokenKind::Date } else { TokenKind::Number };
    }
    if digits > 0 && !has(b'_') && !has(b'.') && !has(b':') {
        return classify_mixed(run, digits, letters);
    }
    if has(b'_') {
        return TokenKind::Identifier;
    }
    if has(b'.') || run.contains("::") || has(b':') {
        return if has_file_extension(run) {
            TokenKind::Path
        } else if run.split(['.', ':']).any(|part| part.len() > 1) {
            TokenKind::Identifier
        } else {
            TokenKind::Word
        };
    }
    if camel { TokenKind::Identifier } else { TokenKind::Word }
}

/// Whether a character is a currency sign.
pub(crate) fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹' | '₩')
}

/// Digits and letters together: an id, a hash, an ordinal, a quantity with its unit.
fn classify_mixed(run: &str, digits: usize, letters: usize) -> TokenKind {
    let hex = run.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let upper = run.bytes().any(|b| b.is_ascii_uppercase());
    let starts_digit = run.starts_with(|c: char| c.is_ascii_digit());
    if hex && run.len() >= 7 {
        return TokenKind::Id;
    }
    if upper && letters + digits >= 4 && digits >= 1 && !run.contains('-') {
        return TokenKind::Id;
    }
    if run.contains('-') && digits >= 2 && upper {
        return TokenKind::Id;
    }
    if starts_digit { TokenKind::Number } else { TokenKind::Identifier }
}

fn is_date(run: &str) -> bool {
    let groups = |sep: char| run.split(sep).filter(|p| !p.is_empty()).count();
    (run.contains(':') && groups(':') >= 2) || (run.contains('-') && groups('-') == 3)
}

fn is_path(run: &str) -> bool {
    let segments = run.split(['/', '\\']).filter(|s| !s.is_empty()).count();
    run.starts_with(['/', '~', '.']) && segments > 0
        || has_file_extension(run)
        || segments >= 3
        || run.ends_with('/')
        || run.contains('_')
}

/// Whether the last segment ends in what looks like a file extension.
pub(crate) fn has_file_extension(run: &str) -> bool {
    let last = run.rsplit(['/', '\\']).next().unwrap_or(run);
    let last = last.split(':').next().unwrap_or(last);
    let Some((stem, extension)) = last.rsplit_once('.') else { return false };
    let known = &sets::FILE_EXTENSIONS.list;
    known.contains(&extension) && (!stem.is_empty() || extension.len() > 2)
        || (stem.is_empty() && run.len() > 2 && extension.bytes().all(|b| b.is_ascii_lowercase()))
}
