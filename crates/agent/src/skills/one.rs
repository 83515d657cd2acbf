//! One skill: a folder, its `SKILL.md`, and where it came from.

use std::path::{Path, PathBuf};

use super::error::SkillError;
use super::folder::{self, SKILL_FILE};
use super::front_matter;
use super::inline_tool::{self, InlineTool};
use super::warning::SkillWarning;

/// Who a skill comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SkillOrigin {
    /// The user put it into their own folder. It is trusted.
    User,
    /// It is below a folder that the configuration names. It is used while its scan finds nothing,
    /// and no person agreed to another form of it.
    Named,
    /// It came with a project, from the author of that.
    Project,
}

/// A skill that keeps to the specification.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Skill {
    /// 1 to 64 of `a` to `z`, `0` to `9` and `-`; the name of its folder.
    pub name: String,
    /// What it does and when it is used: 1 to 1024 characters.
    pub description: String,
    /// The instructions: everything after the front matter.
    pub body: String,
    /// Its folder, as it was named.
    pub folder: PathBuf,
    /// `sha256:` and 64 hexadecimal digits over all its files, as they were read.
    pub digest: String,
    /// The tools that its body defines.
    pub tools: Vec<InlineTool>,
    /// Who it comes from.
    pub origin: SkillOrigin,
    /// What was odd when it was read. What a stranger may have hidden, [`scan`](crate::scan())
    /// finds.
    pub warnings: Vec<SkillWarning>,
}

impl Skill {
    /// Reads the skill of a folder: at most 400 files and folders, and 8 MiB.
    ///
    /// # Errors
    /// The first thing that is wrong with it. Symbolic links are refused.
    pub fn read(folder: &Path, origin: SkillOrigin) -> Result<Self, SkillError> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Self::read_named(folder, &name, origin)
            .map_err(|error| SkillError { skill: Some(name.into_owned()), ..error })
    }

    fn read_named(folder: &Path, name: &str, origin: SkillOrigin) -> Result<Self, SkillError> {
        let mut skill_file = Vec::new();
        let digest = folder::digest(folder, |path, bytes| {
            if path == Path::new(SKILL_FILE) {
                skill_file = bytes.to_vec();
            }
        })?;
        let file = folder.join(SKILL_FILE);
        let failed = |what, help| SkillError::new(&file, what, help).at(1);
        let text = String::from_utf8(skill_file)
            .map_err(|_| failed("the file is not UTF-8 text", "save the file as UTF-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let parts = front_matter::split(text).ok_or_else(|| {
            let what = "the file does not begin with front matter between two `---` lines";
            failed(what, "begin with `---`, then `name:` and `description:`, then `---`")
        })?;
        let (name, description, warning) = front_matter::read(&file, name, parts.front)?;
        Ok(Self {
            name,
            description,
            body: parts.body.to_owned(),
            folder: folder.to_owned(),
            digest,
            tools: inline_tool::read_all(&file, parts.body, parts.body_line)?,
            origin,
            warnings: warning.into_iter().collect(),
        })
    }

    /// Whether the files of the folder are still those that were read. To be called right before a
    /// tool of the skill runs.
    ///
    /// # Errors
    /// When the folder cannot be read any more.
    pub fn is_as_read(&self) -> Result<bool, SkillError> {
        Ok(folder::digest(&self.folder, |_, _| {})? == self.digest)
    }
}
