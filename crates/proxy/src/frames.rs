//! Splits a stream into server-sent events, keeping their original bytes.

use counterfoil_providers::{Events, LONGEST};
use hyper::body::Bytes;

/// An event: its original bytes and its data, which is empty for a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) raw: Bytes,
    /// The name of the event; empty if it has none.
    pub(crate) name: String,
    pub(crate) data: String,
    /// Whether it is longer than allowed, and was not parsed.
    pub(crate) too_long: bool,
}

/// Splits a stream into events. The bytes of all frames and of the rest are exactly the received
/// bytes.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    /// The position up to which no end of an event was found.
    looked: usize,
}

impl Frames {
    /// The events that these bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.buffer.extend_from_slice(bytes);
        let mut frames = Vec::new();
        let mut begin = 0;
        // The line end before this position may be part of an event's end that is only partly
        // received.
        let mut from = self.looked.saturating_sub(2);
        while let Some(end) = self.end(from) {
            // A copy, because held events must not keep the memory of the whole buffer.
            let raw = Bytes::copy_from_slice(self.buffer.get(begin..end).unwrap_or_default());
            (begin, from) = (end, end);
            let mut events = Events::default();
            let too_long = events.push(&raw).is_err();
            let event = events.next().filter(|_| !too_long);
            // An event without data is a comment.
            let data = event.map(|event| event.data).unwrap_or_default();
            frames.push(Frame { name: name_in(&raw), raw, data, too_long });
        }
        self.buffer.drain(..begin);
        self.looked = self.buffer.len();
        frames
    }

    /// Whether the current event is longer than allowed.
    pub(crate) fn is_too_long(&self) -> bool {
        self.buffer.len() > LONGEST
    }

    /// The bytes after the last event.
    pub(crate) fn rest(self) -> Bytes {
        Bytes::from(self.buffer)
    }

    /// The end of the first event that ends after `at`, after an empty line.
    fn end(&self, mut at: usize) -> Option<usize> {
        while let Some(found) = memchr(self.buffer.get(at..)?) {
            let line_end = at + found;
            let next = self.after(line_end);
            let blank = self.buffer.get(next).is_some_and(|byte| matches!(byte, b'\n' | b'\r'));
            if blank {
                return Some(self.after(next));
            }
            at = next;
        }
        None
    }

    /// The position after the line end at `at`.
    fn after(&self, at: usize) -> usize {
        let pair = self.buffer.get(at) == Some(&b'\r') && self.buffer.get(at + 1) == Some(&b'\n');
        at + if pair { 2 } else { 1 }
    }
}

/// The name of an event; the last one counts.
fn name_in(raw: &[u8]) -> String {
    let lines = raw.split(|byte| matches!(byte, b'\n' | b'\r'));
    let name = lines.filter_map(|line| line.strip_prefix(b"event:")).next_back();
    let name = name.map(|name| name.strip_prefix(b" ").unwrap_or(name));
    String::from_utf8_lossy(name.unwrap_or_default()).into_owned()
}

/// Bytes that only some readers treat as line ends.
const ENDS_FOR_SOME: [&[u8]; 8] =
    [b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"];

/// Whether all readers read every line alike: as a field of server-sent events, or a comment.
pub(crate) fn is_plain(raw: &[u8]) -> bool {
    let known: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let mut lines = raw.split(|byte| matches!(byte, b'\n' | b'\r'));
    // In data, such bytes are inside a JSON text and part of it.
    let odd = |line: &[u8]| {
        !line.starts_with(b"data:")
            && ENDS_FOR_SOME.iter().any(|end| memchr::memmem::find(line, end).is_some())
    };
    let is_text = std::str::from_utf8(raw).is_ok();
    is_text
        && lines.all(|line| {
            line.is_empty() || known.iter().any(|field| line.starts_with(field)) && !odd(line)
        })
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: x\ndata: y\n\nrest";

    fn read(pieces: &[&[u8]]) -> (Vec<String>, String) {
        let mut frames = Frames::default();
        let (mut data, mut raw) = (Vec::new(), Vec::new());
        for piece in pieces {
            for frame in frames.push(piece) {
                raw.extend_from_slice(&frame.raw);
                data.extend((!frame.data.is_empty()).then_some(frame.data));
            }
        }
        raw.extend_from_slice(&frames.rest());
        (data, String::from_utf8(raw).unwrap())
    }

    #[test]
    fn no_byte_is_lost_however_they_come() {
        let expected = (vec!["{\"a\":\n1}".to_owned(), "y".to_owned()], STREAM.to_owned());
        for at in 0..=STREAM.len() {
            let (a, b) = STREAM.as_bytes().split_at(at);
            assert_eq!(read(&[a, b]), expected, "cut at {at}");
        }
        let single: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(read(&single), expected);
    }

    #[test]
    fn an_event_takes_its_own_memory_only() {
        let mut frames = Frames::default();
        let mut all = frames.push("data: a\n\n".repeat(1000).as_bytes());
        assert_eq!(all.len(), 1000);
        // Only a buffer without spare room gives its memory back unchanged.
        let raw = all.pop().unwrap().raw.try_into_mut().unwrap();
        assert_eq!((raw.len(), raw.capacity()), (9, 9));
    }

    #[test]
    fn lines_that_readers_read_in_different_ways_are_not_plain() {
        for (raw, plain) in [
            ("event: x\r\ndata: {}\r\n\r\n", true),
            (": still there\n\n", true),
            ("\u{feff}data: {}\n\n", false),
            (" data: {}\n\n", false),
            ("DATA: {}\n\n", false),
            ("data:\r {}\n\n", false),
            (": ok\u{b}data: {}\n\n", false),
            ("event: x\u{2028}data: {}\n\n", false),
            ("data: {\"a\":\"\u{2028}\"}\n\n", true),
        ] {
            assert_eq!(is_plain(raw.as_bytes()), plain, "{raw:?}");
        }
        assert!(!is_plain(b"data: {\"a\":\"\xff\"}\n\n"));
    }
}
