//! Edits that a check has to be run after.

use super::{Deed, Execution};

/// Whether the deed changed a file that a check looks at: not prose, not scratch, not only comments.
/// `within` is where the session worked: what lies there is no scratch, wherever that is.
pub(crate) fn edits_code(execution: &Execution<'_>, deed: &Deed<'_>, within: Option<&str>) -> bool {
    let scratch = ["/tmp/", "/dev/", "/var/", "/private/tmp/", "/private/var/"];
    let own = |path: &str| {
        within
            .and_then(|folder| path.strip_prefix(folder))
            .is_some_and(|rest| rest.starts_with('/'))
    };
    // Of shell commands only the editing one: others come and go with scratch files.
    let edits =
        deed.shell.as_ref().is_none_or(|work| work.command.contains("sed -i") && !work.deletes);
    edits
        && deed.status().succeeded()
        && !comments_only(execution)
        && deed.written.iter().any(|path| {
            let apart = scratch.iter().any(|folder| path.starts_with(folder)) && !own(path);
            !is_documentation(path) && !apart
        })
}

/// Whether a file is read by people only, or by another machine, so that no check looks at it.
pub(crate) fn is_documentation(path: &str) -> bool {
    let endings = [".md", ".txt", ".rst", ".adoc", ".log", "LICENSE", "CHANGELOG", ".gitignore"];
    let manual = |path: &str| {
        path.rsplit_once('.').is_some_and(|(_, section)| {
            section.len() == 1 && section.bytes().all(|b| (b'1'..=b'8').contains(&b))
        })
    };
    // What another machine is to run.
    let workflow = path.contains(".github/workflows/");
    endings.iter().any(|ending| path.ends_with(ending)) || manual(path) || workflow
}

/// Whether an edit puts in nothing but comments.
fn comments_only(execution: &Execution<'_>) -> bool {
    let Some(call) = execution.call else { return false };
    let Ok(arguments) = call.arguments.parse() else { return false };
    let text = |name: &str| arguments.get(name).and_then(|value| value.as_str());
    if let (Some(old), Some(new)) = (text("old_string"), text("new_string")) {
        return code_of(old.lines()) == code_of(new.lines());
    }
    let Some(patch) = text("input").or_else(|| text("patch")) else { return false };
    let side = |mark: char| code_of(patch.lines().filter_map(|line| line.strip_prefix(mark)));
    let whole = patch.contains("*** Add File") || patch.contains("*** Delete File");
    !whole && patch.contains("\n+") && side('+') == side('-')
}

/// The lines that are no comments.
fn code_of<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    let comment = |line: &str| {
        line.is_empty()
            || ["//", "#", "*", "/*", "--", "<!--"].iter().any(|mark| line.starts_with(mark))
    };
    lines.map(str::trim).filter(|line| !comment(line)).collect()
}
