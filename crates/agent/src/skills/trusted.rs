//! Which skills of strangers a person has agreed to: their digests, in a JSON file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use counterfoil_model::{JsonLimits, parse_strict};
use tempfile::NamedTempFile;

use super::error::SkillError;
use super::folder;
use super::one::{Skill, SkillOrigin};
use super::warning::SkillWarning;

/// The most bytes of the file.
const MOST_BYTES: u64 = 1024 * 1024;

/// Why trust cannot be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] SkillError),
    /// The file is not what it should be. Nothing in it counts.
    #[error("`{}` is not a valid list of trusted skills: {reason}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file cannot be written; it is as it was.
    #[error("`{}` cannot be written: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Trust in skills, by digest. One change of one file ends it.
#[derive(Debug)]
pub struct Trusted {
    file: PathBuf,
    digests: BTreeMap<String, String>,
}

impl Trusted {
    /// Reads the file, `{"name": "sha256:…"}`. Where there is none, nothing is trusted.
    ///
    /// # Errors
    /// A file that cannot be read, is a link, or is something else.
    pub fn open(file: &Path) -> Result<Self, TrustError> {
        Ok(Self { file: file.to_owned(), digests: read(file)? })
    }

    /// Whether a person agreed to the skill: it is the user's own, or its digest, as it was read, is
    /// the one that was agreed to.
    #[must_use]
    pub fn is_trusted(&self, skill: &Skill) -> bool {
        match skill.origin {
            SkillOrigin::User => true,
            SkillOrigin::Named | SkillOrigin::Project => {
                self.digests.get(&skill.name) == Some(&skill.digest)
            }
        }
    }

    /// Whether the skill may be used without asking, where a scan finds this in it.
    #[must_use]
    pub fn may_be_used(&self, skill: &Skill, found: &[SkillWarning]) -> bool {
        let unknown = !self.digests.contains_key(&skill.name);
        let harmless = skill.origin == SkillOrigin::Named && unknown && found.is_empty();
        harmless || self.is_trusted(skill)
    }

    /// A person agrees to a skill as it was read. An earlier agreement of this name ends.
    ///
    /// # Errors
    /// When the file cannot be read or written; then nothing changes.
    pub fn trust(&mut self, skill: &Skill) -> Result<(), TrustError> {
        self.change(|digests| {
            digests.insert(skill.name.clone(), skill.digest.clone()).as_ref() != Some(&skill.digest)
        })
        .map(drop)
    }

    /// A person does not agree any more; whether they did.
    ///
    /// # Errors
    /// When the file cannot be read or written; then nothing changes.
    pub fn forget(&mut self, name: &str) -> Result<bool, TrustError> {
        self.change(|digests| digests.remove(name).is_some())
    }

    /// Changes the file as it is now: another process may have changed it since it was read.
    fn change(
        &mut self,
        change: impl FnOnce(&mut BTreeMap<String, String>) -> bool,
    ) -> Result<bool, TrustError> {
        let failed = |source| TrustError::Write { file: self.file.clone(), source };
        let _lock = lock(&self.file).map_err(failed)?;
        let mut digests = read(&self.file)?;
        let changed = change(&mut digests);
        if changed {
            write(&self.file, &digests).map_err(failed)?;
        }
        self.digests = digests;
        Ok(changed)
    }
}

fn read(file: &Path) -> Result<BTreeMap<String, String>, TrustError> {
    if matches!(fs::symlink_metadata(file), Err(error) if error.kind() == io::ErrorKind::NotFound) {
        return Ok(BTreeMap::new());
    }
    let damaged = |reason: String| TrustError::Damaged { file: file.to_owned(), reason };
    let bytes = folder::read(file, MOST_BYTES)?;
    let text = str::from_utf8(&bytes).map_err(|_| damaged("it is not UTF-8 text".to_owned()))?;
    let value = parse_strict(text, JsonLimits::ARGUMENTS).map_err(|e| damaged(e.to_string()))?;
    serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
}

/// No other process changes the file until this is dropped.
fn lock(file: &Path) -> io::Result<File> {
    fs::create_dir_all(folder_of(file))?;
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let lock = File::create(file.with_file_name(name))?;
    lock.lock()?;
    Ok(lock)
}

/// Writes all of it or nothing, for its owner only.
fn write(file: &Path, digests: &BTreeMap<String, String>) -> io::Result<()> {
    let mut new = NamedTempFile::new_in(folder_of(file))?;
    serde_json::to_writer_pretty(&mut new, digests)?;
    new.write_all(b"\n")?;
    new.as_file().sync_all()?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}
