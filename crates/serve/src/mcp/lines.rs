use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::unreadable::TopLevel;

/// Maximum size of a message in bytes. Of a longer one, only the id is read.
pub(crate) const LONGEST: usize = 64 * 1024 * 1024;

/// The lines of a stream, with a limit on their length.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The top level of a line that is too long, as far as it was read.
    too_long: Option<TopLevel>,
}

/// A line that was read.
#[derive(Debug)]
pub(crate) enum Line {
    /// The text without its line break.
    Text(String),
    /// A line that is too long or not UTF-8, with the reason and the contents of its top level.
    Unreadable(&'static str, TopLevel),
}

const TOO_LONG: &str = "the message is longer than 64 MiB";

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(64 * 1024, input), line: Vec::new(), too_long: None }
    }

    /// The next line that is not blank; `None` at the end. Cancelling this future loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let (used, ended) = {
                let chunk = self.input.fill_buf().await?;
                if chunk.is_empty() {
                    // Text without a line break was cut off and is not a message.
                    (self.line, self.too_long) = (Vec::new(), None);
                    return Ok(None);
                }
                let found = chunk.iter().position(|byte| *byte == b'\n');
                let part = chunk.get(..found.unwrap_or(chunk.len())).unwrap_or_default();
                match &mut self.too_long {
                    Some(found) => found.read(part),
                    None if self.line.len() + part.len() > LONGEST => {
                        let mut found = TopLevel::parse(&std::mem::take(&mut self.line));
                        found.read(part);
                        self.too_long = Some(found);
                    }
                    None => self.line.extend_from_slice(part),
                }
                (part.len() + usize::from(found.is_some()), found.is_some())
            };
            self.input.consume(used);
            if !ended {
                continue;
            }
            if let Some(found) = self.too_long.take() {
                return Ok(Some(Line::Unreadable(TOO_LONG, found)));
            }
            match String::from_utf8(std::mem::take(&mut self.line)) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Ok(Some(Line::Text(text))),
                Err(error) => {
                    let found = TopLevel::parse(error.as_bytes());
                    return Ok(Some(Line::Unreadable("the message is not UTF-8", found)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line as text, or the reason and the error for the requester.
    fn read(input: &[u8]) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut lines, mut all) = (Lines::new(input), Vec::new());
            while let Some(line) = lines.next().await.unwrap() {
                all.push(match line {
                    Line::Text(text) => text,
                    Line::Unreadable(why, found) => {
                        let answer = found.in_place_of_answer(why).unwrap_or_default();
                        let id: serde_json::Value =
                            serde_json::from_str(&answer).unwrap_or_default();
                        format!("{why}, id {}", id["id"])
                    }
                });
            }
            all
        })
    }

    #[test]
    fn lines_and_what_is_none() {
        let input = b"{}\r\n\n  \n{\"id\":7,\"result\":\"\xff\"}\n[1]\nhalf";
        assert_eq!(read(input), ["{}\r", "the message is not UTF-8, id 7", "[1]"]);
    }

    #[test]
    fn of_a_line_that_is_too_long_the_id_is_known() {
        let long = "x".repeat(LONGEST);
        for (line, id) in [
            (format!("{{\"id\":7,\"result\":\"{long}\"}}"), "7"),
            (format!("{{\"result\":\"{long}\",\"id\":\"a\"}}"), "\"a\""),
            (long.clone() + "y", "null"),
        ] {
            let expected = format!("{TOO_LONG}, id {id}");
            assert_eq!(read(format!("{line}\n[1]\n").as_bytes()), [expected.as_str(), "[1]"]);
        }
    }
}
