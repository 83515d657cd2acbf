use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use rustix::fs::FileType;
use serde_json::{Value, json};

use super::failure::{trouble, wrong};
use super::policy::Need;
use super::shown::{head, shown, shown_path};
use super::stop::Stop;
use super::tool::{FileTool, Work};
use super::walk::{LeftOut, walk};
use crate::{ToolError, ToolOutput};

pub(super) const TOOL: FileTool = FileTool {
    name: "grep",
    description: "Searches the files in the workspace for a regular expression, line by line. \
                  Skips files that .gitignore excludes and files that are not text.",
    need: Need::Look,
    idempotent: true,
    parameters,
    run,
};

/// The maximum number of matching lines.
const MOST: usize = 1_000;

/// The maximum length of a line shown, in characters.
const LONGEST_LINE: usize = 500;

/// The maximum length of a line; files with longer lines are skipped: 8 MiB.
const LINE_MEMORY: usize = 8 * 1024 * 1024;

/// The maximum size of a compiled expression: 4 MiB.
const EXPRESSION_MEMORY: usize = 4 * 1024 * 1024;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": { "type": "string", "minLength": 1, "description": "A regular expression, without look-around or backreferences." },
            "path": { "type": "string", "minLength": 1, "description": "The file or directory to search, relative to the workspace." },
            "glob": { "type": "string", "minLength": 1, "description": "Search only files whose names match this glob, such as `*.rs`." }
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
}

fn run(work: &Work<'_>) -> Result<ToolOutput, ToolError> {
    let pattern = work.needed("pattern")?;
    let matcher = RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .size_limit(EXPRESSION_MEMORY)
        .build(pattern)
        .map_err(|error| wrong(format!("`pattern` is not a valid regular expression: {error}")))?;
    let names = work.text("glob")?.map(name_pattern).transpose()?;
    let place = work.place(Need::Look)?;
    let mut search = Search::new(&matcher, work.settings.max_output, work.stop);
    let fd = place.root.open_to_read(&place.relative);
    let fd = fd.map_err(|error| trouble(&place.requested, &error))?;
    let stat = rustix::fs::fstat(&fd).map_err(|errno| trouble(&place.requested, &errno.into()))?;
    let mut left_out = LeftOut::default();
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        place.permit_content(work.settings)?;
        let _ = search.file(&place.named(&place.relative), File::from(fd))?;
    } else {
        drop(fd);
        left_out = walk(work, &place, &mut |met, left_out| {
            let named = names.as_ref().is_none_or(|names| names.matches(&met.relative));
            if met.kind != FileType::RegularFile || !named {
                return Ok(ControlFlow::Continue(()));
            }
            if !work.may_see(&place.root.path().join(&met.relative), &met.relative, true) {
                left_out.denied += 1;
                return Ok(ControlFlow::Continue(()));
            }
            match met.open() {
                Ok(file) => search.file(&place.named(&met.relative), file),
                Err(_) => {
                    left_out.unread += 1;
                    Ok(ControlFlow::Continue(()))
                }
            }
        })?;
    }
    Ok(search.output(&left_out))
}

struct Search<'s> {
    searcher: Searcher,
    matcher: &'s RegexMatcher,
    most_text: usize,
    stop: &'s Stop,
    text: String,
    lines: usize,
    files: u64,
    not_text: u64,
    failed: u64,
    more: bool,
}

impl<'s> Search<'s> {
    fn new(matcher: &'s RegexMatcher, most_text: usize, stop: &'s Stop) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .heap_limit(Some(LINE_MEMORY))
            .build();
        Self {
            searcher,
            matcher,
            most_text,
            stop,
            text: String::new(),
            lines: 0,
            files: 0,
            not_text: 0,
            failed: 0,
            more: false,
        }
    }

    fn file(&mut self, path: &Path, file: File) -> Result<ControlFlow<()>, ToolError> {
        let path = shown_path(path);
        let mut lines = Lines {
            path: &path,
            text: &mut self.text,
            lines: &mut self.lines,
            most_text: self.most_text,
            more: false,
            not_text: false,
        };
        let reader = UntilGivenUp { file, stop: self.stop };
        self.files += 1;
        let searched = self.searcher.search_reader(self.matcher, reader, &mut lines);
        let (more, not_text) = (lines.more, lines.not_text);
        self.stop.check()?;
        self.failed += u64::from(searched.is_err());
        self.not_text += u64::from(not_text);
        self.more |= more;
        Ok(if more { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn output(self, left_out: &LeftOut) -> ToolOutput {
        let mut text = self.text;
        if self.lines == 0 {
            text += &match self.files {
                1 => "[no line matches in 1 file]\n".to_owned(),
                files => format!("[no line matches in {files} files]\n"),
            };
        }
        if self.more {
            text += &format!("[more than {} lines match; narrow the search]\n", self.lines);
        }
        text += &left_out.notes();
        if self.not_text > 0 {
            text += &format!(
                "[files not searched to the end, because they are not text: {}]\n",
                self.not_text
            );
        }
        if self.failed > 0 {
            text +=
                &format!("[files that are unreadable or have overlong lines: {}]\n", self.failed);
        }
        ToolOutput { text, truncated: self.more, ..ToolOutput::default() }
    }
}

/// Collects matching lines.
struct Lines<'l> {
    path: &'l str,
    text: &'l mut String,
    lines: &'l mut usize,
    most_text: usize,
    more: bool,
    not_text: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if *self.lines == MOST || self.text.len() >= self.most_text {
            self.more = true;
            return Ok(false);
        }
        *self.lines += 1;
        let line = String::from_utf8_lossy(found.bytes());
        let (line, cut) = head(line.trim_end_matches(['\r', '\n']), LONGEST_LINE);
        let number = found.line_number().unwrap_or_default();
        let cut = if cut { "…" } else { "" };
        *self.text += &format!("{}:{number}:{}{cut}\n", self.path, shown_line(line));
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.not_text = true;
        Ok(false)
    }
}

/// A line with its tabs; other control characters are escaped.
fn shown_line(line: &str) -> String {
    line.split('\t').map(shown).collect::<Vec<_>>().join("\t")
}

/// Reads a file until the call is abandoned.
struct UntilGivenUp<'u> {
    file: File,
    stop: &'u Stop,
}

impl Read for UntilGivenUp<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_given_up() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.file.read(buffer)
    }
}

/// Which names to search: `*.rs` in every directory, or a whole path.
struct Names {
    glob: GlobMatcher,
    only_name: bool,
}

fn name_pattern(pattern: &str) -> Result<Names, ToolError> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| wrong(format!("`glob` is not a valid glob: {}", error.kind())))?;
    Ok(Names { glob: glob.compile_matcher(), only_name: !pattern.contains('/') })
}

impl Names {
    fn matches(&self, relative: &Path) -> bool {
        match relative.file_name() {
            Some(name) if self.only_name => self.glob.is_match(name),
            _ => self.glob.is_match(relative),
        }
    }
}
