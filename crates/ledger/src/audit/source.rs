//! Lines as bytes, one at a time, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use super::line::{LONGEST, LineError};

/// The lines of a range of a file.
pub(super) struct Lines<R> {
    reader: io::Take<BufReader<R>>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// The lines of the next `length` bytes.
    pub(super) fn new(reader: R, length: u64) -> Self {
        Self { reader: BufReader::with_capacity(64 * 1024, reader).take(length), line: Vec::new() }
    }

    /// The next line without its line feed, and the number of bytes it occupies including it. A
    /// line without a line feed is torn; for a line that is too long only the size is known.
    pub(super) fn next(&mut self) -> io::Result<Option<(Result<&[u8], LineError>, u64)>> {
        self.line.clear();
        let mut size = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                let torn = (size > 0).then_some((Err(LineError::Torn), size));
                return Ok(torn);
            }
            let feed = memchr::memchr(b'\n', buffer);
            let used = feed.map_or(buffer.len(), |at| at + 1);
            if self.line.len() <= LONGEST {
                self.line.extend_from_slice(buffer.get(..feed.unwrap_or(used)).unwrap_or_default());
            }
            self.reader.consume(used);
            size += u64::try_from(used).unwrap_or_default();
            if feed.is_some() {
                let fits = self.line.len() <= LONGEST;
                let line = if fits { Ok(self.line.as_slice()) } else { Err(LineError::TooLong) };
                return Ok(Some((line, size)));
            }
        }
    }
}
