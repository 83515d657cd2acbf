//! Execution ids in a text.

use std::collections::BTreeMap;

use counterfoil_model::{ExecutionId, Span, execution_ids};

use super::fences::Setting;

/// An execution id in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Its position.
    pub(crate) span: Span,
    /// The id.
    pub(crate) id: String,
    /// Whether the text calls it an execution id.
    pub(crate) labelled: bool,
    /// The kind of text that contains it.
    pub(crate) setting: Setting,
}

/// All ids in a text: those that match the grammar, and those that are called an execution id.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let mut found: BTreeMap<usize, Mention> = BTreeMap::new();
    for (span, id) in execution_ids(text) {
        let labelled = is_labelled(text, span.start);
        let mention = Mention { span, id: id.id.to_owned(), labelled, setting: Setting::Plain };
        found.insert(span.start, mention);
    }
    for span in labelled_tokens(text) {
        let id = span.slice(text).to_owned();
        let overlaps = found.values().any(|m| m.span.overlaps(span));
        if !overlaps && ExecutionId::parse(&id).is_none() {
            found.insert(span.start, Mention { span, id, labelled: true, setting: Setting::Plain });
        }
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Mention> = Vec::new();
    for mention in found.into_values() {
        match seen.get(&mention.id).and_then(|&at| kept.get_mut(at)) {
            Some(first) => first.labelled |= mention.labelled,
            None => {
                seen.insert(mention.id.clone(), kept.len());
                kept.push(mention);
            }
        }
    }
    kept
}

const LABELS: [&str; 4] = ["execution_id", "execution id", "execution-id", "executionid"];

/// Whether a text speaks of an execution id.
pub(super) fn contains_label(text: &str) -> bool {
    text.contains("xecution") && {
        let lower = text.to_ascii_lowercase();
        LABELS.iter().any(|label| lower.contains(label))
    }
}

/// Whether the text before `at` calls it an execution id.
fn is_labelled(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let from = before.char_indices().rev().nth(24).map_or(0, |(i, _)| i);
    let before = before.get(from..).unwrap_or_default().to_ascii_lowercase();
    let before = before.trim_end_matches(is_label_glue);
    LABELS.iter().any(|label| before.ends_with(label))
}

/// The tokens that follow a label and contain a digit.
fn labelled_tokens(text: &str) -> Vec<Span> {
    if !text.contains("xecution") {
        return Vec::new();
    }
    let lower = text.to_ascii_lowercase();
    let mut spans = Vec::new();
    for label in LABELS {
        for (at, _) in lower.match_indices(label) {
            let rest = text.get(at + label.len()..).unwrap_or_default();
            let glue = rest.len() - rest.trim_start_matches(is_label_glue).len();
            let separated = rest.get(..glue).is_some_and(|g| g.contains([':', '=']));
            let start = at + label.len() + glue;
            let token = text.get(start..).unwrap_or_default();
            let length = token
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
                .count();
            let token = token.get(..length).unwrap_or_default().trim_end_matches(['.', '-']);
            if separated && token.len() >= 4 && token.bytes().any(|b| b.is_ascii_digit()) {
                spans.push(Span::new(start, start + token.len()));
            }
        }
    }
    spans.sort();
    spans.dedup();
    spans
}

fn is_label_glue(c: char) -> bool {
    matches!(c, ' ' | ':' | '=' | '"' | '\'' | '`' | '*' | '“' | '#')
}
