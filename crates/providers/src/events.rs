//! Server-sent events, which let a server answer piece by piece over HTTP.

use std::collections::VecDeque;
use std::fmt::Write as _;

/// Maximum size of an event in bytes.
pub const LONGEST: usize = 64 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The name of its kind; `None` for a plain message.
    pub name: Option<String>,
    /// The data; empty if the event only tells where the stream can be resumed.
    pub data: String,
    /// The id from which the stream can be resumed.
    pub id: Option<String>,
    /// The delay before reconnecting, in milliseconds.
    pub retry: Option<u64>,
}

impl Event {
    /// An event with only this data.
    #[must_use]
    pub fn new(data: String) -> Self {
        Self { data, ..Self::default() }
    }

    /// The serialised event.
    #[must_use]
    pub fn written(&self) -> String {
        let mut text = String::with_capacity(self.data.len() + 32);
        // Writing to a string does not fail.
        if let Some(name) = &self.name {
            writeln!(text, "event: {name}").ok();
        }
        if let Some(id) = &self.id {
            writeln!(text, "id: {id}").ok();
        }
        if let Some(retry) = self.retry {
            writeln!(text, "retry: {retry}").ok();
        }
        for line in self.data.split('\n') {
            writeln!(text, "data: {line}").ok();
        }
        text.push('\n');
        text
    }
}

/// An event is larger than [`LONGEST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than 64 MiB")]
pub struct TooLong;

/// Parses events incrementally.
#[derive(Debug, Default)]
pub struct Events {
    /// The current, unfinished line.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return. A line feed after it does not end another line.
    returned: bool,
    /// The event parsed so far.
    event: Event,
    has_data: bool,
    ready: VecDeque<Event>,
}

impl Events {
    /// Parses the next bytes.
    ///
    /// # Errors
    /// When an event is longer than [`LONGEST`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.returned) && rest.first() == Some(&b'\n') {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            if self.line.len() + self.event.data.len() + part.len() > LONGEST {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.returned = rest.get(end) == Some(&b'\r');
            rest = rest.get(end + 1..).unwrap_or_default();
            let line = std::mem::take(&mut self.line);
            self.ended(&String::from_utf8_lossy(&line));
        }
        Ok(())
    }

    /// The next complete event.
    #[expect(clippy::should_implement_trait, reason = "more events may follow after `None`")]
    pub fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn ended(&mut self, line: &str) {
        if line.is_empty() {
            let mut event = std::mem::take(&mut self.event);
            let name = event.name.take();
            if std::mem::take(&mut self.has_data) || event != Event::default() {
                self.ready.push_back(Event { name, ..event });
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "event" => {
                let plain = ["", "message"].contains(&value);
                self.event.name = (!plain).then(|| value.to_owned());
            }
            "retry" => self.event.retry = value.parse().ok().or(self.event.retry),
            // Comments, which keep a connection open.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "id: 1\ndata:\n\n: still there\n\nevent: message\r\nevent:\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nretry: 500\ndata: x\n\nevent: ping\ndata: y\n\n";

    fn expected() -> Vec<Event> {
        let event = |data: &str| Event::new(data.to_owned());
        vec![
            Event { id: Some("1".to_owned()), ..event("") },
            event("{\"a\":\n1}"),
            Event { retry: Some(500), ..event("x") },
            Event { name: Some("ping".to_owned()), ..event("y") },
        ]
    }

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut events = Events::default();
        let mut all = Vec::new();
        for piece in pieces {
            events.push(piece).unwrap();
            all.extend(std::iter::from_fn(|| events.next()));
        }
        all
    }

    #[test]
    fn events_are_the_same_however_the_bytes_come() {
        let bytes = STREAM.as_bytes();
        for at in 0..=bytes.len() {
            let (a, b) = bytes.split_at(at);
            assert_eq!(read(&[a, b]), expected(), "cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single), expected());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let written: String = expected().iter().map(Event::written).collect();
        assert_eq!(read(&[written.as_bytes()]), expected());
    }

    #[test]
    fn an_event_has_a_largest_size() {
        let mut events = Events::default();
        events.push(b"data: ").unwrap();
        let piece = vec![b'x'; LONGEST];
        assert_eq!(events.push(&piece), Err(TooLong));
    }
}
