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
/// Escaped as in Markdown, `ping\_17…`, or with characters that have no width, it is the same id.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let is_marked = text.contains("\\_") || text.contains(HIDDEN);
    if !is_marked {
        return mentions_in(text);
    }
    let kept = |(at, c): &(usize, char)| {
        let escapes = *c == '\\' && text.get(at + 1..).is_some_and(|rest| rest.starts_with('_'));
        !escapes && !HIDDEN.contains(c)
    };
    let mut plain = String::new();
    // The place in the text of each byte of the plain one.
    let mut places = Vec::new();
    for (at, c) in text.char_indices().filter(kept) {
        plain.push(c);
        places.extend((at..).take(c.len_utf8()));
    }
    places.push(text.len());
    let place = |at: usize| places.get(at).copied().unwrap_or(text.len());
    let mut found = mentions_in(&plain);
    for mention in &mut found {
        let last = mention.span.end.saturating_sub(1);
        mention.span = Span::new(place(mention.span.start), place(last) + 1);
    }
    found
}

/// Characters without a width.
const HIDDEN: [char; 6] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];

fn mentions_in(text: &str) -> Vec<Mention> {
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
