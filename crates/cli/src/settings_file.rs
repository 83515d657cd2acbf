//! Reads and writes settings files of other programs.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use counterfoil_hooks::{SettingsChange, SettingsEdit, SettingsError};
use similar::TextDiff;

use crate::exit::Complaint;
use crate::files;
use crate::replace::replace;

/// Reads the text of a settings file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Complaint> {
    let shown = path.display();
    match files::read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(Complaint::new(format!("{shown}: not UTF-8 text"))
                .help("save the file as UTF-8; nothing was written"))
        }
        Err(error) => Err(Complaint::new(format!("cannot read `{shown}`: {error}"))),
    }
}

/// Creates the complaint about a broken settings file.
pub(crate) fn broken(path: &Path, error: &SettingsError) -> Complaint {
    Complaint::new(format!("{}:{}: {error}", path.display(), error.line()))
        .help("correct the file, then try again; nothing was written")
}

/// Writes an edited file and prints the changes; a dry run only shows the difference.
pub(crate) fn apply(
    path: &Path,
    before: Option<&str>,
    edit: &SettingsEdit,
    dry_run: bool,
) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    let mut out = io::stdout().lock();
    if edit.changes.is_empty() {
        writeln!(out, "{shown}: nothing to do")?;
        return Ok(());
    }
    if dry_run {
        let after = edit.text.as_deref().unwrap_or_default();
        let name = |is_there: bool| if is_there { shown.as_str() } else { "/dev/null" };
        let diff = TextDiff::from_lines(before.unwrap_or_default(), after);
        let (old, new) = (name(before.is_some()), name(edit.text.is_some()));
        write!(out, "{}", diff.unified_diff().header(old, new))?;
        writeln!(io::stderr(), "dry run: nothing was written")?;
        return Ok(());
    }
    let written = match &edit.text {
        Some(text) => replace(path, text),
        None => fs::remove_file(path),
    };
    written.map_err(|error| {
        Complaint::new(format!("cannot write `{shown}`: {error}"))
            .help("the file is unchanged; make it writable, then try again")
    })?;
    writeln!(out, "{shown}")?;
    write_changes(&mut out, &edit.changes)?;
    if edit.text.is_none() {
        writeln!(out, "  removed the file, which contained nothing else")?;
        remove_empty_folder(path);
    }
    Ok(())
}

/// Removes the folder of a removed file if nothing is left in it and its name is that of an agent's
/// folder (`.claude`), which an installation creates. One with contents stays.
fn remove_empty_folder(path: &Path) {
    let named = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    if let Some(folder) = path.parent().filter(named) {
        let _ = fs::remove_dir(folder);
    }
}

/// Prints what was added, updated and removed, one line each.
fn write_changes(out: &mut impl io::Write, changes: &[SettingsChange]) -> io::Result<()> {
    for what in ["added", "updated", "removed"] {
        let named = changes.iter().filter_map(|change| {
            let (word, entry) = match change {
                SettingsChange::Added { entry } => ("added", entry),
                SettingsChange::Updated { entry, .. } => ("updated", entry),
                SettingsChange::Removed { entry } => ("removed", entry),
            };
            (word == what).then_some(entry.as_str())
        });
        let entries: Vec<&str> = named.collect();
        if !entries.is_empty() {
            writeln!(out, "  {what:<8} {}", entries.join(", "))?;
        }
    }
    Ok(())
}

/// Returns how an agent should name this program: by name if `PATH` finds it, otherwise by path.
pub(crate) fn own_program() -> anyhow::Result<String> {
    let own = env::current_exe().context("cannot determine the path of this program")?;
    if found("counterfoil").is_some_and(|path| same(&path, &own)) {
        return Ok("counterfoil".to_owned());
    }
    if own.file_stem().is_none_or(|stem| stem != "counterfoil") {
        let wrong = format!("this program is named `{}`", own.display());
        return Err(Complaint::new(wrong)
            .help("rename it to `counterfoil`: entries in agents' settings are found by that name")
            .into());
    }
    own.into_os_string().into_string().map_err(|path| {
        Complaint::new(format!("the path `{}` is not UTF-8", path.display()))
            .help(
                "settings files must be UTF-8: put the program on PATH, or move it to another \
                 folder",
            )
            .into()
    })
}

/// Returns the file that a shell would run for a program.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| is_executable(path));
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|path| is_executable(path))
}

fn same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
