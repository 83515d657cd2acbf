//! The objects that a piece of text names.

use std::ops::Range;

use counterfoil_model::{Object, ObjectKind};
use memchr::memmem::Finder;

use crate::prose::{Prose, Tags, Token, TokenKind, has_file_extension};

/// The typed objects among the tokens of a range, in order.
pub(crate) fn objects_in(prose: &Prose<'_>, range: Range<usize>) -> Vec<Object> {
    let mut objects = Vec::new();
    for token in prose.tokens(range) {
        let text = prose.word(token);
        let kind = match token.kind {
            TokenKind::Id => ObjectKind::Id,
            TokenKind::Email => ObjectKind::Email,
            TokenKind::Url => ObjectKind::Url,
            // "+234/-2"
            TokenKind::Path if !text.bytes().any(|b| b.is_ascii_alphabetic()) => continue,
            TokenKind::Path => ObjectKind::Path,
            TokenKind::Money => ObjectKind::Money,
            TokenKind::Date => ObjectKind::Date,
            TokenKind::Number if text.len() >= 7 && text.bytes().all(|b| b.is_ascii_digit()) => {
                ObjectKind::Id
            }
            TokenKind::Number => ObjectKind::Number,
            TokenKind::Identifier if text.bytes().any(|b| b.is_ascii_digit()) => ObjectKind::Id,
            TokenKind::Identifier => ObjectKind::Name,
            TokenKind::Code if looks_like_path(text) => ObjectKind::Path,
            TokenKind::Code => ObjectKind::Quote,

            TokenKind::Word | TokenKind::Symbol(_) => continue,
        };
        objects.push(Object { kind, text: text.to_owned() });
    }
    objects
}

/// The typed objects that were acted on, without the location of a reported warning or error: "I
/// silenced the `src/a.rs:15` warning" may be done elsewhere.
pub(super) fn patients_in(prose: &Prose<'_>, range: Range<usize>) -> Vec<Object> {
    let mut patients = objects_in(prose, range.clone());
    let tokens = prose.tokens(range);
    let trouble = |t: &Token| t.kind == TokenKind::Word && t.has(Tags::TROUBLE);
    let reported = |at: usize| {
        let token = tokens.get(at);
        let place = token.is_some_and(|t| without_lines(prose.word(t)) != prose.word(t));
        let after_trouble =
            at.checked_sub(2).and_then(|from| tokens.get(from..at)).is_some_and(|words| {
                let [trouble_at, led] = words else { return false };
                trouble(trouble_at) && led.has(Tags::PREPOSITION)
            });
        tokens.get(at + 1).is_some_and(trouble) || (place && after_trouble)
    };
    let places: Vec<&str> = (0..tokens.len())
        .filter(|at| reported(*at))
        .filter_map(|at| tokens.get(at))
        .map(|t| prose.word(t))
        .collect();
    patients.retain(|o| o.kind != ObjectKind::Path || !places.contains(&o.text.as_str()));
    patients
}

fn looks_like_path(text: &str) -> bool {
    let text = without_lines(text);
    // "`div/2`": a function with its arity.
    if text.rsplit_once('/').is_some_and(|(name, arity)| {
        arity.len() == 1 && arity.bytes().all(|b| b.is_ascii_digit()) && !name.contains('/')
    }) {
        return false;
    }
    // "`origin/main`": a branch.
    let branch = ["origin/", "upstream/", "refs/"].iter().any(|lead| text.starts_with(lead));
    !branch
        && !text.contains(char::is_whitespace)
        && !text.starts_with("//")
        && !text.contains(['(', ')', '=', '{', '<', '*'])
        && (text.contains('/') || has_file_extension(text))
}

/// A path without its line numbers: `a.rs:12-40`.
pub(super) fn without_lines(text: &str) -> &str {
    let lines = |rest: &str| {
        !rest.is_empty()
            && rest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b',' | b':'))
    };
    match text.split_once(':') {
        Some((path, rest)) if lines(rest) => path,
        _ => text,
    }
}

/// Whether a text contains the object. Paths match by their last segment.
pub(crate) fn mentions(text: &str, object: &Object) -> bool {
    Sought::new(object).occurs_in(text)
}

/// An object that is searched for in several texts. Paths match by their last segment.
#[derive(Debug)]
pub(crate) struct Sought<'o> {
    needle: Finder<'o>,
    is_path: bool,
}

impl<'o> Sought<'o> {
    pub(crate) fn new(object: &'o Object) -> Self {
        let is_path = object.kind == ObjectKind::Path;
        Self { needle: Finder::new(needle(object).as_bytes()), is_path }
    }

    /// Whether a text contains the object.
    pub(crate) fn occurs_in(&self, text: &str) -> bool {
        if self.needle.needle().is_empty() {
            return false;
        }
        // `test_retry.py` does not contain `retry.py`.
        let whole = |at: usize| {
            let back = |n: usize| at.checked_sub(n).and_then(|i| text.as_bytes().get(i)).copied();
            // Arguments are raw JSON: `\n` before a name is a line break.
            let escaped = back(2) == Some(b'\\') && matches!(back(1), Some(b'n' | b't' | b'r'));
            !self.is_path
                || escaped
                || !back(1).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        };
        self.needle.find_iter(text.as_bytes()).any(whole)
    }
}

/// The part of an object that a text must contain to mention it.
pub(super) fn needle(object: &Object) -> &str {
    let text = object.text.as_str();
    match object.kind {
        ObjectKind::Path => {
            let path = text.trim_end_matches('/');
            let path = path.split(':').next().unwrap_or(path);
            path.rsplit(['/', '\\']).next().unwrap_or(path)
        }
        ObjectKind::Id => text.trim_start_matches('#'),
        _ => text,
    }
}

/// The shape of an id: ids of the same kind have the same shape.
pub(crate) fn shape(id: &str) -> String {
    id.chars()
        .map(|c| match c {
            c if c.is_ascii_uppercase() || c.is_ascii_digit() => 'X',
            c if c.is_ascii_lowercase() => 'x',
            c => c,
        })
        .collect()
}
