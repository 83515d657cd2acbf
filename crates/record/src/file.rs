use counterfoil_shell::{Effect, Script, WordKind};

use crate::arguments::Arguments;
use crate::lists::{DOCUMENTS, EDITORS, PARTS, PATHS};

/// The effect of a call on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileEffect {
    /// The whole content was written.
    Written,
    /// Part of the file was changed.
    Edited,
    /// The file was deleted.
    Deleted,
    /// The file was moved to another path.
    Moved,
    /// Version control restored earlier content.
    Restored,
    /// Files were changed that the record does not name.
    Unnamed,
}

impl FileEffect {
    /// The display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Edited => "edited",
            Self::Deleted => "deleted",
            Self::Moved => "moved away",
            Self::Restored => "restored by version control",
            Self::Unnamed => "files that the record does not name were changed",
        }
    }
}

/// A change that a call was meant to make to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path as the call names it, relative to the session's folder if that is known. Empty for
    /// [`FileEffect::Unnamed`].
    pub path: String,
    /// The intended effect.
    pub effect: FileEffect,
    /// Whether checks cover the file: it certainly changed, and is neither documentation nor a
    /// scratch file.
    pub checked: bool,
}

impl FileChange {
    fn new(path: &str, effect: FileEffect, folder: Option<&str>) -> Self {
        let below = |folder: &str| {
            path.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/').map(str::to_owned)
        };
        let inside = folder.and_then(below);
        let path = inside.clone().unwrap_or_else(|| path.trim_start_matches("./").to_owned());
        let scratch = inside.is_none()
            && ["/tmp/", "/dev/", "/var/", "/private/"].iter().any(|root| path.starts_with(root));
        let checked = !scratch && !is_documentation(&path);
        Self { path, effect, checked }
    }

    pub(crate) fn unnamed(checked: bool) -> Self {
        Self { path: String::new(), effect: FileEffect::Unnamed, checked }
    }

    /// The changes that an editing tool was meant to make. `words` are the words of the tool's
    /// name.
    pub(crate) fn by_tool(
        words: &[String],
        arguments: &Arguments<'_>,
        folder: Option<&str>,
    ) -> Vec<Self> {
        let mut found = Vec::new();
        if let Some(patch) = arguments.patch() {
            found.extend(patched(patch).map(|(path, effect)| Self::new(path, effect, folder)));
        }
        let path = arguments.text(&PATHS).filter(|_| found.is_empty());
        // An editor's change is not always recorded.
        if found.is_empty() && path.is_none() && EDITORS.contains(&words.join("_").as_str()) {
            found.push(Self::unnamed(true));
        }
        if let Some(path) = path
            && let Some(effect) = effect_of(words, arguments)
        {
            found.push(Self::new(path, effect, folder));
            if let Some(to) = arguments.text(&TARGETS).filter(|_| effect == FileEffect::Moved) {
                found.push(Self::new(to, FileEffect::Written, folder));
            }
        }
        found
    }

    /// The changes that a command line was meant to make.
    pub(crate) fn by_script(script: &Script, folder: Option<&str>) -> Vec<Self> {
        let mut unnamed = script.changes_unnamed();
        let mut found = Vec::new();
        for write in script.writes() {
            let command = script.commands().get(write.command);
            let git = command.and_then(|command| command.program()) == Some("git");
            let effect = match write.effect {
                Effect::Created => FileEffect::Written,
                Effect::Changed if git => FileEffect::Restored,
                Effect::Changed => FileEffect::Edited,
                Effect::Deleted => FileEffect::Deleted,
                Effect::Moved => FileEffect::Moved,
            };
            let path = write.path.text.as_str();
            let named = write.path.kind == WordKind::Literal && path != ".";
            if path.starts_with("/dev/") {
                continue;
            }
            if named || write.path.kind == WordKind::Pattern {
                found.push(Self::new(path, effect, folder));
            }
            unnamed |= !named;
        }
        found.extend(unnamed.then(|| Self::unnamed(false)));
        found
    }
}

const TARGETS: [&str; 4] = ["destination", "new_path", "target", "to"];
const WHOLE: [&str; 5] = ["content", "contents", "file_text", "new_content", "text"];

/// The effect of a tool on the file it names, from the words of the tool's name.
fn effect_of(words: &[String], arguments: &Arguments<'_>) -> Option<FileEffect> {
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if arguments.text(&["command"]) == Some("view") || has(&["read", "view", "get", "list"]) {
        return None;
    }
    if has(&["delete", "remove", "unlink"]) {
        Some(FileEffect::Deleted)
    } else if has(&["move", "rename"]) {
        Some(FileEffect::Moved)
    } else if arguments.has(&PARTS) {
        Some(FileEffect::Edited)
    } else if arguments.has(&WHOLE) && has(&["write", "create", "save", "file", "editor", "put"]) {
        Some(FileEffect::Written)
    } else if has(&["edit", "multiedit", "replace", "patch", "insert"]) {
        Some(FileEffect::Edited)
    } else {
        None
    }
}

/// The files of a patch, from lines such as `*** Update File: a.rs` and `+++ b/a.rs`.
fn patched(patch: &str) -> impl Iterator<Item = (&str, FileEffect)> {
    const MARKS: [(&str, FileEffect); 5] = [
        ("*** Update File: ", FileEffect::Edited),
        ("*** Add File: ", FileEffect::Written),
        ("*** Delete File: ", FileEffect::Deleted),
        ("*** Move to: ", FileEffect::Written),
        ("+++ b/", FileEffect::Edited),
    ];
    // If the arguments are not valid JSON, line breaks may still be escaped.
    patch.split('\n').flat_map(|line| line.split("\\n")).filter_map(|line| {
        let named = |mark| Some(line.strip_prefix(mark)?.trim().trim_end_matches('\\'));
        MARKS.iter().find_map(|(mark, effect)| Some((named(*mark)?, *effect)))
    })
}

/// Whether a file is read only by people, or by another machine, so that no check covers it.
#[must_use]
pub fn is_documentation(path: &str) -> bool {
    let manual = |path: &str| {
        path.rsplit_once('.').is_some_and(|(_, section)| {
            section.len() == 1 && section.bytes().all(|b| (b'1'..=b'8').contains(&b))
        })
    };
    // Workflows run on another machine.
    let workflow = path.contains(".github/workflows/");
    DOCUMENTS.iter().any(|ending| path.ends_with(ending)) || manual(path) || workflow
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::words_of;

    fn shown(changes: &[FileChange]) -> String {
        let one = |change: &FileChange| {
            format!("{:?} {}{}", change.effect, change.path, if change.checked { "" } else { " -" })
        };
        changes.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn tools_change_files() {
        for (tool, arguments, expected) in [
            ("Edit", r#"{"file_path":"/r/src/a.rs","new_string":"x"}"#, "Edited src/a.rs"),
            ("Write", r#"{"file_path":"/r/README.md","content":"x"}"#, "Written README.md -"),
            ("Read", r#"{"file_path":"/r/a.rs"}"#, ""),
            ("str_replace_editor", r#"{"command":"view","path":"a"}"#, ""),
            (
                "str_replace_editor",
                r#"{"command":"create","path":"a","file_text":"x"}"#,
                "Written a",
            ),
            ("delete_file", r#"{"path":"a.rs"}"#, "Deleted a.rs"),
            ("move_file", r#"{"source":"a","destination":"b"}"#, "Moved a; Written b"),
            (
                "apply_patch",
                "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Delete File: b.rs\n",
                "Edited a.rs; Deleted b.rs",
            ),
            (
                "apply_patch",
                r#"{"input":"*** Begin Patch\n*** Add File: a.rs\n+x\n*** End Patch"}"#,
                "Written a.rs",
            ),
            ("Edit", r#"{"summary":"a file was edited"}"#, "Unnamed "),
            ("send_mail", r#"{"content":"x","file":"a.pdf"}"#, ""),
        ] {
            let read = Arguments::parse(arguments);
            let found = FileChange::by_tool(&words_of(tool), &read, Some("/r"));
            assert_eq!(shown(&found), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn commands_change_files() {
        for (line, expected) in [
            ("echo x > a.rs", "Written a.rs"),
            ("sed -i s/a/b/ a.rs", "Edited a.rs"),
            ("mv a.rs b.rs", "Moved a.rs; Written b.rs"),
            ("rm -rf out", "Deleted out"),
            ("git checkout -- a.rs", "Restored a.rs"),
            ("git reset --hard", "Unnamed  -"),
            ("sed -i s/a/b/ *.rs", "Edited *.rs; Unnamed  -"),
            ("ls > /dev/null", ""),
            ("cat a.rs", ""),
        ] {
            let script = Script::parse(line).unwrap();
            assert_eq!(shown(&FileChange::by_script(&script, None)), expected, "{line}");
        }
    }
}
