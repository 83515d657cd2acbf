use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType};
use serde_json::{Value, json};

use super::failure::{impossible, trouble};
use super::policy::Need;
use super::shown::{shown, shown_path};
use super::tool::{FileTool, Work};
use super::walk::{Entry, entries};
use crate::{ToolError, ToolOutput};

pub(super) const TOOL: FileTool = FileTool {
    name: "list_directory",
    description: "Lists a directory in the workspace: directories with a trailing slash, \
                  files with their sizes, links with their targets.",
    need: Need::Look,
    idempotent: true,
    parameters,
    run,
};

/// The maximum number of entries listed; more are only counted.
const MOST: usize = 1_000;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1, "description": "The directory, relative to the workspace; `.` is the workspace." }
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

fn run(work: &Work<'_>) -> Result<ToolOutput, ToolError> {
    work.needed("path")?;
    let place = work.place(Need::Look)?;
    let folder = match place.root.open_directory(&place.relative) {
        Ok(folder) => folder,
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            let requested = shown(&place.requested);
            return Err(impossible(format!("`{requested}` is not a directory")));
        }
        Err(error) => return Err(trouble(&place.requested, &error)),
    };
    let all = entries(&folder).map_err(|error| trouble(&place.requested, &error))?;
    let (mut text, mut listed, mut left_out, mut more) = (String::new(), 0_usize, 0_u64, 0_u64);
    for entry in &all {
        let relative = place.relative.join(&entry.name);
        let content = entry.kind == FileType::RegularFile;
        if !work.may_see(&place.root.path().join(&relative), &relative, content) {
            left_out += 1;
        } else if listed < MOST && text.len() < work.settings.max_output {
            text += &line(&folder, entry);
            listed += 1;
        } else {
            more += 1;
        }
    }
    if listed == 0 && left_out == 0 {
        text += "[the directory is empty]\n";
    }
    if more > 0 {
        text += &format!("[{more} more not shown; use find_files to search by name]\n");
    }
    if left_out > 0 {
        text += &format!("[left out, access not allowed: {left_out}]\n");
    }
    Ok(ToolOutput { text, truncated: more > 0, ..ToolOutput::default() })
}

fn line(folder: &OwnedFd, entry: &Entry) -> String {
    let name = shown_path(Path::new(&entry.name));
    match entry.kind {
        FileType::Directory => format!("{name}/\n"),
        FileType::RegularFile => {
            let size = rustix::fs::statat(folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW);
            match size {
                Ok(stat) if stat.st_size == 1 => format!("{name}  (1 byte)\n"),
                Ok(stat) => format!("{name}  ({} bytes)\n", stat.st_size),
                Err(_) => format!("{name}\n"),
            }
        }
        FileType::Symlink => match rustix::fs::readlinkat(folder, &entry.name, Vec::new()) {
            Ok(target) => format!("{name} -> {}\n", shown(&target.to_string_lossy())),
            Err(_) => format!("{name} -> ?\n"),
        },
        _ => format!("{name}  (not a regular file)\n"),
    }
}
