//! Markdown as far as it matters who sees what: text, and fenced code.

/// A line of a file, from 1, and its text.
pub(super) type Line<'t> = (usize, &'t str);

/// A part of a Markdown text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Lines that are no code. A fence within an HTML comment is none.
    Prose(Vec<Line<'t>>),
    /// A fenced code block.
    Code(Code<'t>),
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code<'t> {
    /// The line of the opening fence.
    pub(super) line: usize,
    /// What the opening fence says of the language.
    pub(super) language: &'t str,
    /// The lines between the fences.
    pub(super) lines: Vec<Line<'t>>,
    /// Whether there is a closing fence.
    pub(super) is_closed: bool,
}

/// The parts of a text whose first line is `first`.
pub(super) fn parts(text: &str, first: usize) -> Vec<Part<'_>> {
    let (mut parts, mut prose, mut in_comment) = (Vec::new(), Vec::new(), false);
    let mut lines = (first..).zip(text.lines());
    while let Some((line, text)) = lines.next() {
        in_comment |= text.trim_start().starts_with("<!--");
        let Some((mark, length, language)) = fence(text).filter(|_| !in_comment) else {
            in_comment &= !text.contains("-->");
            prose.push((line, text));
            continue;
        };
        if !prose.is_empty() {
            parts.push(Part::Prose(std::mem::take(&mut prose)));
        }
        let mut code = Code { line, language, lines: Vec::new(), is_closed: false };
        for (line, text) in lines.by_ref() {
            let fence = text.trim();
            if fence.len() >= length && fence.chars().all(|c| c == mark) {
                code.is_closed = true;
                break;
            }
            code.lines.push((line, text));
        }
        parts.push(Part::Code(code));
    }
    if !prose.is_empty() {
        parts.push(Part::Prose(prose));
    }
    parts
}

/// An opening fence: its mark, its length and its language. It may be indented however far, as in
/// the item of a list.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
    is_fence.then(|| (mark, length, rest.trim()))
}
