use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Captures, Match, Regex, RegexBuilder};

use super::columns;
use super::disguise::{self, View};
use super::table::PATTERNS;
use super::vendors;

/// The kind of a secret. Its name is part of the marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretCategory {
    /// Keys of services: AWS access key ids, Google, model providers, Stripe.
    ApiKey,
    /// GitHub, GitLab, Slack, registries, authorization headers, JSON web tokens.
    AuthToken,
    /// Private keys in PEM, OpenSSH and PuTTY form.
    PrivateKey,
    /// Passwords and values assigned to names like them; passwords in URLs.
    Password,
    /// Database URLs with a password; Azure keys and signatures.
    ConnectionString,
    /// Secret keys and sessions of cloud accounts; responses of instance metadata services.
    CloudMetadata,
}

impl SecretCategory {
    /// Every category, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::ApiKey,
        Self::AuthToken,
        Self::PrivateKey,
        Self::Password,
        Self::ConnectionString,
        Self::CloudMetadata,
    ];

    /// The name inside the marker.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::AuthToken => "auth_token",
            Self::PrivateKey => "private_key",
            Self::Password => "password",
            Self::ConnectionString => "connection_string",
            Self::CloudMetadata => "cloud_metadata",
        }
    }

    /// The text that replaces a secret: `[REDACTED:password]`.
    #[must_use]
    pub fn marker(self) -> &'static str {
        match self {
            Self::ApiKey => "[REDACTED:api_key]",
            Self::AuthToken => "[REDACTED:auth_token]",
            Self::PrivateKey => "[REDACTED:private_key]",
            Self::Password => "[REDACTED:password]",
            Self::ConnectionString => "[REDACTED:connection_string]",
            Self::CloudMetadata => "[REDACTED:cloud_metadata]",
        }
    }
}

impl fmt::Display for SecretCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The beginning of every marker.
pub(super) const MARKER: &str = "[REDACTED:";

/// One kind of secret.
pub(super) struct Pattern {
    pub(super) name: &'static str,
    pub(super) category: SecretCategory,
    /// Matched in any case. A match of the expression begins with one of them.
    pub(super) keywords: &'static [&'static str],
    /// Tried only where a keyword occurs. Replaces the group that takes part, or the whole match if
    /// there is no group.
    pub(super) regex: &'static str,
    /// A cheap test of the text before and after the keyword: whether the expression is worth
    /// trying. Ordinary text is full of keywords.
    pub(super) worth: fn(&str, &[u8]) -> bool,
    /// What may precede the keyword.
    pub(super) left: Left,
    /// The check: returns the length of the secret in bytes, or `None` if it is not one.
    pub(super) check: fn(&Hit<'_>) -> Option<usize>,
}

/// What may precede a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Anything,
    /// No letter, digit or underscore, unless it ends an escape such as `\n` or `%3D`.
    Edge,
}

/// A match still to be checked.
pub(super) struct Hit<'t> {
    /// All text before the keyword.
    pub(super) before: &'t str,
    /// The keyword and what follows it, up to the secret.
    pub(super) lead: &'t str,
    pub(super) secret: &'t str,
    /// All text from the secret's first byte on.
    pub(super) rest: &'t str,
}

/// A secret in a text: its range in bytes, and the row of the table that found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) row: usize,
    pub(super) end: usize,
}

/// The number of bytes examined before a secret is recognised; beyond it, only recognised secrets
/// are read on. This keeps the whole search linear.
const WINDOW: usize = 4096;

/// The search data. Each part is created on first use, because many processes handle a single short
/// text.
struct Search {
    /// The number of bytes searched for keywords so far.
    searched: AtomicUsize,
    /// The number of texts searched keyword by keyword.
    small_searches: AtomicUsize,
    /// An automaton that is quick to build, for the first texts.
    soon: OnceLock<AhoCorasick>,
    /// A fast one, for all others.
    fast: OnceLock<AhoCorasick>,
    /// The row of the table for each keyword.
    rows: Vec<usize>,
    /// The expressions of the table.
    regexes: [OnceLock<Regex>; PATTERNS.len()],
}

static SEARCH: LazyLock<Search> = LazyLock::new(|| {
    let rows = PATTERNS.iter().enumerate().flat_map(|(row, p)| keywords(p).map(move |_| row));
    let rows = rows.chain(disguise::keywords().map(|_| PATTERNS.len()));
    Search {
        searched: AtomicUsize::new(0),
        small_searches: AtomicUsize::new(0),
        soon: OnceLock::new(),
        fast: OnceLock::new(),
        rows: rows.collect(),
        regexes: [const { OnceLock::new() }; PATTERNS.len()],
    }
});

impl Search {
    /// The number of bytes that the slower automaton searches in the time it takes to build the
    /// fast one.
    const FIRST: usize = 256 * 1024;

    /// The number of texts searched keyword by keyword before an automaton is built: most contain
    /// none, so a process that judges one call needs no automaton.
    const FEW: usize = 16;
    /// The maximum length of these texts in bytes.
    const SHORT: usize = 1024;

    /// Whether a text certainly contains no keyword. Tried only for the first, short texts.
    fn holds_none(&self, text: &str) -> bool {
        if text.len() > Self::SHORT || self.small_searches.load(Ordering::Relaxed) >= Self::FEW {
            return false;
        }
        self.small_searches.fetch_add(1, Ordering::Relaxed);
        let text = text.to_ascii_lowercase();
        !all_keywords().any(|keyword| {
            let keyword = keyword.to_ascii_lowercase();
            memchr::memmem::find(text.as_bytes(), keyword.as_bytes()).is_some()
        })
    }

    /// The automaton for the keywords of all rows.
    fn keywords(&self, text: &str) -> &AhoCorasick {
        let searched = self.searched.fetch_add(text.len(), Ordering::Relaxed);
        if searched.saturating_add(text.len()) > Self::FIRST {
            self.fast.get_or_init(|| automaton(AhoCorasickKind::DFA))
        } else {
            self.soon.get_or_init(|| automaton(AhoCorasickKind::ContiguousNFA))
        }
    }
}

/// The keywords of a pattern.
fn keywords(pattern: &'static Pattern) -> impl Iterator<Item = &'static str> {
    let prefixes = (pattern.name == vendors::NAME).then(vendors::prefixes);
    pattern.keywords.iter().copied().chain(prefixes.into_iter().flatten())
}

/// The keywords of the table, and of encoded secrets.
fn all_keywords() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().flat_map(keywords).chain(disguise::keywords())
}

#[expect(clippy::expect_used, reason = "built only from the constant table; a test builds both")]
fn automaton(kind: AhoCorasickKind) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(kind))
        .build(all_keywords())
        .expect("the keywords fit an automaton")
}

/// Compiles with byte classes, which need a tenth of the states of character classes. Secrets begin
/// and end with ASCII, so no match splits a character.
#[expect(clippy::expect_used, reason = "it comes from the constant table; a test builds all")]
fn byte_regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("a pattern")
}

/// The patterns whose keywords may be column headings.
const HEADINGS: [&str; 2] = ["password-assignment", "aws-secret-key"];

/// Every secret in the text, in order, with overlapping ones merged.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    plain(text, &mut found);
    if let Some(view) = View::new(text) {
        let mut seen = Vec::new();
        plain(&view.text, &mut seen);
        found.extend(seen.into_iter().map(|secret| {
            let (start, end) = view.source(secret.start, secret.end);
            Found { start, end, ..secret }
        }));
    }
    joined(found)
}

/// Finds every secret that is plain or encoded.
fn plain(text: &str, found: &mut Vec<Found>) {
    let search = &*SEARCH;
    if search.holds_none(text) {
        return;
    }
    let mut done = [0; PATTERNS.len()];
    let mut decoded = 0;
    let mut table = 0;
    let encoded = search.rows.len() - disguise::keywords().count();
    for hit in search.keywords(text).find_overlapping_iter(text) {
        let keyword = hit.pattern().as_usize();
        let row = search.rows.get(keyword).copied().unwrap_or_default();
        if row == PATTERNS.len() {
            if hit.start() >= decoded {
                decoded = find_encoded(text, hit.start(), keyword - encoded, found);
            }
            continue;
        }
        let (Some(pattern), Some(regex), Some(done)) =
            (PATTERNS.get(row), search.regexes.get(row), done.get_mut(row))
        else {
            continue;
        };
        if hit.start() < *done {
            continue;
        }
        if HEADINGS.contains(&pattern.name) && hit.start() >= table {
            table = find_column(text, hit.start(), hit.end(), row, found).max(table);
        }
        let (before, after) = (text.get(..hit.start()), text.as_bytes().get(hit.end()..));
        if !before.zip(after).is_some_and(|(before, after)| (pattern.worth)(before, after)) {
            continue;
        }
        if let Some((start, end)) = pattern.find_at(regex, text, hit.start()) {
            *done = end;
            found.push(Found { start, row, end });
        }
    }
}

/// An encoded run is a secret if its decoded text contains one. Returns the end of the run.
fn find_encoded(text: &str, at: usize, keyword: usize, found: &mut Vec<Found>) -> usize {
    let Some((start, end, decoded)) = disguise::decoded(text, at, keyword) else { return at };
    let mut inside = Vec::new();
    plain(&decoded, &mut inside);
    if let Some(Found { row, .. }) = inside.first() {
        found.push(Found { start, row: *row, end });
    }
    end
}

/// Finds the secrets of a table with this keyword in its heading. Returns the end of the table.
fn find_column(text: &str, at: usize, end: usize, row: usize, found: &mut Vec<Found>) -> usize {
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    let rest = rest.iter().take(16).find(|b| !b.is_ascii_alphabetic() && !b" _-\"'".contains(b));
    if !matches!(rest, Some(b',' | b'|' | b'\t' | b';' | b'\r' | b'\n')) {
        return 0;
    }
    let Some(column) = columns::below(text, at) else { return 0 };
    found.extend(column.secrets.iter().map(|(start, end)| Found { start: *start, row, end: *end }));
    column.end
}

impl Pattern {
    fn find_at(&self, regex: &OnceLock<Regex>, text: &str, at: usize) -> Option<(usize, usize)> {
        let (before, here) = text.split_at_checked(at)?;
        let window = here.get(..here.floor_char_boundary(WINDOW))?;
        if self.left == Left::Edge && !is_edge(before) {
            return None;
        }
        let regex = regex.get_or_init(|| byte_regex(self.regex));
        if !regex.is_match(window.as_bytes()) || in_marker(before) {
            return None;
        }
        let secret = secret_of(&regex.captures(window.as_bytes())?)?;
        let (lead, rest) = here.split_at_checked(secret.start())?;
        let (found, _) = rest.split_at_checked(secret.len())?;
        if found.starts_with(MARKER) {
            return None;
        }
        let hit = Hit { before, lead, secret: found, rest };
        let mut length = (self.check)(&hit)?;
        if secret.end() == window.len() && window.len() < here.len() {
            // The secret extends beyond the window: read it to its end.
            length = length.max(secret_of(&regex.captures(here.as_bytes())?)?.len());
        }
        let start = at + secret.start();
        Some((start, start + length))
    }
}

/// The part of a match to replace.
fn secret_of<'t>(captures: &Captures<'t>) -> Option<Match<'t>> {
    captures.iter().skip(1).flatten().next().or_else(|| captures.get(0))
}

/// Whether the text ends inside a marker.
fn in_marker(before: &str) -> bool {
    let near = before.get(before.floor_char_boundary(before.len().saturating_sub(32))..);
    let inside = near.and_then(|near| near.rsplit_once(MARKER));
    inside.is_some_and(|(_, since)| !since.contains(']'))
}

/// Whether a word may begin after this text.
pub(super) fn is_edge(before: &str) -> bool {
    let bytes = before.as_bytes();
    match bytes {
        [.., b'\\', b'n' | b'r' | b't' | b'f' | b'b' | b'v' | b'0']
        | [.., b'%', _, _]
        | [.., b'\\', b'u', _, _, _, _]
        | [.., b'\\', b'x', _, _]
        | [] => true,
        [.., last] => !last.is_ascii_alphanumeric() && *last != b'_',
    }
}

/// Sorts the secrets, and merges overlapping ones under the name of the first.
fn joined(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_unstable();
    found.dedup_by(|next, kept| {
        let overlaps = next.start < kept.end;
        if overlaps {
            kept.end = kept.end.max(next.end);
        }
        overlaps
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        for pattern in PATTERNS {
            assert!(byte_regex(pattern.regex).as_str().contains('^'), "{}", pattern.name);
        }
    }

    #[test]
    fn both_automata_find_the_same() {
        let soon = automaton(AhoCorasickKind::ContiguousNFA);
        let fast = automaton(AhoCorasickKind::DFA);
        let text = all_keywords().map(|word| word.to_uppercase() + word).collect::<String>();
        let found: Vec<_> = soon.find_overlapping_iter(&text).collect();
        assert_eq!(found, fast.find_overlapping_iter(&text).collect::<Vec<_>>());
        assert!(found.len() >= 2 * SEARCH.rows.len());
    }
}
