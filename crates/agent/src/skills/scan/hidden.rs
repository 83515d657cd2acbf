//! Texts that are not displayed: HTML comments, and what is hidden by other means.

use std::sync::LazyLock;

use regex::Regex;

use super::super::markdown::Line;

/// A comment without an end hides everything that follows.
static COMMENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("(?s)<!--(.*?)(?:-->|$)").ok());

/// The comments of displayed lines, with the line on which each begins; and what else of them is
/// not displayed.
pub(super) fn hidden(lines: &[Line<'_>]) -> Vec<(usize, String)> {
    let text = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
    let (mut found, mut from, mut first) = (Vec::new(), 0, 0);
    for comment in COMMENT.iter().flat_map(|comment| comment.captures_iter(&text)) {
        let [whole, inside] = [0, 1].map(|group| comment.get(group));
        let start = whole.map_or(0, |whole| whole.start());
        first += text.get(from..start).unwrap_or_default().matches('\n').count();
        from = start;
        let line = lines.get(first).map_or(0, |(line, _)| *line);
        found.push((line, inside.map_or("", |inside| inside.as_str()).to_owned()));
    }
    let asides = lines.iter().filter_map(|(line, text)| Some((*line, aside(text)?.to_owned())));
    found.extend(asides);
    found
}

/// What a line hides without a comment.
fn aside(line: &str) -> Option<&str> {
    let line = line.trim();
    let label = line.strip_prefix("[//]:").or_else(|| line.strip_prefix("[comment]:"));
    if let Some(text) = label {
        return Some(text.trim_start_matches([' ', '#', '<', '>', '(', '"', '\'']));
    }
    let lower = line.to_ascii_lowercase();
    let styles = ["display:none", "display: none", "visibility:hidden", "font-size:0", "opacity:0"];
    let is_hidden = lower.starts_with('<')
        && (styles.iter().any(|style| lower.contains(style)) || lower.contains(" hidden>"));
    is_hidden.then(|| line.split_once('>').map_or("", |(_, text)| text))
}
