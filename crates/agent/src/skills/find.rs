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
/// The most entries of one folder that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// Every direct sub-folder of the paths that has a `SKILL.md`: in the order of the paths, and by
/// name within one. Of two skills with one name the first is used, and the other is an error. A
/// path that does not exist has no skills; what cannot be read is an error, and so is every
/// symbolic link. A search path that is a link itself is not followed for [`SkillOrigin::Project`].
/// At most 500 skills are read.
#[must_use]
pub fn find_skills(paths: &[(PathBuf, SkillOrigin)]) -> (Vec<Skill>, Vec<SkillError>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for (path, origin) in paths {
        match folders(path, *origin, &mut errors) {
            Ok(folders) => found.extend(folders.into_iter().map(|folder| (folder, path, *origin))),
            Err(problem) => errors.push(SkillError::new(problem, path)),
        }
    }
    if let Some((left_out, path, _)) = found.get(MOST_SKILLS) {
        let error = SkillError::new(SkillProblem::too_many("skills", MOST_SKILLS), path);
        errors.push(error.with("first left out", &left_out.to_string_lossy()));
    }
    // The names that are taken, and by which folder.
    let mut taken: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut skills = Vec::new();
    for (folder, _, origin) in found.into_iter().take(MOST_SKILLS) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(by) = taken.get(&name) {
            let what = "an earlier skill has the same name, so this one is not used";
            let problem = SkillProblem::new(what, "rename one of the two, or remove one");
            let error = SkillError::new(problem, folder).of_skill(&name);
            errors.push(error.with("used", &by.to_string_lossy()));
            continue;
        }
        match Skill::read(&folder, origin) {
            Ok(skill) => {
                taken.insert(name, folder);
                skills.push(skill);
            }
            Err(wrong) => errors.extend(wrong),
        }
    }
    errors.sort_by(|a, b| a.file().cmp(b.file()));
    (skills, errors)
}

/// The sub-folders of a search path that are skills; entries that are refused become errors.
fn folders(
    path: &Path,
    origin: SkillOrigin,
    errors: &mut Vec<SkillError>,
) -> Result<Vec<PathBuf>, SkillProblem> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    if found.is_symlink() && origin == SkillOrigin::Project {
        return Err(SkillProblem::link());
    }
    if !fs::metadata(path)?.is_dir() {
        return Err(SkillProblem::not_a("folder"));
    }
    let mut folders = Vec::new();
    for (at, entry) in fs::read_dir(path)?.enumerate() {
        if at == MOST_ENTRIES {
            errors.push(SkillError::new(SkillProblem::too_many("entries", MOST_ENTRIES), path));
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
    Ok(folders)
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
