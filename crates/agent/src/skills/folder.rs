//! The files of a skill's folder, bounded, and never by way of a symbolic link.

use std::fs::{self, File};
use std::io;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

use super::error::{SkillError, SkillProblem, visible};

/// The name of the file that makes a folder a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

const MOST_FILES: usize = 200;
const MOST_FOLDERS: usize = 200;
const MOST_BYTES: u64 = 8 * 1024 * 1024;
const MOST_SKILL_FILE_BYTES: u64 = 1024 * 1024;

/// Reads the files of a folder, `SKILL.md` first and the others sorted by the bytes of their
/// paths, shows each to `look` with its path below the folder, and gives the digest of all.
///
/// The digest is SHA-256 over, for each file, its path (with `/`), a zero byte, its length in eight
/// bytes (the highest first), and its bytes. It is written as `sha256:` and 64 hexadecimal digits.
///
/// # Errors
/// No `SKILL.md`, symbolic links, files that are no regular ones, and more than 200 files, 200
/// folders, 8 MiB, or 1 MiB of `SKILL.md`.
pub(super) fn digest(
    folder: &Path,
    mut look: impl FnMut(&Path, &[u8]),
) -> Result<String, SkillError> {
    let (mut hash, mut left) = (Sha256::new(), MOST_BYTES);
    for (shown, relative) in files(folder)? {
        let path = folder.join(&relative);
        let failed = |problem| SkillError::new(problem, &path);
        let is_skill_file = relative == Path::new(SKILL_FILE);
        let most = if is_skill_file { MOST_SKILL_FILE_BYTES } else { left };
        let bytes = read(&path, most).map_err(failed)?.ok_or_else(|| {
            if is_skill_file {
                failed(SkillProblem::too_large("the file is", "1 MiB"))
            } else {
                let what = "the files of the folder together are";
                SkillError::new(SkillProblem::too_large(what, "8 MiB"), folder)
            }
        })?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        left = left.saturating_sub(length);
        hash.update(&shown);
        hash.update([0]);
        hash.update(length.to_be_bytes());
        hash.update(&bytes);
        look(&relative, &bytes);
    }
    let hex = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(format!("sha256:{hex}"))
}

/// The bytes of a regular file; `None` where there are more than `most`.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, SkillProblem> {
    let before = fs::symlink_metadata(path)?;
    if before.is_symlink() {
        return Err(SkillProblem::link());
    }
    if !before.is_file() {
        return Err(SkillProblem::not_a("regular file"));
    }
    let file = File::open(path)?;
    // Somebody may have put a link there since.
    let after = file.metadata()?;
    if (before.dev(), before.ino()) != (after.dev(), after.ino()) {
        return Err(SkillProblem::new("the file was replaced while it was read", "try again"));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| u64::try_from(bytes.len()).is_ok_and(|length| length <= most)))
}

/// Every file below a folder, in order: its path as bytes with `/`, and as a path.
fn files(folder: &Path) -> Result<Vec<(Vec<u8>, PathBuf)>, SkillError> {
    let (mut files, mut folders) = (Vec::new(), 0_usize);
    for entry in WalkDir::new(folder).min_depth(1) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            SkillError::new(io::Error::from(error), path)
        })?;
        let (kind, path) = (entry.file_type(), entry.path());
        if kind.is_symlink() {
            return Err(SkillError::new(SkillProblem::link(), path));
        } else if kind.is_dir() {
            folders += 1;
        } else if kind.is_file() {
            let below = path.strip_prefix(folder).unwrap_or(path).to_owned();
            files.push((bytes_of(&below), below));
        } else {
            return Err(SkillError::new(SkillProblem::not_a("regular file"), path));
        }
        let counts = [("files", files.len(), MOST_FILES), ("folders", folders, MOST_FOLDERS)];
        if let Some((what, _, most)) = counts.into_iter().find(|(_, count, most)| count > most) {
            let problem = SkillProblem::too_many(&format!("{what} in the folder"), most);
            return Err(SkillError::new(problem, folder));
        }
    }
    let is_other = |bytes: &[u8]| bytes != SKILL_FILE.as_bytes();
    files.sort_by(|(a, _), (b, _)| (is_other(a), a).cmp(&(is_other(b), b)));
    if files.first().is_none_or(|(bytes, _)| is_other(bytes)) {
        return Err(SkillError::new(missing(&files), folder));
    }
    Ok(files)
}

/// Why there is no `SKILL.md`.
fn missing(files: &[(Vec<u8>, PathBuf)]) -> SkillProblem {
    let named_so =
        |(bytes, _): &&(Vec<u8>, PathBuf)| bytes.eq_ignore_ascii_case(SKILL_FILE.as_bytes());
    match files.iter().find(named_so) {
        Some((_, path)) => {
            let name = visible(&path.to_string_lossy());
            let what = format!("the file is called `{name}`, not `SKILL.md`");
            SkillProblem::new(what, "rename the file to `SKILL.md`")
        }
        None => SkillProblem::new(
            "the folder has no file `SKILL.md`",
            "add a `SKILL.md` with `name` and `description`",
        ),
    }
}

fn bytes_of(path: &Path) -> Vec<u8> {
    let parts: Vec<&[u8]> =
        path.components().map(|part| part.as_os_str().as_encoded_bytes()).collect();
    parts.join(&b'/')
}
