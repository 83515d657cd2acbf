use std::borrow::Cow;
use std::io::{self, BufRead, Cursor, Read};

use counterfoil_model::{Format, Problem, Transcript, without_hidden_arguments};
use serde::de::IgnoredAny;

use crate::decompress::read_up_to;
use crate::detect::{self, HEAD};
use crate::near;
use crate::other_kind;
use crate::reader;
use crate::reading::{ReadError, Reading};
use crate::session::hears_an_agent;
use crate::source::{Layout, Source};

/// Options for [`read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The format of the log; detected from its content when `None`.
    pub format: Option<Format>,
    /// The name of the input, used as the id of a transcript that has none.
    pub name: String,
    /// The maximum length of a line, in bytes.
    pub max_line: usize,
    /// Whether the input continues an earlier one. If so, starting in the middle of a session is
    /// not a gap.
    pub continues: bool,
}

impl Options {
    /// Detects the format; lines up to 64 MiB.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { format: None, name: name.into(), max_line: 64 * 1024 * 1024, continues: false }
    }
}

/// Summary of a whole input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The format of the input.
    pub format: Format,
    /// The number of sessions passed to the sink.
    pub sessions: usize,
    /// The number of lines read.
    pub lines: usize,
    /// Problems that do not belong to any session.
    pub problems: Vec<Problem>,
    /// Why a JSON document could not be read to its end (the sessions hold what comes before), or
    /// that nothing of any agent could be read.
    pub broken: Option<Problem>,
    /// Whether the caller named a format that the input does not look like, and no agent says or does
    /// anything in it.
    pub misread: bool,
}

/// Reads a log. `sink` receives each session as soon as it is complete, so memory is bounded by the
/// largest session (or by the whole input if that is one JSON document).
///
/// # Errors
/// Only when nothing can be read at all: see [`ReadError`]. Anything else is reported as a problem
/// of a session or of the summary.
pub fn read(
    mut input: impl BufRead,
    options: &Options,
    sink: &mut dyn FnMut(Reading),
) -> Result<Summary, ReadError> {
    let head = head_of(&mut input, options.max_line)?;
    let blank = head.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0);
    if head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).is_empty() || blank && head.len() < HEAD
    {
        return Err(ReadError::Empty);
    }
    let detected = detect::detect(&String::from_utf8_lossy(&head));
    let forced = options.format.and_then(reader::for_format);
    let Some(reader) = forced.or(detected.reader) else {
        return Err(match other_kind::recognise(&head) {
            Some((what, instead)) => ReadError::OtherKind { what, instead },
            None if let Some(error) = not_json(&head) => ReadError::NotJson(error),
            None => {
                ReadError::UnknownForm { recipe: near::recipe(&String::from_utf8_lossy(&head)) }
            }
        });
    };
    let otherwise = detected.reader.is_none_or(|found| found.format() != reader.format());
    let layout = match detected.layout {
        // If the caller names a JSON format, text is read as lines of JSON.
        Layout::Text if !reader.is_of_text() => Layout::Lines,
        _ if reader.is_of_text() => Layout::Text,
        layout => layout,
    };
    let input: Box<dyn BufRead + '_> = Box::new(Cursor::new(head).chain(input));
    let mut source = Source::new(input, layout, options.max_line);
    source.continues = options.continues;
    let (mut sessions, mut heard, mut unheard) = (0, 0, 0);
    reader.read(&mut source, &options.name, &mut |mut reading| {
        sessions += 1;
        heard += usize::from(hears_an_agent(&reading.transcript));
        unheard += usize::from(reading.unheard && !reading.transcript.messages.is_empty());
        take_thinking_out(&mut reading.transcript);
        sink(reading);
    })?;
    Ok(Summary {
        format: reader.format(),
        sessions,
        misread: otherwise && heard == 0,
        lines: source.lines(),
        problems: source.take_problems(),
        broken: source.take_broken().or_else(|| {
            let wrong = "nothing that the agent said or did could be read";
            let help = "export the messages with their tool calls in a known format";
            (heard == 0 && unheard > 0).then(|| Problem::at(0, wrong).with_help(help))
        }),
    })
}

/// Returns what is wrong with a whole input that begins like JSON, if no line of it is JSON either.
fn not_json(head: &[u8]) -> Option<serde_json::Error> {
    let is_json = |text: &[u8]| serde_json::from_slice::<IgnoredAny>(text);
    let mut signs = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    let begins = match (signs.next(), signs.next()) {
        (Some(b'{'), next) => next.is_none_or(|byte| *byte == b'"'),
        (Some(b'['), next) => next.is_none_or(|byte| b"{[\"".contains(byte)),
        _ => false,
    };
    let of_lines = || head.split(|byte| *byte == b'\n').any(|line| is_json(line).is_ok());
    if begins && head.len() < HEAD && !of_lines() { is_json(head).err() } else { None }
}

/// Removes the thinking that a model wrote into the arguments of its calls, which only the model may
/// see.
fn take_thinking_out(transcript: &mut Transcript) {
    for call in transcript.messages.iter_mut().flat_map(|message| &mut message.calls) {
        if let Cow::Owned(arguments) = without_hidden_arguments(&call.arguments) {
            call.arguments = arguments;
        }
    }
}

/// The beginning of an input, used for detection. If the first line is longer, the head extends to
/// its end, because only then is it clear whether that line is the whole input.
fn head_of(input: &mut impl BufRead, max_line: usize) -> io::Result<Vec<u8>> {
    let mut head = read_up_to(&mut *input, HEAD)?;
    let one_line = head.len() >= HEAD && !head.trim_ascii_start().contains(&b'\n');
    if one_line {
        let room = u64::try_from(max_line.saturating_sub(head.len())).unwrap_or(u64::MAX);
        input.by_ref().take(room).read_until(b'\n', &mut head)?;
        // The next byte shows whether anything follows this line.
        head.extend(read_up_to(&mut *input, 1)?);
    }
    Ok(head)
}
