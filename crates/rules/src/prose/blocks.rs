use counterfoil_model::Span;

use super::block::{Block, BlockKind};
use super::fence::Fence;
use super::fields::{fields, final_answer};

/// Splits a message into blocks, in order. Every byte of prose is in at most one block.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    fields(text).unwrap_or_else(|| {
        let mut blocks = Scanner::new(text, false).run();
        read_tagged(text, &mut blocks);
        blocks
    })
}

struct Scanner<'t> {
    text: &'t str,
    blocks: Vec<Block>,
    row: usize,
    /// Whether the text is an answer from inside a fenced action. Fenced blocks in it are code.
    nested: bool,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, nested: bool) -> Self {
        Self { text, blocks: Vec::new(), row: 0, nested }
    }

    fn run(mut self) -> Vec<Block> {
        let mut fence: Option<(Fence, usize)> = None;
        let mut open: Option<(BlockKind, Span)> = None;
        let mut at = 0;
        for raw in self.text.split_inclusive('\n') {
            let start = at;
            at += raw.len();
            let line = raw.trim_end();
            let content = line.trim_start();
            let indent = line.len() - content.len();
            let begin = start + indent;
            if let Some((open, from)) = fence {
                if open.is_closed_by(content) {
                    self.fenced(Span::new(from, start));
                    fence = None;
                }
                continue;
            }
            if let Some(opened) = Fence::opened_by(content) {
                self.flush(&mut open);
                fence = Some((opened, at));
                continue;
            }
            if content.is_empty() {
                self.flush(&mut open);
                continue;
            }
            let (kind, skip) = line_kind(content);
            match kind {
                LineKind::Text => {
                    let end = start + line.len();
                    open = match open.take() {
                        Some((kind, span)) => Some((kind, Span::new(span.start, end))),
                        None => Some((BlockKind::Paragraph, Span::new(begin, end))),
                    };
                }
                LineKind::Rule => self.flush(&mut open),
                LineKind::Row => {
                    self.flush(&mut open);
                    self.cells(begin, content);
                }
                LineKind::Block(kind) => {
                    self.flush(&mut open);
                    let span = Span::new(begin + skip, start + line.len());
                    if matches!(kind, BlockKind::Item { .. } | BlockKind::Quote) {
                        open = Some((kind, span));
                    } else {
                        self.push(kind, span);
                    }
                }
            }
        }
        self.flush(&mut open);
        if let Some((_, from)) = fence {
            self.fenced(Span::new(from, self.text.len()));
        }
        self.blocks
    }

    /// Adds a fenced block: code, or an answer in a format for the agent's harness.
    fn fenced(&mut self, span: Span) {
        let answer = if self.nested { None } else { final_answer(self.text, span) };
        let Some(answer) = answer else { return self.push(BlockKind::Code, span) };
        for block in Scanner::new(answer.slice(self.text), true).run() {
            let at = |place: usize| answer.start + place;
            self.push(block.kind, Span::new(at(block.span.start), at(block.span.end)));
        }
    }

    fn flush(&mut self, open: &mut Option<(BlockKind, Span)>) {
        if let Some((kind, span)) = open.take() {
            self.push(kind, span);
        }
    }

    fn push(&mut self, kind: BlockKind, span: Span) {
        self.blocks.push(Block { kind, span });
    }

    fn cells(&mut self, begin: usize, line: &str) {
        let mut at = begin;
        let mut column = 0;
        for cell in line.split('|') {
            let inner = cell.trim();
            if !inner.is_empty() {
                let lead = cell.len() - cell.trim_start().len();
                let span = Span::new(at + lead, at + lead + inner.len());
                self.push(BlockKind::Cell { row: self.row, column }, span);
                column += 1;
            }
            at += cell.len() + 1;
        }
        self.row += 1;
    }
}

/// Reads lines such as `<answer>Done.</answer>`, unless they are part of a page, which has another
/// line that is a lone tag.
fn read_tagged(text: &str, blocks: &mut [Block]) {
    let inner =
        |block: &Block| tagged(block.span.slice(text)).filter(|_| block.kind == BlockKind::Markup);
    let page = |block: &&Block| block.kind == BlockKind::Markup && is_tag(block.span.slice(text));
    if blocks.iter().filter(page).any(|block| inner(block).is_none()) {
        return;
    }
    for block in blocks {
        if let Some(inner) = inner(block) {
            *block = Block { kind: BlockKind::Paragraph, span: inner.shifted(block.span.start) };
        }
    }
}

/// The text between the two tags of a line, if there are no others: `Done.` in
/// `<answer>Done.</answer>`.
fn tagged(line: &str) -> Option<Span> {
    let name = line.strip_prefix('<')?.split(|c: char| c.is_whitespace() || c == '>').next()?;
    let start = line.find('>')? + 1;
    let end = line.strip_suffix(&format!("</{name}>"))?.len();
    let inner = line.get(start..end)?;
    let is_text = !name.is_empty() && !inner.trim().is_empty() && !inner.contains(['<', '>']);
    is_text.then(|| Span::new(start, end))
}

fn is_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>')
}

enum LineKind {
    Text,
    Rule,
    Row,
    Block(BlockKind),
}

/// The kind of a line, and the number of bytes of markers before its content.
fn line_kind(line: &str) -> (LineKind, usize) {
    let hashes = line.bytes().take_while(|&b| b == b'#').count();
    if (1..=6).contains(&hashes) && line.as_bytes().get(hashes) == Some(&b' ') {
        return (LineKind::Block(BlockKind::Heading), hashes + 1);
    }
    if line.bytes().all(|b| matches!(b, b'-' | b'=' | b'*' | b'_' | b'|' | b':' | b'+' | b' ')) {
        return (LineKind::Rule, 0);
    }
    if line.starts_with('|') {
        return (LineKind::Row, 0);
    }
    if line.starts_with('>') {
        let skip = line.bytes().take_while(|b| matches!(b, b'>' | b' ')).count();
        return (LineKind::Block(BlockKind::Quote), skip);
    }
    if is_tag(line) || is_data(line) {
        return (LineKind::Block(BlockKind::Markup), 0);
    }
    if let Some(skip) = list_marker(line) {
        let (ticked, more) = tick(line.get(skip..).unwrap_or_default());
        return (LineKind::Block(BlockKind::Item { ticked }), skip + more);
    }
    if let (Some(ticked), skip) = tick(line) {
        return (LineKind::Block(BlockKind::Item { ticked: Some(ticked) }), skip);
    }
    let bold = line.strip_prefix("**").and_then(|l| l.trim_end_matches(':').strip_suffix("**"));
    if bold.is_some_and(|inner| !inner.contains("**") && !inner.ends_with(['.', '!', '?'])) {
        return (LineKind::Block(BlockKind::Heading), 0);
    }
    (LineKind::Text, 0)
}

/// A line of JSON printed into the text: `{`, `"key": …`, `}`.
fn is_data(line: &str) -> bool {
    let key = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    key.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
        || line.bytes().all(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b',' | b' '))
        || (line.starts_with("{\"") && line.ends_with(['}', ',']))
}

/// The number of bytes of a list marker and the white space after it.
fn list_marker(line: &str) -> Option<usize> {
    let mut chars = line.char_indices();
    let (_, first) = chars.next()?;
    let marker = match first {
        '-' | '*' | '+' | '•' | '–' | '◦' | '▪' | '→' => first.len_utf8(),
        c if c.is_ascii_digit() => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let closed = matches!(line.as_bytes().get(digits), Some(b'.' | b')'));
            if !closed || digits > 3 {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    let rest = line.get(marker..)?;
    let space = rest.len() - rest.trim_start().len();
    (space > 0).then_some(marker + space)
}

/// A check box or check mark at the start, and its number of bytes.
fn tick(line: &str) -> (Option<bool>, usize) {
    const DONE: [&str; 7] = ["[x]", "[X]", "✅", "✔️", "✔", "✓", "☑"];
    const OPEN: [&str; 5] = ["[ ]", "❌", "✗", "✘", "☐"];
    let begins = |marks: &[&str]| {
        let rest = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
        Some(line.len() - rest.trim_start().len())
    };
    match (begins(&DONE), begins(&OPEN)) {
        (Some(skip), _) => (Some(true), skip),
        (_, Some(skip)) => (Some(false), skip),
        _ => (None, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_answers_are_code() {
        let level = "```json\n{\"action\": \"Final Answer\", \"action_input\": \"\n";
        let text = level.repeat(50_000) + &"\"}\n".repeat(50_000);
        let found = blocks(&text);
        assert!(found.iter().any(|block| block.kind == BlockKind::Code), "{} blocks", found.len());
    }

    fn check(text: &str, expected: &[(BlockKind, &str)]) {
        let found: Vec<_> = blocks(text).iter().map(|b| (b.kind, b.span.slice(text))).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn layout() {
        use BlockKind::*;
        check("One.\ntwo\n\nThree", &[(Paragraph, "One.\ntwo"), (Paragraph, "Three")]);
        check("## Head\ntext", &[(Heading, "Head"), (Paragraph, "text")]);
        check("**Done:**\nx", &[(Heading, "**Done:**"), (Paragraph, "x")]);
        check(
            "- a\n  more\n* [x] b",
            &[(Item { ticked: None }, "a\n  more"), (Item { ticked: Some(true) }, "b")],
        );
        check("2. a\n✅ b", &[(Item { ticked: None }, "a"), (Item { ticked: Some(true) }, "b")]);
        check("```sh\nrun\n```\nend", &[(Code, "run\n"), (Paragraph, "end")]);
        check("```\nopen", &[(Code, "open")]);
        check(
            "| a | b |\n|---|---|\n| c | |",
            &[
                (Cell { row: 0, column: 0 }, "a"),
                (Cell { row: 0, column: 1 }, "b"),
                (Cell { row: 1, column: 0 }, "c"),
            ],
        );
        check("> said", &[(Quote, "said")]);
        check("<a>b</a>", &[(Paragraph, "b")]);
        check("x\n<p>b</p>\n<p>c</p>", &[(Paragraph, "x"), (Paragraph, "b"), (Paragraph, "c")]);
        check("<p>\n<b>c</b>\n</p>", &[(Markup, "<p>"), (Markup, "<b>c</b>"), (Markup, "</p>")]);
        check(
            r#"{"status": "Order \"X\" cancelled", "n": ["a"]}"#,
            &[(Field, r#"Order \"X\" cancelled"#), (Field, "a")],
        );
        check("{not json}", &[(Paragraph, "{not json}")]);
    }
}
