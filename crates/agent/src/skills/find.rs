//! The skills below search paths.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{SkillError, SkillProblem};
use super::folder::SKILL_FILE;
use super::one::{Skill, SkillOrigin};

/// The most skills that are read.
const MOST_SKILLS: usize = 500;
/// The most entries of one search path that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// Finds skills.
#[derive(Debug, Default)]
pub struct Skills {
    skills: Vec<Skill>,
    errors: Vec<SkillError>,
    /// Names that are taken, and by which folder.
    taken: BTreeMap<String, PathBuf>,
    looked_at: usize,
}

impl Skills {
    /// Every direct sub-folder of the paths that has a `SKILL.md`: in the order of the paths, and
    /// by name within one. Of two skills with one name the first is used, and the other is an
    /// error. A path that does not exist has no skills; whatever cannot be read is an error, and so
    /// is every symbolic link. A search path that is a link itself is not
    /// followed for [`SkillOrigin::Project`]. At most 500 skills are read.
    #[must_use]
    pub fn find(paths: &[(PathBuf, SkillOrigin)]) -> (Vec<Skill>, Vec<SkillError>) {
        let mut found = Self::default();
        for (path, origin) in paths {
            match folders(path, *origin) {
                Ok((folders, errors)) => {
                    found.errors.extend(errors);
                    if !found.read(path, &folders, *origin) {
                        break;
                    }
                }
                Err(problem) => found.errors.push(SkillError::new(problem, path)),
            }
        }
        (found.skills, found.errors)
    }

    /// Reads the skills of a path; whether there may be more.
    fn read(&mut self, path: &Path, folders: &[PathBuf], origin: SkillOrigin) -> bool {
        for folder in folders {
            if self.looked_at == MOST_SKILLS {
                let problem = SkillProblem::too_many("skills", MOST_SKILLS);
                let error = SkillError::new(problem, path);
                self.errors.push(error.with("first left out", &folder.to_string_lossy()));
                return false;
            }
            self.looked_at += 1;
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if let Some(by) = self.taken.get(name.as_ref()) {
                let problem = SkillProblem::new(
                    "an earlier skill has the same name, so this one is not used",
                    "rename one of the two, or remove one",
                );
                let error = SkillError::new(problem, folder).of_skill(&name);
                self.errors.push(error.with("used", &by.to_string_lossy()));
                continue;
            }
            match Skill::read(folder, origin) {
                Ok(skill) => {
                    self.taken.insert(skill.name.clone(), folder.clone());
                    self.skills.push(skill);
                }
                Err(errors) => self.errors.extend(errors),
            }
        }
        true
    }
}

/// The sub-folders of a search path that are skills, and the entries that are refused.
fn folders(
    path: &Path,
    origin: SkillOrigin,
) -> Result<(Vec<PathBuf>, Vec<SkillError>), SkillProblem> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
        found => found?,
    };
    if found.is_symlink() && origin == SkillOrigin::Project {
        return Err(SkillProblem::link());
    }
    if !fs::metadata(path)?.is_dir() {
        return Err(SkillProblem::not_a("folder"));
    }
    let (mut folders, mut errors) = (Vec::new(), Vec::new());
    for (at, entry) in fs::read_dir(path)?.enumerate() {
        if at == MOST_ENTRIES {
            let problem = SkillProblem::too_many("entries", MOST_ENTRIES);
            errors.push(SkillError::new(problem, path));
            break;
        }
        let entry = entry?;
        let (kind, folder) = (entry.file_type()?, entry.path());
        if kind.is_symlink() {
            errors.push(SkillError::new(SkillProblem::link(), folder));
        } else if kind.is_dir() {
            match has_skill_file(&folder) {
                Ok(true) => folders.push(folder),
                Ok(false) => {}
                Err(error) => errors.push(SkillError::new(error, folder)),
            }
        }
    }
    folders.sort();
    errors.sort_by(|a, b| a.file().cmp(b.file()));
    Ok((folders, errors))
}

/// Whether a folder is meant to be a skill: it has the file, whatever the case of its name.
fn has_skill_file(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)?.take(MOST_ENTRIES) {
        let name = entry?.file_name();
        if name.as_encoded_bytes().eq_ignore_ascii_case(SKILL_FILE.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}
