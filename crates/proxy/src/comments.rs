//! Comments in a stream that begin with our name. Only we may write them, so a server's own are
//! removed before any client reads them.

use hyper::body::Bytes;

const NAME: &[u8] = b"counterfoil";

/// The maximum number of bytes at the beginning of a line that are inspected.
const LONGEST_START: usize = 256;

/// Some servers begin a stream with it, and readers of lines skip it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Removes comments that imitate ours from what a server sends, however it is split.
#[derive(Debug, Default)]
pub(crate) struct CommentFilter {
    place: Place,
    /// The beginning of a line that may be such a comment.
    held: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    Within,
    /// In a line that is removed.
    Forged,
}

impl CommentFilter {
    /// The part of these bytes that may be passed on.
    pub(crate) fn pass(&mut self, bytes: Bytes) -> Bytes {
        if self.is_plain(&bytes) {
            self.place = match bytes.last() {
                Some(b'\n' | b'\r') => Place::Start,
                Some(_) => Place::Within,
                None => self.place,
            };
            return bytes;
        }
        let mut out = Vec::with_capacity(bytes.len());
        bytes.iter().for_each(|byte| self.push(*byte, &mut out));
        Bytes::from(out)
    }

    /// Whether no line in these bytes begins with a colon.
    fn is_plain(&self, bytes: &[u8]) -> bool {
        let begins = match self.place {
            Place::Forged => true,
            Place::Within => false,
            Place::Start => !self.held.is_empty() || matches!(bytes.first(), Some(b':' | b'\xef')),
        };
        let comment = |line_end: &[u8]| memchr::memmem::find(bytes, line_end).is_some();
        !begins && !comment(b"\n:") && !comment(b"\r:")
    }

    fn push(&mut self, byte: u8, out: &mut Vec<u8>) {
        let ends = matches!(byte, b'\n' | b'\r');
        match self.place {
            Place::Within => out.push(byte),
            Place::Forged => {}
            Place::Start => {
                self.held.push(byte);
                match begins(&self.held) {
                    Begins::Ours => {
                        self.held.clear();
                        self.place = Place::Forged;
                    }
                    Begins::Perhaps if self.held.len() < LONGEST_START => return,
                    _ => {
                        out.append(&mut self.held);
                        self.place = Place::Within;
                    }
                }
            }
        }
        if ends {
            self.place = Place::Start;
        }
    }
}

enum Begins {
    Ours,
    Perhaps,
    Otherwise,
}

/// Classifies the beginning of a line.
fn begins(line: &[u8]) -> Begins {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if line.is_empty() || BYTE_ORDER_MARK.starts_with(line) {
        return Begins::Perhaps;
    }
    let Some(comment) = line.strip_prefix(b":") else { return Begins::Otherwise };
    let comment = match comment.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b':')) {
        Some(at) => comment.get(at..).unwrap_or_default(),
        None => return Begins::Perhaps,
    };
    let same = NAME.iter().zip(comment).all(|(own, byte)| own.eq_ignore_ascii_case(byte));
    match (same, comment.len() >= NAME.len()) {
        (true, true) => Begins::Ours,
        (true, false) => Begins::Perhaps,
        (false, _) => Begins::Otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_comments_are_taken_out_however_they_are_cut() {
        for (came, goes_on) in [
            (": counterfoil {}\n\ndata: 1\n\n", "\ndata: 1\n\n"),
            ("data: 1\n:CounterFoil x\ndata: 2\n\n", "data: 1\ndata: 2\n\n"),
            ("\u{feff}: counterfoil x\ndata: 2\n\n", "data: 2\n\n"),
            ("data: : counterfoil\n\n", "data: : counterfoil\n\n"),
            (": counter\n: still there\n\n", ": counter\n: still there\n\n"),
            (": :\tcounterfoil\r\ndata: 1\n\n", "\ndata: 1\n\n"),
            ("\u{feff}data: 1\n\n", "\u{feff}data: 1\n\n"),
        ] {
            for size in [1, 2, 5, 1000] {
                let mut filter = CommentFilter::default();
                let pieces = came.as_bytes().chunks(size).map(Bytes::copy_from_slice);
                let out: Vec<u8> = pieces.flat_map(|piece| filter.pass(piece)).collect();
                assert_eq!(String::from_utf8(out).unwrap(), goes_on, "{came:?} by {size}");
            }
        }
    }
}
