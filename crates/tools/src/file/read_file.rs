use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};

use rustix::fs::FileType;
use serde_json::{Value, json};

use super::failure::{impossible, trouble, wrong};
use super::policy::Need;
use super::shown::{head, shown};
use super::stop::Stop;
use super::tool::{FileTool, Work};
use crate::{ToolError, ToolOutput};

pub(super) const TOOL: FileTool = FileTool {
    name: "read_file",
    description: "Reads a text file in the workspace, or some of its lines. Long files are \
                  truncated; the last line then says how to continue.",
    need: Need::Read,
    idempotent: true,
    parameters,
    run,
};

/// The number of lines read by default.
const LINES: u64 = 2_000;

/// The number of bytes searched for a NUL, which a text file does not contain.
const SNIFFED: usize = 8 * 1024;

/// The maximum number of bytes read after the part shown, to count the lines.
const COUNTED: u64 = 64 * 1024 * 1024;

/// The maximum size of a character in bytes.
const CHARACTER: usize = 4;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the workspace." },
            "offset": { "type": "integer", "minimum": 1, "description": "The first line to read, counted from 1." },
            "limit": { "type": "integer", "minimum": 1, "description": "The maximum number of lines." }
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

fn run(work: &Work<'_>) -> Result<ToolOutput, ToolError> {
    work.needed("path")?;
    let first = work.number("offset")?.unwrap_or(1);
    let limit = work.number("limit")?;
    let place = work.place(Need::Read)?;
    let requested = place.requested.as_str();
    let failed = |error: io::Error| trouble(requested, &error);
    let fd = place.root.open_to_read(&place.relative).map_err(failed)?;
    let stat = rustix::fs::fstat(&fd).map_err(|errno| failed(errno.into()))?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        let requested = shown(requested);
        return Err(impossible(format!("`{requested}` is a directory; use `list_directory`")));
    }
    let mut reader = BufReader::with_capacity(64 * 1024, File::from(fd));
    let beginning = reader.fill_buf().map_err(failed)?;
    if memchr::memchr(0, beginning.get(..SNIFFED).unwrap_or(beginning)).is_some() {
        let requested = shown(requested);
        let size = stat.st_size;
        return Err(impossible(format!("`{requested}` is not text ({size} bytes)")));
    }
    let most = work.settings.max_output;
    let lines = limit.unwrap_or(LINES);
    let part = Part::read(&mut reader, first, lines, most, work.stop)
        .map_err(|error| work.stop.check().err().unwrap_or_else(|| failed(error)))?;
    if part.lines == 0 && first > 1 {
        let had = part.had();
        return Err(wrong(format!("`{}` has {had}, but `offset` is {first}", shown(requested))));
    }
    Ok(part.output(first, limit.is_some()))
}

/// A range of lines of a file.
struct Part {
    bytes: Vec<u8>,
    /// The number of lines in `bytes`; the last may be cut.
    lines: u64,
    /// Whether the last line in `bytes` was cut.
    cut: bool,
    /// The number of lines of the whole file; `None` if it is too long to count them.
    total: Option<u64>,
    /// The maximum number of characters that one call shows.
    most: usize,
}

impl Part {
    fn read(
        reader: &mut BufReader<File>,
        first: u64,
        limit: u64,
        most: usize,
        stop: &Stop,
    ) -> io::Result<Self> {
        let mut passed = 0;
        while passed + 1 < first {
            if !skip_line(reader, stop)? {
                return Ok(Self {
                    bytes: Vec::new(),
                    lines: 0,
                    cut: false,
                    total: Some(passed),
                    most,
                });
            }
            passed += 1;
        }
        let enough = most.saturating_mul(CHARACTER) as u64;
        let (mut bytes, mut lines, mut cut) = (Vec::new(), 0, false);
        while lines < limit {
            let left = enough.saturating_sub(bytes.len() as u64);
            let had = reader.by_ref().take(left).read_until(b'\n', &mut bytes)?;
            if had == 0 {
                break;
            }
            lines += 1;
            if !bytes.ends_with(b"\n") {
                cut = skip_line(reader, stop)?;
                break;
            }
        }
        let shown_to = passed + lines;
        let total = count_lines(reader, stop)?.map(|rest| shown_to + rest);
        Ok(Self { bytes, lines, cut, total, most })
    }

    /// The number of lines, in words.
    fn had(&self) -> String {
        match self.total {
            Some(0) => "no lines".to_owned(),
            Some(1) => "1 line".to_owned(),
            Some(lines) => format!("{lines} lines"),
            None => "many lines".to_owned(),
        }
    }

    fn output(self, first: u64, is_limited: bool) -> ToolOutput {
        let whole = String::from_utf8_lossy(&self.bytes);
        let replaced = matches!(whole, std::borrow::Cow::Owned(_));
        let (text, too_long) = head(&whole, self.most);
        let cut_bytes = self.cut || too_long;
        // The number of complete lines shown, and of incomplete ones.
        let (ended, begun) = if cut_bytes {
            let ended = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
            (ended, u64::from(!text.ends_with('\n') && !text.is_empty()))
        } else {
            (self.lines, 0)
        };
        // A line that is cut is read from its beginning the next time, unless it is the only one.
        let (text, last, cut_line) = match (ended, begun) {
            (0, 1) => (text, first, true),
            (_, 1) => {
                let end = text.rfind('\n').map_or(text.len(), |at| at + 1);
                (text.get(..end).unwrap_or(text), first + ended - 1, false)
            }
            _ => (text, (first + ended).saturating_sub(1), false),
        };
        let more = self.total.is_none_or(|total| last < total);
        let mut notes = Vec::new();
        if self.lines == 0 {
            notes.push("the file is empty".to_owned());
        }
        if cut_line {
            let most = self.most;
            notes.push(format!("line {first} is longer than {most} characters and was truncated"));
        }
        if more && self.lines > 0 {
            let of = match self.total {
                Some(total) => format!(" of {total}"),
                None => String::new(),
            };
            let next = last + 1;
            notes.push(format!("lines {first} to {last}{of}; continue with offset {next}"));
        }
        if replaced {
            notes.push("bytes that are not UTF-8 are shown as \u{fffd}".to_owned());
        }
        let mut shown = text.to_owned();
        for note in &notes {
            if !shown.is_empty() && !shown.ends_with('\n') {
                shown.push('\n');
            }
            shown += &format!("[{note}]\n");
        }
        let truncated = cut_line || (more && !is_limited) || cut_bytes;
        ToolOutput { text: shown, truncated, ..ToolOutput::default() }
    }
}

/// Skips to the end of the line. Returns whether there was anything.
fn skip_line(reader: &mut BufReader<File>, stop: &Stop) -> io::Result<bool> {
    let mut any = false;
    loop {
        if stop.is_given_up() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        match memchr::memchr(b'\n', buffer) {
            Some(at) => {
                reader.consume(at + 1);
                return Ok(true);
            }
            None => {
                let length = buffer.len();
                reader.consume(length);
            }
        }
    }
}

/// The number of remaining lines; `None` if they are too many to count.
fn count_lines(reader: &mut BufReader<File>, stop: &Stop) -> io::Result<Option<u64>> {
    let (mut lines, mut counted, mut open) = (0, 0, false);
    loop {
        if stop.is_given_up() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let buffer = reader.fill_buf()?;
        let Some(last) = buffer.last() else { return Ok(Some(lines + u64::from(open))) };
        open = *last != b'\n';
        lines += memchr::memchr_iter(b'\n', buffer).count() as u64;
        let length = buffer.len();
        counted += length as u64;
        reader.consume(length);
        if counted > COUNTED {
            return Ok(None);
        }
    }
}
