use std::fs::File;
use std::io::{self, Read as _};

use memchr::memmem;
use rustix::fs::FileType;
use serde_json::{Value, json};

use super::atomic::{Stamp, replace};
use super::failure::{impossible, trouble, wrong};
use super::policy::Need;
use super::shown::shown;
use super::tool::{FileTool, Work};
use crate::{ToolError, ToolOutput};

pub(super) const TOOL: FileTool = FileTool {
    name: "edit_file",
    description: "Replaces text in a file in the workspace. The old text must occur in the file \
                  exactly as given, and only once unless `all` is true.",
    need: Need::Edit,
    idempotent: false,
    parameters,
    run,
};

/// The maximum size of an editable file: 16 MiB.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The maximum number of matches listed if there are several.
const NAMED: usize = 10;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the workspace." },
            "old": { "type": "string", "minLength": 1, "description": "The text to replace, with its line breaks and indentation." },
            "new": { "type": "string", "description": "The text to put in its place." },
            "all": { "type": "boolean", "description": "Replace every occurrence." }
        },
        "required": ["path", "old", "new"],
        "additionalProperties": false
    })
}

fn run(work: &Work<'_>) -> Result<ToolOutput, ToolError> {
    work.needed("path")?;
    let (old, new) = (work.needed("old")?, work.needed("new")?);
    let all = match work.arguments.get("all") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(all)) => *all,
        Some(_) => return Err(wrong("`all` must be true or false")),
    };
    if old.is_empty() {
        return Err(wrong("`old` is empty; use `write_file` to write a whole file"));
    }
    if old == new {
        return Err(wrong("`old` and `new` are the same"));
    }
    let place = work.place(Need::Edit)?;
    let path = shown(&place.requested);
    let failed = |error: io::Error| trouble(&place.requested, &error);
    let fd = place.root.open_to_read(&place.relative).map_err(failed)?;
    let stat = rustix::fs::fstat(&fd).map_err(|errno| failed(errno.into()))?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        return Err(impossible(format!("`{path}` is a directory")));
    }
    let mut content = Vec::new();
    File::from(fd).take(LONGEST + 1).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > LONGEST {
        return Err(impossible(format!("`{path}` is longer than {LONGEST} bytes")));
    }
    let found: Vec<usize> = memmem::find_iter(&content, old.as_bytes()).collect();
    match found.len() {
        0 => return Err(wrong(missing(&content, old, &path))),
        1 => {}
        _ if all => {}
        places => {
            let lines: Vec<String> =
                found.iter().take(NAMED).map(|at| line_of(&content, *at).to_string()).collect();
            let more = if places > NAMED { ", …" } else { "" };
            return Err(wrong(format!(
                "`old` occurs {places} times in `{path}` (lines {}{more}): add more of the \
                 surrounding text to `old`, or set `all`",
                lines.join(", ")
            )));
        }
    }
    let edited = replaced(&content, old, new, &found);
    let written = replace(&place, &edited, Some(Stamp::from_stat(&stat)), work.stop)?;
    let places = if found.len() == 1 { "place" } else { "places" };
    Ok(ToolOutput {
        text: format!("edited `{path}` in {} {places}\n", found.len()),
        side_effects: written.side_effects,
        ..ToolOutput::default()
    })
}

fn replaced(content: &[u8], old: &str, new: &str, found: &[usize]) -> Vec<u8> {
    let mut edited = Vec::with_capacity(content.len());
    let mut from = 0;
    for at in found {
        edited.extend_from_slice(content.get(from..*at).unwrap_or_default());
        edited.extend_from_slice(new.as_bytes());
        from = at + old.len();
    }
    edited.extend_from_slice(content.get(from..).unwrap_or_default());
    edited
}

/// The number of the line that contains a byte, from 1.
fn line_of(content: &[u8], at: usize) -> usize {
    let before = content.get(..at).unwrap_or(content);
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// Explains why the text was not found, with the most likely reason.
fn missing(content: &[u8], old: &str, path: &str) -> String {
    let find = |text: &str| memmem::find(content, text.as_bytes());
    if old.contains('\n') && !old.contains('\r') && find(&old.replace('\n', "\r\n")).is_some() {
        return format!("`old` is not in `{path}`: the lines of the file end in CR LF");
    }
    if old.contains('\r') && find(&old.replace("\r\n", "\n")).is_some() {
        return format!("`old` is not in `{path}`: the lines of the file end in LF");
    }
    if let Some(line) = apart_from_spaces(content, old) {
        return format!(
            "`old` is not in `{path}`, but the text from line {line} differs from it only in \
             whitespace: copy it exactly"
        );
    }
    if find(old.trim()).is_some() && !old.trim().is_empty() {
        return format!("`old` is in `{path}`, but not with its leading and trailing whitespace");
    }
    format!("`old` is not in `{path}`: read the file and copy the text exactly")
}

/// The first line of a match that ignores spaces at the ends of lines.
fn apart_from_spaces(content: &[u8], old: &str) -> Option<usize> {
    let text = String::from_utf8_lossy(content);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let wanted: Vec<&str> = old.trim_matches('\n').lines().map(str::trim).collect();
    if wanted.iter().all(|line| line.is_empty()) {
        return None;
    }
    lines.windows(wanted.len()).position(|window| window == wanted).map(|at| at + 1)
}
