//! Normalises texts for comparison.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Whether a character is invisible: format characters, variation selectors, tags.
pub(crate) fn is_format(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064
        | 0x2066..=0x206f | 0xfe00..=0xfe0f | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe0fff)
}

/// The normalised form of a text.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    each(text, |c, _| folded.push(c));
    folded
}

/// Maps ranges of the normalised text back to bytes of the original. The ranges must ascend and not
/// overlap.
pub(super) fn places(text: &str, folded: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let mut found: Vec<Range<usize>> = Vec::with_capacity(folded.len());
    let (mut wanted, mut start) = (folded.iter().peekable(), None);
    let mut at = 0;
    each(text, |c, source| {
        let next = at + c.len_utf8();
        if let Some(range) = wanted.peek() {
            if at == range.start {
                start = Some(source.start);
            }
            if next == range.end
                && let Some(start) = start.take()
            {
                found.push(start..source.end);
                wanted.next();
            }
        }
        at = next;
    });
    (found.len() == folded.len()).then_some(found)
}

/// Calls `push` with each normalised character and the bytes it comes from.
fn each(text: &str, push: impl FnMut(char, Range<usize>)) {
    let mut folder = Folder { text, push, slashes: None, decoded: 0, blank: None, started: false };
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // Of an ASCII run, only the last character can combine with what follows.
        let plain = rest.bytes().take_while(u8::is_ascii).count();
        let plain = if plain == rest.len() { plain } else { plain.saturating_sub(1) };
        for (i, c) in rest.get(..plain).unwrap_or_default().char_indices() {
            folder.read(c, at + i..at + i + 1);
        }
        at += plain;
        let Some(cluster) = text.get(at..).and_then(|rest| rest.graphemes(true).next()) else {
            break;
        };
        let source = at..at + cluster.len();
        at = source.end;
        let seen = cluster.chars().filter(|c| !is_format(*c));
        seen.nfc().for_each(|c| folder.read(c, source.clone()));
    }
    folder.end();
}

/// Normalises a text character by character.
struct Folder<'s, F> {
    text: &'s str,
    push: F,
    /// Backslashes that may begin an escape.
    slashes: Option<Range<usize>>,
    /// Number of characters to skip because an escape consumed them.
    decoded: usize,
    blank: Option<Range<usize>>,
    started: bool,
}

impl<F: FnMut(char, Range<usize>)> Folder<'_, F> {
    /// Reads a character, decoding escapes as in JSON: `\n`, `\"`, `\u00e9`.
    fn read(&mut self, c: char, source: Range<usize>) {
        if self.decoded > 0 {
            self.decoded -= 1;
            return;
        }
        if c == '\\' {
            let from = self.slashes.as_ref().map_or(source.start, |slashes| slashes.start);
            self.slashes = Some(from..source.end);
            return;
        }
        let Some(slashes) = self.slashes.take() else { return self.fold(c, source) };
        let whole = slashes.start..source.end;
        match c {
            'n' | 'r' | 't' => self.fold(' ', whole),
            '"' | '/' => self.fold(c, whole),
            'u' if let Some(decoded) = self.decode(source.end) => {
                self.decoded = 4;
                self.fold(decoded, whole.start..source.end + 4);
            }
            c => {
                slashes.for_each(|at| self.fold('\\', at..at + 1));
                self.fold(c, source);
            }
        }
    }

    /// The character given by four hexadecimal digits.
    fn decode(&self, at: usize) -> Option<char> {
        let digits = self.text.get(at..at + 4)?;
        let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| hex).and_then(char::from_u32)
    }

    fn fold(&mut self, c: char, source: Range<usize>) {
        if is_format(c) {
            return;
        }
        if c.is_whitespace() || c.is_control() {
            let from = self.blank.as_ref().map_or(source.start, |blank| blank.start);
            self.blank = Some(from..source.end);
            return;
        }
        if let Some(blank) = self.blank.take().filter(|_| self.started) {
            (self.push)(' ', blank);
        }
        self.started = true;
        for c in straight(c).to_lowercase() {
            (self.push)(if c == 'ς' { 'σ' } else { c }, source.clone());
        }
    }

    fn end(&mut self) {
        for at in self.slashes.take().into_iter().flatten() {
            self.fold('\\', at..at + 1);
        }
    }
}

/// Replaces typographic quotes and dashes with ASCII.
fn straight(c: char) -> char {
    match c {
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' => '"',
        '‘' | '’' | '‚' | '‛' | '′' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        c => c,
    }
}
