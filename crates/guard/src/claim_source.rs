//! Finds where the content that led to a call came from.

use std::sync::Arc;

use counterfoil_ledger::Requested;
use serde_json::Value;

use crate::admitted::Admitted;
use crate::call::Refused;
use crate::executor::ExecutorKind;
use crate::extract_paths::{extract_paths, is_in_url};
use crate::guard::Guard;
use crate::session::{Record, Session, Surroundings};

/// The maximum length of a name, in bytes. A longer argument is content.
const LONGEST_NAME: usize = 4 * 1024;

/// The maximum number of names of a call that are looked for.
const MOST_NAMES: usize = 16;

/// The maximum amount of earlier text that is searched, latest first, in bytes.
const LOOKED_THROUGH: usize = 2 * 1024 * 1024;

impl Guard {
    /// Returns the source of the paths and URLs that a call names, unless its surroundings say it:
    /// the latest message or successful result that contains one of them. `None` if the call names
    /// none, or none has a source.
    pub(crate) fn claim_source(
        &self,
        session: &Session,
        call: &Result<Arc<Admitted>, Box<Refused>>,
        around: &Surroundings,
    ) -> Option<String> {
        if around.claim_source.is_some() {
            return around.claim_source.clone();
        }
        if around.requested == Requested::ByUser {
            return Some("user".to_owned());
        }
        let arguments = match call {
            Ok(admitted) => Some(admitted.arguments()),
            Err(refused) => refused.report.arguments.as_deref(),
        };
        let mut texts = Vec::new();
        each_text(arguments?, &mut texts);
        let names = Names::new(&texts);
        let record = session.record();
        let found = match &names {
            // INVARIANT: one URL without a source leaves the whole call without a source, whatever
            // else it names.
            Names::Urls(urls) => {
                let mut found = None;
                for url in urls {
                    found = Some(latest(&record, std::slice::from_ref(url))?);
                }
                found?
            }
            Names::Paths(paths) if paths.is_empty() => return None,
            Names::Paths(paths) => latest(&record, paths)?,
            Names::TooMany => return None,
        };
        Some(match found {
            Found::Written => "user".to_owned(),
            Found::Result(tool) => match self.executor().kind(tool) {
                Some(ExecutorKind::Native) if tool.starts_with("memory") => "memory".to_owned(),
                Some(kind) => kind.name().to_owned(),
                None => return None,
            },
        })
    }
}

/// A path or a URL that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name<'t> {
    Path(&'t str),
    Url(&'t str),
}

enum Found<'f> {
    /// The user or the operator wrote it.
    Written,
    /// This tool returned it.
    Result(&'f str),
}

/// The names in a call.
#[derive(Debug, PartialEq, Eq)]
enum Names<'t> {
    /// The URLs, if there are any.
    Urls(Vec<Name<'t>>),
    /// Otherwise, the paths.
    Paths(Vec<Name<'t>>),
    /// There are too many URLs, or one is too long.
    TooMany,
}

impl<'t> Names<'t> {
    fn new(texts: &[&'t str]) -> Self {
        let urls: Vec<&str> = texts.iter().copied().filter(|text| is_url(text)).collect();
        if urls.is_empty() {
            let names = texts.iter().filter(|text| text.len() <= LONGEST_NAME);
            let paths = names.flat_map(|text| extract_paths(text)).map(plain).map(Name::Path);
            return Self::Paths(paths.take(MOST_NAMES).collect());
        }
        if urls.len() > MOST_NAMES || urls.iter().any(|url| url.len() > LONGEST_NAME) {
            return Self::TooMany;
        }
        let whole = |url: &'t str| Name::Url(url.trim_end_matches('/'));
        Self::Urls(urls.into_iter().map(whole).collect())
    }
}

/// Whether the whole text is an HTTP URL, as browsers parse it.
fn is_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// A path without a leading `./`: `./docs/a.md` is `docs/a.md`.
fn plain(path: &str) -> &str {
    match path.strip_prefix("./").map(|rest| rest.trim_start_matches("./")) {
        Some(rest) if !rest.is_empty() => rest,
        _ => path,
    }
}

/// Finds the latest occurrence of any of the names.
fn latest<'s>(record: &'s Record, names: &[Name<'_>]) -> Option<Found<'s>> {
    let transcript = record.transcript();
    let texts: Vec<&str> = names.iter().map(Name::text).collect();
    let source = record.heard.latest(&texts, LOOKED_THROUGH, |n, source, at| {
        let (name, message) = (names.get(n), transcript.messages.get(source.message));
        name.zip(message).is_some_and(|(name, message)| {
            let outcome = source.outcome.and_then(|n| message.outcomes.get(n));
            name.occurs_at(outcome.map_or(&message.text, |outcome| &outcome.text), at)
        })
    })?;
    let before = transcript.messages.get(..=source.message)?;
    let Some(n) = source.outcome else { return Some(Found::Written) };
    let outcome = before.last()?.outcomes.get(n)?;
    let mut calls = before.iter().rev().flat_map(|message| &message.calls);
    calls.find(|call| call.id == outcome.call_id).map(|call| Found::Result(&call.tool))
}

impl<'t> Name<'t> {
    fn text(&self) -> &'t str {
        let (Self::Path(text) | Self::Url(text)) = self;
        text
    }

    /// Whether this name occurs in a text at a position as a whole, and not as the beginning or the
    /// end of a longer name.
    fn occurs_at(&self, text: &str, at: usize) -> bool {
        let Some((before, from)) = text.split_at_checked(at) else { return false };
        let Some(after) = from.strip_prefix(self.text()) else { return false };
        let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let begins = !before.chars().next_back().is_some_and(|c| inner(c) || c == '.');
        begins
            && match self {
                Self::Path(_) => !goes_on(after, inner) && !is_in_url(text, at),
                Self::Url(_) => {
                    let after = after.strip_prefix('/').unwrap_or(after);
                    !goes_on(after, |c| inner(c) || "/%=&?#~+@:".contains(c))
                }
            }
    }
}

/// Whether a name continues, with a character of a name or with a dot and such a character.
fn goes_on(after: &str, inner: impl Fn(char) -> bool) -> bool {
    let mut next = after.chars();
    match next.next() {
        Some('.') => next.next().is_some_and(inner),
        Some(c) => inner(c),
        None => false,
    }
}

fn each_text<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, texts)),
        Value::Object(members) => members.values().for_each(|item| each_text(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_outweighs_the_paths_beside_it() {
        let given = "https://a.example/x";
        assert_eq!(
            Names::new(&["src/main.rs", given]),
            Names::Urls(vec![Name::Url("https://a.example/x")])
        );
        for odd in ["HTTPS:a.example/x", "https:\\\\a.example", "http:///a.example/src/main.rs"] {
            assert!(matches!(Names::new(&["src/main.rs", odd]), Names::Urls(_)), "{odd}");
        }
        assert_eq!(Names::new(&[given; 17]), Names::TooMany);
        let long = format!("{given}{}", "y".repeat(5_000));
        assert_eq!(Names::new(&[given, &long]), Names::TooMany);
        for path in ["see src/main.rs", "./src/main.rs"] {
            assert_eq!(
                Names::new(&[path]),
                Names::Paths(vec![Name::Path("src/main.rs")]),
                "{path}"
            );
        }
    }

    #[test]
    fn names_are_whole() {
        let cases = [
            (Name::Path("src/main.rs"), "look at src/main.rs.", true),
            (Name::Path("src/main.rs"), "/project/src/main.rs:3", true),
            (Name::Path("src/main.rs"), "src/main.rs.bak", false),
            (Name::Path("src/main.rs"), "asrc/main.rs", false),
            (Name::Path("src"), "src/main.rs", true),
            (Name::Path("a/b.rs"), "docs at https://ex.org/a/b.rs ok", false),
            (Name::Path("b.rs"), "<https://ex.org/x?y=a/b.rs#z>", false),
            (Name::Path("a/b.rs"), "clone git@ex.org:a/b.rs or ex.org/a/b.rs", false),
            (Name::Path("a/b.rs"), "https://ex.org/a/b.rs is a/b.rs", true),
            (Name::Path("a/b.rs"), "see `https://ex.org/x`:a/b.rs and @a/b.rs:3", true),
            (Name::Url("https://a.example/x"), "see https://a.example/x.", true),
            (Name::Url("https://a.example/x"), "see https://a.example/x/", true),
            (Name::Url("https://a.example/x"), "see https://a.example/x/y", false),
            (Name::Url("https://a.example/x"), "see https://a.example/x?y", false),
            (Name::Url("https://a.example"), "https://a.example.evil.test/", false),
            (Name::Url("https://a.example"), "(https://a.example)", true),
        ];
        for (name, text, expected) in cases {
            let mut places = text.match_indices(name.text());
            let occurs = places.any(|(at, _)| name.occurs_at(text, at));
            assert_eq!(occurs, expected, "{name:?} in {text}");
        }
    }
}
