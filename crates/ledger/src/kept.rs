//! Signed notes in a file, one after another: what a witness stores, and the cosigned checkpoints
//! of a ledger.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The notes of a file, and how many of its bytes belong to none.
///
/// A note is lines of text, an empty line, and lines of signatures. Incomplete notes are skipped,
/// such as what a crash left of a note that was being added, even if it ends within a character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptNotes {
    /// The complete notes, in order.
    pub notes: Vec<String>,
    /// The number of bytes that belong to no note.
    pub torn: usize,
    /// The offset at which the last note ends.
    pub end: usize,
}

/// The shortest signature in bytes: four that name its key, and 64.
const SHORTEST: usize = 68;

impl KeptNotes {
    /// Reads the notes that have at least this many signatures.
    #[must_use]
    pub fn read(bytes: &[u8], signatures: usize) -> Self {
        let mut kept = Self::default();
        let (mut start, mut at, mut signed, mut after_text) = (0, 0, 0, false);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if (after_text || signed > 0) && is_signature(line) {
                signed += 1;
            } else if after_text || signed > 0 {
                // Another note begins, whether or not the one before is complete.
                kept.add(bytes.get(start..at).filter(|_| signed >= signatures), at);
                (start, signed) = (at, 0);
            }
            after_text = signed == 0 && line == b"\n";
            at += line.len();
        }
        kept.add(bytes.get(start..at).filter(|_| signed > 0 && signed >= signatures), at);
        kept.torn = bytes.len() - kept.notes.iter().map(String::len).sum::<usize>();
        kept
    }

    fn add(&mut self, note: Option<&[u8]>, end: usize) {
        if let Some(note) = note.and_then(|note| std::str::from_utf8(note).ok()) {
            self.notes.push(note.to_owned());
            self.end = end;
        }
    }
}

/// Whether the bytes may be what a crash left of a note of this origin: its beginning, with fewer
/// complete signatures than `signatures`. Anything else was changed deliberately.
pub(super) fn is_cut(bytes: &[u8], origin: &str, signatures: usize) -> bool {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let begun = match first.strip_suffix(b"\n") {
        Some(line) => line == origin.as_bytes(),
        None => origin.as_bytes().starts_with(first),
    };
    let after_text = lines.skip_while(|line| *line != b"\n").skip(1);
    let mut ended = after_text.filter(|line| line.ends_with(b"\n")).peekable();
    let mut whole = 0;
    while ended.next_if(|line| is_signature(line)).is_some() {
        whole += 1;
    }
    begun && ended.peek().is_none() && whole < signatures
}

/// Whether a line is a complete signature.
fn is_signature(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
    let named = line.and_then(|line| line.strip_prefix("\u{2014} ")?.split_once(' '));
    let bytes = named.and_then(|(_, encoded)| STANDARD.decode(encoded).ok());
    bytes.is_some_and(|bytes| bytes.len() >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str, signatures: usize) -> String {
        let line = format!("\u{2014} k\u{e9}y {}\n", STANDARD.encode([7; SHORTEST]));
        format!("{text}\n\n{}", line.repeat(signatures))
    }

    #[test]
    fn what_is_torn_is_passed_over_wherever_it_was_cut() {
        let (first, second, third) = (note("a\n1", 2), note("\u{e4}\n22", 2), note("c\n3", 3));
        let whole = format!("{first}{second}{third}").into_bytes();
        for cut in 0..=second.len() {
            let torn = second.as_bytes().get(..cut).unwrap();
            let last = [first.as_bytes(), torn].concat();
            let kept = KeptNotes::read(&last, 2);
            let is_whole = cut == second.len();
            let expected =
                if is_whole { vec![first.clone(), second.clone()] } else { vec![first.clone()] };
            assert_eq!(kept.notes, expected, "cut at {cut}");
            let torn_bytes = if is_whole { 0 } else { cut };
            assert_eq!(
                (kept.torn, kept.end),
                (torn_bytes, last.len() - torn_bytes),
                "cut at {cut}"
            );
            assert!(is_whole || is_cut(torn, "\u{e4}", 2), "cut at {cut}");
            // What was added after an empty line is read.
            let gone_on = [&last[..], b"\n\n", third.as_bytes()].concat();
            let kept = KeptNotes::read(&gone_on, 2);
            assert_eq!(kept.notes.last(), Some(&third), "cut at {cut}");
            assert_eq!(kept.notes.first(), Some(&first), "cut at {cut}");
            assert_eq!(kept.end, gone_on.len());
        }
        assert_eq!(KeptNotes::read(&whole, 2).notes, [first, second, third.clone()]);
        assert_eq!(KeptNotes::read(&whole, 3).notes, [third]);
        assert_eq!(KeptNotes::read(b"", 1), KeptNotes::default());
        let other = KeptNotes::read(b"Dear all,\n\nno.\n", 1);
        assert_eq!((other.notes.len(), other.torn, other.end), (0, 15, 0));
    }

    #[test]
    fn what_was_changed_is_not_what_a_crash_left() {
        let (one, two) = (note("a\n1", 1), note("a\n1", 2));
        for (bytes, cut) in [
            (&*one, true),
            ("a", true),
            ("", true),
            (&*two, false),
            (&two.replacen("Bw", "B?", 1), false),
            (&one.replacen("Bw", "B?", 1), false),
            ("b\n1", false),
            ("Dear all,\n\nno.\n", false),
            ("\0\0\0", false),
        ] {
            assert_eq!(is_cut(bytes.as_bytes(), "a", 2), cut, "{bytes:?}");
        }
    }
}
