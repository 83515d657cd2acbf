//! Server-sent events with the bytes that they came in.

use counterfoil_providers::{Events, LONGEST};
use hyper::body::Bytes;

/// One event: its bytes, and what it says; nothing, where it is a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) raw: Bytes,
    pub(super) data: String,
}

/// Cuts what comes into events. All bytes of all frames and of the rest are the bytes that came.
#[derive(Debug, Default)]
pub(super) struct Frames {
    buffer: Vec<u8>,
    /// So far there is no end of an event.
    looked: usize,
}

impl Frames {
    /// The events that are whole with these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.buffer.extend_from_slice(bytes);
        let mut frames = Vec::new();
        while let Some(end) = self.end() {
            let rest = self.buffer.split_off(end);
            let raw = Bytes::from(std::mem::replace(&mut self.buffer, rest));
            self.looked = 0;
            let mut events = Events::default();
            let whole = events.push(&raw).is_ok();
            let data = events.next().filter(|_| whole).map(|event| event.data).unwrap_or_default();
            frames.push(Frame { raw, data });
        }
        frames
    }

    /// Whether what comes is longer than an event may be.
    pub(super) fn is_too_long(&self) -> bool {
        self.buffer.len() > LONGEST
    }

    /// What came behind the last event.
    pub(super) fn rest(self) -> Bytes {
        Bytes::from(self.buffer)
    }

    /// Where the first event ends: behind an empty line.
    fn end(&mut self) -> Option<usize> {
        // The end of a line before may belong to an end that was looked at in part.
        let mut at = self.looked.saturating_sub(2);
        while let Some(found) = memchr(self.buffer.get(at..)?) {
            let line_end = at + found;
            let next = self.after(line_end);
            let blank = self.buffer.get(next).is_some_and(|byte| matches!(byte, b'\n' | b'\r'));
            if blank {
                return Some(self.after(next));
            }
            at = next;
        }
        self.looked = self.buffer.len();
        None
    }

    /// Behind the end of line that begins here.
    fn after(&self, at: usize) -> usize {
        let pair = self.buffer.get(at) == Some(&b'\r') && self.buffer.get(at + 1) == Some(&b'\n');
        at + if pair { 2 } else { 1 }
    }
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
}
