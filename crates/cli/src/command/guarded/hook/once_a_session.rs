//! Limits a message to once per session, even if the state folder cannot be written.

use std::env;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::path::PathBuf;

use counterfoil_model::Digest;

/// Whether this is the first time in the session; true if that is unknown.
pub(super) fn is_first(session: &str, about: &str) -> bool {
    let Some(folder) = folder() else { return true };
    let name = Digest::of_bytes(format!("{about} {session}").as_bytes()).to_string();
    let made = OpenOptions::new().write(true).create_new(true).open(folder.join(name));
    made.map_or_else(|error| error.kind() != ErrorKind::AlreadyExists, |_| true)
}

/// Returns a temporary folder that only this user can write.
#[cfg(unix)]
fn folder() -> Option<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    let own = rustix::process::geteuid().as_raw();
    let folder = env::temp_dir().join(format!("counterfoil-told-{own}"));
    let _there = DirBuilder::new().mode(0o700).create(&folder);
    let seen = fs::symlink_metadata(&folder).ok()?;
    (seen.is_dir() && seen.uid() == own && seen.mode() & 0o022 == 0).then_some(folder)
}

#[cfg(not(unix))]
fn folder() -> Option<PathBuf> {
    let folder = env::temp_dir().join("counterfoil-told");
    let _there = DirBuilder::new().create(&folder);
    fs::symlink_metadata(&folder).ok().filter(|seen| seen.is_dir()).map(|_| folder)
}
