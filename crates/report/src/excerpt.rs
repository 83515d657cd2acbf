use std::ops::Range;

use counterfoil_model::Span;
use serde_json::value::RawValue;

use crate::visible::visible_char;

/// The maximum number of bytes read around a span, however long the message is.
const REACH: usize = 2_000;
/// The maximum number of lines shown of a span.
const LINES: usize = 5;

/// A few lines of a text, safe to print, with the relevant part marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The lines, joined by line breaks.
    pub(crate) text: String,
    /// The byte ranges to underline, at most one per line.
    pub(crate) marks: Vec<Range<usize>>,
}

impl Excerpt {
    /// Returns the lines of `span` with one line before and after, each cut to `width` characters
    /// around the marked part. The cost does not depend on the length of the text.
    pub(crate) fn around(text: &str, span: Span, width: usize) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
        let shown_end = text.floor_char_boundary(end.min(start + REACH)).max(start);
        let from = text.ceil_char_boundary(start.saturating_sub(REACH));
        let to = text.floor_char_boundary((shown_end + REACH).min(text.len()));
        let window = text.get(from..to).unwrap_or_default();
        let (start, shown_end) = (start - from, shown_end - from);

        let mut excerpt = Self::default();
        let mut shown = 0;
        let mut before: Option<&str> = None;
        let mut at = 0;
        for line in window.split('\n') {
            let (line_start, line_end) = (at, at + line.len());
            at = line_end + 1;
            if line_end < start || (line_end == start && start < shown_end) {
                before = Some(line);
                continue;
            }
            if line_start >= shown_end && shown > 0 {
                if shown <= LINES && !line.trim().is_empty() {
                    excerpt.push(line, None, width);
                }
                break;
            }
            if shown == 0
                && let Some(before) = before.filter(|line| !line.trim().is_empty())
            {
                excerpt.push(before, None, width);
            }
            shown += 1;
            if shown > LINES {
                excerpt.push("…", None, width);
                break;
            }
            let mark = start.saturating_sub(line_start)..shown_end.min(line_end) - line_start;
            excerpt.push(line, Some(trimmed(line, mark)), width);
        }
        excerpt
    }

    /// Returns a call as it was made, with the argument at `pointer` or the tool's name marked.
    pub(crate) fn of_call(tool: &str, arguments: &str, pointer: &str, width: usize) -> Self {
        let head = format!("{tool}(");
        let room = width.saturating_sub(head.chars().count() + 1).max(width / 2);
        let mark = locate(arguments, pointer).filter(|_| !pointer.is_empty());
        let (arguments, mark) = cut(arguments, mark, room);
        let mark = mark.map_or(0..tool.len(), |m| head.len() + m.start..head.len() + m.end);
        let mut excerpt = Self::default();
        excerpt.push(&format!("{head}{arguments})"), Some(mark), usize::MAX);
        excerpt
    }

    fn push(&mut self, line: &str, mark: Option<Range<usize>>, width: usize) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let (line, mark) = cut(line, mark, width);
        let offset = self.text.len();
        let mut marked = None;
        let (mut from, mut to) = (offset, offset);
        for (at, c) in line.char_indices() {
            if let Some(mark) = &mark {
                if at == mark.start {
                    from = self.text.len();
                    marked = Some(());
                }
                if at == mark.end {
                    to = self.text.len();
                }
            }
            self.text.push(visible_char(c));
        }
        if let Some(mark) = mark {
            if mark.end >= line.len() {
                to = self.text.len();
            }
            if marked.is_some() && to > from {
                self.marks.push(from..to);
            }
        }
    }
}

/// Returns the range without the white space at its ends.
fn trimmed(line: &str, mark: Range<usize>) -> Range<usize> {
    let text = line.get(mark.clone()).unwrap_or_default();
    let start = mark.start + (text.len() - text.trim_start().len());
    let end = (mark.start + text.trim_end().len()).max(start);
    start..end
}

/// Cuts a line to at most `width` characters around the mark, with `…` at each cut.
fn cut(line: &str, mark: Option<Range<usize>>, width: usize) -> (String, Option<Range<usize>>) {
    let line = line.trim_end();
    if line.char_indices().nth(width).is_none() {
        return (line.to_owned(), mark);
    }
    let start = mark.as_ref().map_or(0, |mark| mark.start.min(line.len()));
    let marked = line.get(start..mark.as_ref().map_or(0, |m| m.end)).unwrap_or_default();
    // Context before the mark gets the space that the mark leaves, up to a third of the width.
    let room = width.saturating_sub(marked.chars().count() + 2).min(width / 3);
    let head = line.get(..start).unwrap_or_default();
    let kept: usize = match head.char_indices().rev().nth(room) {
        None => 0,
        Some((at, _)) => head
            .get(at..)
            .and_then(|tail| tail.find(' ').filter(|&blank| blank < 20))
            .map_or(at, |blank| at + blank + 1),
    };
    let mut short = String::new();
    if kept > 0 {
        short.push('…');
    }
    let lead = short.len();
    let tail = line.get(kept..).unwrap_or_default();
    let room = width.saturating_sub(2);
    let end = tail.char_indices().nth(room).map_or(tail.len(), |(at, _)| at);
    short.push_str(tail.get(..end).unwrap_or_default());
    let last = short.len();
    if end < tail.len() {
        short.push('…');
    }
    let mark = mark.map(|m| {
        let shift = |at: usize| (at.saturating_sub(kept) + lead).min(last);
        shift(m.start)..shift(m.end)
    });
    (short, mark)
}

/// Returns the range of the value at a JSON pointer in the text of a JSON document, or the range of
/// its nearest existing ancestor.
fn locate(text: &str, pointer: &str) -> Option<Range<usize>> {
    let mut value: &RawValue = serde_json::from_str(text).ok()?;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let inner = if let Ok(index) = token.parse::<usize>()
            && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(value.get())
        {
            items.get(index).copied()
        } else {
            serde_json::from_str::<std::collections::BTreeMap<String, &RawValue>>(value.get())
                .ok()
                .and_then(|members| members.get(&token).copied())
        };
        match inner {
            Some(inner) => value = inner,
            None => return None,
        }
    }
    // A borrowed raw value is a slice of the text it was read from.
    let start = (value.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let range = start..start + value.get().len();
    text.get(range.clone()).is_some().then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The excerpt with `[` and `]` around what is marked.
    fn drawn(excerpt: &Excerpt) -> String {
        let mut text = excerpt.text.clone();
        for mark in excerpt.marks.iter().rev() {
            text.insert(mark.end, ']');
            text.insert(mark.start, '[');
        }
        text
    }

    #[track_caller]
    fn check(text: &str, needle: &str, width: usize, expected: &str) {
        let start = text.find(needle).unwrap();
        let span = Span::new(start, start + needle.len());
        assert_eq!(drawn(&Excerpt::around(text, span, width)), expected);
    }

    #[test]
    fn shows_the_claim_with_a_line_before_and_after() {
        check("All tests pass.", "All tests pass.", 80, "[All tests pass.]");
        check("one\ntwo\nthree\nfour\nfive", "three", 80, "two\n[three]\nfour");
        check("one\n\nthree\n\nfive", "three", 80, "[three]");
        check("a\nb c\nd e\nf", "c\nd", 80, "a\nb [c]\n[d] e\nf");
        check("1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\n5\n6\n7", 9, "[1]\n[2]\n[3]\n[4]\n[5]\n…");
    }

    #[test]
    fn long_lines_are_cut_around_the_claim() {
        let text = format!("{}I sent the mail. {}", "word ".repeat(400), "more ".repeat(400));
        check(
            &text,
            "I sent the mail.",
            60,
            "…word word word word [I sent the mail.] more more more more m…",
        );
        let text = format!("{}ß", "ü".repeat(5000));
        check(&text, &"ü".repeat(4000), 20, &format!("[{}]…", "ü".repeat(18)));
    }

    #[test]
    fn a_span_that_fits_nothing_marks_nothing() {
        let excerpt = Excerpt::around("grün", Span::new(90, 99), 80);
        assert_eq!(excerpt, Excerpt { text: "grün".to_owned(), marks: vec![] });
        let excerpt = Excerpt::around("", Span::new(0, 0), 80);
        assert_eq!(excerpt, Excerpt::default());
        // A span inside a character marks the whole character.
        let excerpt = Excerpt::around("grün", Span::new(3, 4), 80);
        assert_eq!(drawn(&excerpt), "gr[ü]n");
    }

    #[test]
    fn every_span_of_every_width_gives_marks_that_fit() {
        let text = "aß\n\n çd e\t\u{1b}[0m\n日本語 text\n\n😀 end ";
        for start in 0..=text.len() + 1 {
            for end in 0..=text.len() + 1 {
                for width in 0..24 {
                    let excerpt = Excerpt::around(text, Span { start, end }, width);
                    for mark in &excerpt.marks {
                        assert!(excerpt.text.get(mark.clone()).is_some_and(|t| !t.is_empty()));
                    }
                }
            }
        }
    }

    #[test]
    fn an_argument_is_found_by_its_pointer() {
        let arguments = r#"{"order": {"items": [1, {"a/b": "x"}]}}"#;
        for (pointer, expected) in [
            ("/order/items/1/a~1b", r#"f({"order": {"items": [1, {"a/b": ["x"]}]}})"#),
            ("/order/items/0", r#"f({"order": {"items": [[1], {"a/b": "x"}]}})"#),
            ("/missing", r#"[f]({"order": {"items": [1, {"a/b": "x"}]}})"#),
            ("", r#"[f]({"order": {"items": [1, {"a/b": "x"}]}})"#),
        ] {
            assert_eq!(drawn(&Excerpt::of_call("f", arguments, pointer, 80)), expected);
        }
        assert_eq!(drawn(&Excerpt::of_call("f", "{broken", "/a", 80)), "[f]({broken)");
        let long = format!(r#"{{"a":"{}","b":17}}"#, "x".repeat(500));
        assert_eq!(
            drawn(&Excerpt::of_call("tool", &long, "/b", 40)),
            r#"tool(…xxxxxx","b":[17]})"#
        );
    }
}
