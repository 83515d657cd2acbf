//! The files of a skill's folder, bounded, and never by way of a symbolic link.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

use super::error::SkillError;

/// The name of the file that makes a folder a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

const MOST_ENTRIES: usize = 400;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Reads the files of a folder, `SKILL.md` first and the others sorted by the bytes of their
/// paths, shows each to `look` with its path below the folder, and gives the digest of all.
///
/// The digest is SHA-256 over, for each file, its path (with `/`), a zero byte, its length in eight
/// bytes (the highest first), and its bytes. It is written as `sha256:` and 64 hexadecimal digits.
///
/// # Errors
/// No `SKILL.md`, symbolic links, files that are no regular ones, and more than 400 files and
/// folders or 8 MiB.
pub(super) fn digest(
    folder: &Path,
    mut look: impl FnMut(&Path, &[u8]),
) -> Result<String, SkillError> {
    let (mut hash, mut left) = (Sha256::new(), MOST_BYTES);
    for relative in files(folder)? {
        let bytes = read(&folder.join(&relative), left)?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        left = left.saturating_sub(length);
        hash.update(relative.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(length.to_be_bytes());
        hash.update(&bytes);
        look(&relative, &bytes);
    }
    let hex = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(format!("sha256:{hex}"))
}

/// The bytes of a regular file, unless there are more than `most`.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, SkillError> {
    let failed = |error: io::Error| SkillError::unreadable(path, &error);
    let before = fs::symlink_metadata(path).map_err(failed)?;
    if before.is_symlink() {
        return Err(SkillError::link(path));
    }
    if !before.is_file() {
        return Err(SkillError::not_a("regular file", path));
    }
    let file = File::open(path).map_err(failed)?;
    // Someone may have put a link there since.
    let after = file.metadata().map_err(failed)?;
    if (before.dev(), before.ino()) != (after.dev(), after.ino()) {
        return Err(SkillError::new(path, "the file was replaced while being read", "try again"));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        return Ok(bytes);
    }
    let help = "remove what you do not need, or split it";
    Err(SkillError::new(path, "reading this file would exceed the size limit", help))
}

/// The paths of every file below a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, SkillError> {
    let mut files = Vec::new();
    for (count, entry) in WalkDir::new(folder).follow_root_links(false).into_iter().enumerate() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            SkillError::unreadable(path, &error.into())
        })?;
        let (kind, path) = (entry.file_type(), entry.path());
        if count > MOST_ENTRIES {
            return Err(SkillError::too_many("files and folders", MOST_ENTRIES, folder));
        } else if kind.is_symlink() {
            return Err(SkillError::link(path));
        } else if kind.is_file() {
            files.push(path.strip_prefix(folder).unwrap_or(path).to_owned());
        } else if !kind.is_dir() {
            return Err(SkillError::not_a("regular file", path));
        }
    }
    let is_other = |path: &Path| path != Path::new(SKILL_FILE);
    files.sort_by_cached_key(|path| (is_other(path), path.as_os_str().to_owned()));
    if files.first().is_none_or(|path| is_other(path)) {
        let help = "add a `SKILL.md` with `name` and `description`";
        return Err(SkillError::new(folder, "the folder has no `SKILL.md` file", help));
    }
    Ok(files)
}
