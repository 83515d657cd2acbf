use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The kept part of an output stream: its beginning and its end, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct Capture {
    /// The maximum size of head and tail in bytes, each.
    most: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// A capture that keeps enough to show `characters`.
    pub(super) fn new(characters: usize) -> Self {
        // A character has at most four bytes.
        let most = characters.saturating_mul(4);
        Self { most, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.most.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(head);
        let rest = rest.get(rest.len().saturating_sub(self.most)..).unwrap_or_default();
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.most);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(rest);
    }

    pub(super) fn finish(self) -> Captured {
        let Self { head, tail, total, .. } = self;
        let tail = Vec::from(tail);
        let whole = (head.len() + tail.len()) as u64 == total;
        if whole {
            let bytes = [head, tail].concat();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Captured { head: text, tail: None, total };
        }
        let tail = String::from_utf8_lossy(from_boundary(&tail)).into_owned();
        let head = String::from_utf8_lossy(to_boundary(&head)).into_owned();
        Captured { head, tail: Some(tail), total }
    }
}

/// The combined output of a command so far, for reading while it runs.
#[derive(Debug, Clone)]
pub(super) struct Echo(Arc<Mutex<Capture>>);

impl Echo {
    pub(super) fn new(characters: usize) -> Self {
        Self(Arc::new(Mutex::new(Capture::new(characters))))
    }

    pub(super) fn push(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }

    /// The output so far.
    pub(super) fn so_far(&self) -> Captured {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().finish()
    }
}

/// The captured part of an output stream.
#[derive(Debug)]
pub(super) struct Captured {
    /// All of it, or its beginning.
    head: String,
    /// Its end, if something in between is missing.
    tail: Option<String>,
    /// The total number of bytes.
    total: u64,
}

impl Captured {
    /// The number of characters; `usize::MAX` if something is missing.
    pub(super) fn characters(&self) -> usize {
        if self.tail.is_some() { usize::MAX } else { self.head.chars().count() }
    }

    /// The text in at most `limit` characters, and whether something is missing.
    pub(super) fn text(&self, limit: usize) -> (String, bool) {
        if self.characters() <= limit {
            return (self.head.clone(), false);
        }
        // Room is reserved for the longest possible mark.
        let half = limit.saturating_sub(mark(u64::MAX).len()) / 2;
        let head = first(&self.head, half);
        let tail = last(self.tail.as_deref().unwrap_or(&self.head), half);
        let shown = (head.len() + tail.len()) as u64;
        let text = format!("{head}{}{tail}", mark(self.total.saturating_sub(shown)));
        (first(&text, limit).to_owned(), true)
    }
}

fn mark(bytes: u64) -> String {
    format!("\n[... {bytes} bytes left out ...]\n")
}

/// Divides `limit` characters between output and error output: the error output gets what it needs
/// up to a third, plus whatever the output leaves.
pub(super) fn shares(limit: usize, stdout: usize, stderr: usize) -> (usize, usize) {
    if stdout.saturating_add(stderr) <= limit {
        return (stdout, stderr);
    }
    let for_stderr = stderr.min(limit / 3).max(limit.saturating_sub(stdout)).min(stderr);
    (limit - for_stderr, for_stderr)
}

fn first(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn last(text: &str, characters: usize) -> &str {
    let Some(before) = characters.checked_sub(1) else { return "" };
    let start = text.char_indices().rev().nth(before).map_or(0, |(start, _)| start);
    text.get(start..).unwrap_or(text)
}

/// Removes an incomplete character at the end.
fn to_boundary(bytes: &[u8]) -> &[u8] {
    let lead = bytes.iter().rev().take(4).position(|byte| byte & 0xC0 != 0x80);
    let Some(continuations) = lead else { return bytes };
    let at = bytes.len() - 1 - continuations;
    let needs = match bytes.get(at) {
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF7) => 4,
        _ => 1,
    };
    if continuations + 1 < needs { bytes.get(..at).unwrap_or(bytes) } else { bytes }
}

/// Removes an incomplete character at the beginning.
fn from_boundary(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    bytes.get(start..).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(text: &[u8], limit: usize, piece: usize) -> (String, bool) {
        let mut capture = Capture::new(limit);
        text.chunks(piece).for_each(|piece| capture.push(piece));
        capture.finish().text(limit)
    }

    #[test]
    fn short_output_is_kept_whole() {
        let cases: [(&[u8], &str); 4] = [
            (b"", ""),
            (b"one\n", "one\n"),
            ("größe".as_bytes(), "größe"),
            (b"a\xffb", "a\u{fffd}b"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(captured(bytes, 10, 3), (expected.to_owned(), false));
        }
    }

    #[test]
    fn long_output_keeps_head_and_tail() {
        let text = format!("{}{}", "h".repeat(500), "t".repeat(500));
        // The mark takes up to 47 characters; each end gets half of the rest.
        let expected =
            format!("{}\n[... 948 bytes left out ...]\n{}", "h".repeat(26), "t".repeat(26));
        assert_eq!(captured(text.as_bytes(), 100, 7), (expected, true));
    }

    #[test]
    fn shares_of_the_limit() {
        let cases = [
            ((90, 10, 10), (10, 10)),
            ((90, 100, 0), (90, 0)),
            ((90, 100, 10), (80, 10)),
            ((90, 100, 100), (60, 30)),
            ((90, 20, 100), (20, 70)),
            ((90, usize::MAX, usize::MAX), (60, 30)),
            ((90, 0, usize::MAX), (0, 90)),
        ];
        for ((limit, stdout, stderr), expected) in cases {
            assert_eq!(shares(limit, stdout, stderr), expected, "{limit} {stdout} {stderr}");
        }
    }

    proptest! {
        /// Never longer than allowed, never a broken character, always head and tail, however the
        /// output is split.
        #[test]
        fn cut_on_character_boundaries(
            text in "[a-zäß€😀\n]{0,3000}",
            limit in 60_usize..400,
            piece in 1_usize..50,
        ) {
            let (shown, truncated) = captured(text.as_bytes(), limit, piece);
            let count = text.chars().count();
            prop_assert_eq!(truncated, count > limit);
            prop_assert!(shown.chars().count() <= limit);
            prop_assert!(!shown.contains(char::REPLACEMENT_CHARACTER), "{}", shown);
            if truncated {
                let half = (limit - mark(u64::MAX).len()) / 2;
                prop_assert!(shown.starts_with(first(&text, half)));
                prop_assert!(shown.ends_with(last(&text, half)));
            } else {
                prop_assert_eq!(shown, text);
            }
        }

        /// Memory does not grow with the output.
        #[test]
        fn memory_is_bounded(pieces in proptest::collection::vec(0_usize..5_000, 0..50)) {
            let mut capture = Capture::new(100);
            for size in pieces {
                capture.push(&vec![b'x'; size]);
                prop_assert!(capture.head.len() <= 400 && capture.tail.len() <= 400);
            }
        }
    }
}
