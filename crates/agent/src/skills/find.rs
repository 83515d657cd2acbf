//! The skills below search paths.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::SkillError;
use super::folder::SKILL_FILE;
use super::one::{Skill, SkillOrigin};

/// The most skills of one search path that are read.
const MOST_SKILLS: usize = 500;

/// Every direct sub-folder of the paths that has a `SKILL.md`: in the order of the paths, and by
/// name within one. Of two skills with one name the first is used, and the other is an error. A
/// path that does not exist has no skills; what cannot be read is an error, and so is every
/// symbolic link. A search path that is a link itself is not followed for [`SkillOrigin::Project`].
/// At most 500 skills of a path are read.
#[must_use]
pub fn find_skills(paths: &[(PathBuf, SkillOrigin)]) -> (Vec<Skill>, Vec<SkillError>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for (path, origin) in paths {
        match folders(path, *origin, &mut errors) {
            Ok(folders) => found.extend(folders.into_iter().map(|folder| (folder, *origin))),
            Err(error) => errors.push(error),
        }
    }
    let mut skills = Vec::<Skill>::new();
    for (folder, origin) in found {
        match Skill::read(&folder, origin) {
            Ok(skill) if skills.iter().any(|earlier| earlier.name == skill.name) => {
                let what = "a skill with the same name was found first, so this one is ignored";
                errors.push(SkillError {
                    skill: Some(skill.name),
                    ..SkillError::new(folder, what, "rename or remove one of them")
                });
            }
            Ok(skill) => skills.push(skill),
            Err(error) => errors.push(error),
        }
    }
    errors.sort_by(|a, b| a.file.cmp(&b.file));
    (skills, errors)
}

/// The sub-folders of a search path that are skills; entries that are refused become errors.
fn folders(
    path: &Path,
    origin: SkillOrigin,
    errors: &mut Vec<SkillError>,
) -> Result<Vec<PathBuf>, SkillError> {
    let failed = |error: io::Error| SkillError::unreadable(path, &error);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(found) if found.is_symlink() && origin == SkillOrigin::Project => {
            return Err(SkillError::link(path));
        }
        found => found.map_err(failed)?,
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (kind, folder) = (entry.file_type().map_err(failed)?, entry.path());
        if kind.is_symlink() {
            errors.push(SkillError::link(folder));
        } else if kind.is_dir() && fs::symlink_metadata(folder.join(SKILL_FILE)).is_ok() {
            folders.push(folder);
        }
    }
    folders.sort();
    if folders.len() > MOST_SKILLS {
        folders.truncate(MOST_SKILLS);
        errors.push(SkillError::too_many("skills", MOST_SKILLS, path));
    }
    Ok(folders)
}
