//! Markdown as far as it matters who sees what: prose, fenced code, and HTML comments.

/// A part of a Markdown text. Lines are those of the file, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Lines that are displayed.
    Prose(Vec<(usize, &'t str)>),
    /// A fenced code block.
    Code(Code<'t>),
    /// Lines from one that begins with `<!--` to one that has `-->`. A fence in it is no code.
    Comment(Vec<(usize, &'t str)>),
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code<'t> {
    /// The line of the opening fence.
    pub(super) line: usize,
    /// What the opening fence says of the language.
    pub(super) language: &'t str,
    /// The lines between the fences.
    pub(super) lines: Vec<(usize, &'t str)>,
    /// Whether there is a closing fence.
    pub(super) is_closed: bool,
}

/// The parts of a text whose first line is `first`.
pub(super) fn parts(text: &str, first: usize) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut prose = Vec::new();
    let mut lines = text.lines().zip(first..).map(|(line, number)| (number, line)).peekable();
    while let Some((number, line)) = lines.next() {
        let part = if let Some(fence) = Fence::opening(line) {
            Part::Code(code(number, fence, &mut lines))
        } else if line.trim_start().starts_with("<!--") {
            Part::Comment(comment((number, line), &mut lines))
        } else {
            prose.push((number, line));
            continue;
        };
        if !prose.is_empty() {
            parts.push(Part::Prose(std::mem::take(&mut prose)));
        }
        parts.push(part);
    }
    if !prose.is_empty() {
        parts.push(Part::Prose(prose));
    }
    parts
}

fn code<'t>(
    line: usize,
    fence: Fence<'t>,
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
) -> Code<'t> {
    let mut code = Code { line, language: fence.language, lines: Vec::new(), is_closed: false };
    for (number, line) in lines {
        if fence.is_closed_by(line) {
            code.is_closed = true;
            break;
        }
        code.lines.push((number, line));
    }
    code
}

fn comment<'t>(
    first: (usize, &'t str),
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
) -> Vec<(usize, &'t str)> {
    let mut comment = vec![first];
    while comment.last().is_some_and(|(_, line)| !line.contains("-->")) {
        match lines.next() {
            Some(line) => comment.push(line),
            None => break,
        }
    }
    comment
}

struct Fence<'t> {
    mark: char,
    length: usize,
    language: &'t str,
}

impl<'t> Fence<'t> {
    /// However far it is indented: in a list that is part of the item.
    fn opening(line: &'t str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = line.trim_start_matches(mark);
        let length = line.len() - rest.len();
        let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
        is_fence.then(|| Self { mark, length, language: rest.trim() })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sees_what() {
        let text = "a\n```sh x\nb\n````\nc\n<!-- d\n```tool\n-->\n~~~~\n~~~\n```\n";
        let code = |line, language, lines, is_closed| {
            Part::Code(Code { line, language, lines, is_closed })
        };
        assert_eq!(
            parts(text, 5),
            [
                Part::Prose(vec![(5, "a")]),
                code(6, "sh x", vec![(7, "b")], true),
                Part::Prose(vec![(9, "c")]),
                Part::Comment(vec![(10, "<!-- d"), (11, "```tool"), (12, "-->")]),
                code(13, "", vec![(14, "~~~"), (15, "```")], false),
            ]
        );
        assert_eq!(parts("```a`b```\n``\n", 1).len(), 1);
        assert_eq!(parts("", 1), []);
    }
}
