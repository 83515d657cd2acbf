use crate::tool_event::{OutputStream, Progress};

/// The maximum length in bytes of an incomplete line before it is sent.
const LONGEST: usize = 8 * 1024;

/// Sends a command's output to the listeners in whole lines, so that redaction sees secrets that
/// would otherwise be split.
pub(super) struct LineSender {
    progress: Progress,
    stream: OutputStream,
    line: Vec<u8>,
}

impl LineSender {
    pub(super) fn new(progress: Progress, stream: OutputStream) -> Self {
        Self { progress, stream, line: Vec::new() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.line.is_empty() && !self.progress.is_heard() {
            return;
        }
        self.line.extend_from_slice(bytes);
        let end = memchr::memrchr(b'\n', &self.line).map(|at| at + 1);
        let end = end.or_else(|| (self.line.len() > LONGEST).then_some(self.line.len()));
        if let Some(end) = end {
            let whole: Vec<u8> = self.line.drain(..end).collect();
            self.progress.output(self.stream, &String::from_utf8_lossy(&whole));
        }
    }

    pub(super) fn finish(&mut self) {
        if !self.line.is_empty() {
            let rest = std::mem::take(&mut self.line);
            self.progress.output(self.stream, &String::from_utf8_lossy(&rest));
        }
    }
}
