//! Removes secrets from everything that is recorded, logged or shown, leaving
//! `[REDACTED:category]`.
//!
//! [`Redactor`] finds keywords that begin secrets in one pass, tries the pattern of a keyword only
//! where that keyword occurs, and confirms with a check. The patterns are in `table.rs`.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod accept;
mod columns;
mod disguise;
mod home;
mod names;
mod pattern;
mod table;
mod value;
mod vendors;
mod worth;

use std::borrow::Cow;
use std::path::Path;

use counterfoil_model::ExactValue;
use serde_json::Value;

pub use pattern::SecretCategory;

use home::Home;
use pattern::{Found, find};
use table::PATTERNS;

/// Replaces secrets. Redaction is idempotent, and everything else stays unchanged byte for byte.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    home: Option<Home>,
}

impl Redactor {
    /// The redactor with the patterns of the table, in 6 categories.
    #[must_use]
    pub fn standard() -> Self {
        Self::default()
    }

    /// The patterns by name, each with its category, in order of precedence.
    pub fn patterns() -> impl Iterator<Item = (&'static str, SecretCategory)> {
        PATTERNS.iter().map(|pattern| (pattern.name, pattern.category))
    }

    /// Shows this folder as `~`, to hide the user's name in displayed text. A path is not a secret:
    /// records keep it.
    #[must_use]
    pub fn hiding_home(mut self, folder: &Path) -> Self {
        self.home = Home::new(folder);
        self
    }

    /// The text without secrets. Borrowed if there were none.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        // Replacing a secret may expose another next to it.
        loop {
            let found = find(&text);
            if found.is_empty() {
                break;
            }
            let bytes = replaced(text.as_bytes(), &found);
            text = Cow::Owned(String::from_utf8_lossy(&bytes).into_owned());
        }
        match (&self.home, text) {
            (None, text) => text,
            (Some(home), Cow::Borrowed(text)) => home.shortened(text),
            (Some(home), Cow::Owned(text)) => Cow::Owned(home.shortened(&text).into_owned()),
        }
    }

    /// The bytes without secrets. They need not be UTF-8; other bytes stay unchanged.
    #[must_use]
    pub fn redact_bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        match std::str::from_utf8(bytes) {
            Ok(text) => match self.redact(text) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
            Err(_) => redact_mixed(bytes),
        }
    }

    /// The value without secrets: in strings, in names, and after names such as `password`.
    #[must_use]
    pub fn redact_value(&self, value: &Value) -> Value {
        value::redacted(self, value)
    }

    /// The value without secrets, with its exact numbers.
    #[must_use]
    pub fn redact_exact(&self, value: &ExactValue) -> ExactValue {
        // Redaction moves nothing, so no number is lost.
        value.made_into(self.redact_value(value)).unwrap_or_default()
    }
}

/// Searches bytes that are not UTF-8 as control characters, so that offsets stay the same.
fn redact_mixed(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut bytes = Cow::Borrowed(bytes);
    loop {
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(std::iter::repeat_n('\u{1a}', chunk.invalid().len()));
        }
        let found = find(&text);
        if found.is_empty() {
            return bytes;
        }
        bytes = Cow::Owned(replaced(&bytes, &found));
    }
}

fn replaced(bytes: &[u8], found: &[Found]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut copied = 0;
    for secret in found {
        out.extend_from_slice(bytes.get(copied..secret.start).unwrap_or_default());
        let category = PATTERNS.get(secret.row).map(|pattern| pattern.category);
        out.extend_from_slice(category.unwrap_or(SecretCategory::Password).marker().as_bytes());
        copied = secret.end;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    out
}
