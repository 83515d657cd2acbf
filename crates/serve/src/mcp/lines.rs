use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The longest message, in bytes. One that is longer is passed over, unread.
pub(crate) const LONGEST: usize = 64 * 1024 * 1024;

/// Lines of a stream, each at most so long.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A text without its line break.
    Text(String),
    /// One that was longer than a message may be, or no UTF-8; what is wrong with it.
    Unreadable(&'static str),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(64 * 1024, input), line: Vec::new() }
    }

    /// The next line that is not blank; `None` at the end. Giving it up loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let (used, ended) = {
                let chunk = self.input.fill_buf().await?;
                if chunk.is_empty() {
                    // What has no line break was cut off, and is no message.
                    self.line.clear();
                    return Ok(None);
                }
                let found = chunk.iter().position(|byte| *byte == b'\n');
                let part = chunk.get(..found.unwrap_or(chunk.len())).unwrap_or_default();
                // Of what is too long, one byte more than may be is kept: enough to tell.
                let room = (LONGEST + 1).saturating_sub(self.line.len());
                self.line.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
                (part.len() + usize::from(found.is_some()), found.is_some())
            };
            self.input.consume(used);
            if !ended {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if line.len() > LONGEST {
                return Ok(Some(Line::Unreadable("the message is longer than 64 MiB")));
            }
            match String::from_utf8(line) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Ok(Some(Line::Text(text))),
                Err(_) => return Ok(Some(Line::Unreadable("the message is not UTF-8"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_what_is_none() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut lines = Lines::new(&b"{}\r\n\n  \n\xff\n[1]\nhalf"[..]);
            assert_eq!(lines.next().await.unwrap(), Some(Line::Text("{}\r".to_owned())));
            let unreadable = Line::Unreadable("the message is not UTF-8");
            assert_eq!(lines.next().await.unwrap(), Some(unreadable));
            assert_eq!(lines.next().await.unwrap(), Some(Line::Text("[1]".to_owned())));
            assert_eq!(lines.next().await.unwrap(), None);
        });
    }
}
