//! Texts in Base64: long ones, and short ones that spell something.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::Regex;

use super::super::error::visible;
use super::super::markdown::Line;

/// The fewest characters of a text that is decoded.
const FEWEST: usize = 24;
/// This many characters are odd, whatever they spell.
const MANY: usize = 160;
/// A line of this length may be one of several of one text.
const WRAPPED: usize = 40;

static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("[A-Za-z0-9+/_=-]+").ok());
/// Pictures and fonts, which are left out.
static DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new("data:(?:image/|font/|application/font)[^,]*base64,[^) \"']*").ok()
});

/// What is encoded in consecutive lines: the line, and why it is odd.
pub(super) fn encoded(lines: &[Line<'_>]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut wrapped: Option<(usize, String)> = None;
    for (number, line) in lines.iter().copied().chain([(0, "")]) {
        let whole = line.trim();
        let is_token = tokens(whole).is_some_and(|mut tokens| tokens.next() == Some(whole));
        if whole.len() >= WRAPPED && is_token && has_mix(whole) {
            wrapped.get_or_insert((number, String::new())).1.push_str(whole);
            continue;
        }
        if let Some((number, text)) = wrapped.take() {
            found.extend(odd(&text).map(|why| (number, why)));
        }
        let line = DATA.as_ref().map_or(line.into(), |data| data.replace_all(line, ""));
        let why = tokens(&line).into_iter().flatten().find_map(odd);
        found.extend(why.map(|why| (number, why)));
    }
    found
}

/// The runs of characters that Base64 may have.
fn tokens(line: &str) -> Option<impl Iterator<Item = &str>> {
    Some(TOKEN.as_ref()?.find_iter(line).map(|token| token.as_str()))
}

fn odd(token: &str) -> Option<String> {
    if let Some(text) = decoded(token) {
        return Some(format!("Base64 text that decodes to \"{}\"", visible(&text)));
    }
    let is_long = token.len() >= MANY && has_mix(token);
    is_long.then(|| format!("{} characters of unreadable Base64", token.len()))
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
    let token = token.trim_matches('=').replace('-', "+").replace('_', "/");
    let text = String::from_utf8(STANDARD_NO_PAD.decode(token).ok()?).ok()?;
    let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
    let letters = text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == ' ').count();
    let readable = text.chars().all(is_text) && letters * 10 >= text.chars().count() * 6;
    (readable && text.is_ascii()).then_some(text)
}
