//! The project files that the user has trusted, identified by their content, so that a change
//! requires new trust.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use counterfoil_model::Digest;

use super::place::user_folder;
use crate::files;
use crate::replace::replace;

/// The file name. Each line has the digest of a file's content, a space, and its path.
const NAME: &str = "trusted";

/// Whether the user has trusted a file with this content.
pub(crate) fn is_trusted(path: &Path, text: &str) -> bool {
    let Some(line) = line(path, text) else { return false };
    let list = list().and_then(|list| files::read_text(list).ok()).unwrap_or_default();
    list.lines().any(|known| known == line)
}

/// Trusts a file with its present content.
///
/// # Errors
/// Returns an error if there is no user folder, or it cannot be written.
pub(crate) fn trust(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let line = line(path, text).context("the file no longer exists")?;
    let list = list().context("cannot record that the file is trusted: no home folder")?;
    write(&list, path, Some(line))?;
    Ok(list)
}

/// Stops trusting a file with any content. Returns whether it was trusted.
///
/// # Errors
/// Returns an error if the list cannot be written.
pub(crate) fn revoke(path: &Path) -> anyhow::Result<bool> {
    let Some(list) = list().filter(|list| list.exists()) else { return Ok(false) };
    write(&list, path, None)
}

/// Replaces a file's entry in the list. Returns whether there was one.
fn write(list: &Path, path: &Path, line: Option<String>) -> anyhow::Result<bool> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let real = real.display().to_string();
    let before = match files::read_text(list) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| list.display().to_string()),
    };
    let of_it = |line: &&str| line.split_once(' ').is_some_and(|(_, path)| path == real);
    let others = before.lines().filter(|line| !of_it(line)).map(str::to_owned);
    let text: String = others.chain(line).map(|line| line + "\n").collect();
    replace(list, &text).with_context(|| format!("cannot write {}", list.display()))?;
    Ok(before.lines().any(|line| of_it(&line)))
}

fn line(path: &Path, text: &str) -> Option<String> {
    let real = path.canonicalize().ok()?;
    Some(format!("{} {}", Digest::of_bytes(text.as_bytes()), real.display()))
}

fn list() -> Option<PathBuf> {
    user_folder().map(|folder| folder.join(NAME))
}
