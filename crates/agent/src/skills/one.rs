//! One skill: a folder, its `SKILL.md`, and where it came from.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{SkillError, SkillProblem};
use super::folder::{self, SKILL_FILE};
use super::front_matter;
use super::inline_tool::{self, InlineTool};
use super::warning::{SkillWarning, WarningKind};

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
    /// Reads the skill of a folder: at most 200 files and 8 MiB, of which 1 MiB is `SKILL.md`.
    ///
    /// # Errors
    /// Everything that is wrong with it, at least one thing. Symbolic links are refused.
    pub fn read(folder: &Path, origin: SkillOrigin) -> Result<Self, Vec<SkillError>> {
        let name = folder_name(folder).map_err(|error| vec![error])?;
        Self::read_named(folder, &name, origin)
            .map_err(|errors| errors.into_iter().map(|error| error.of_skill(&name)).collect())
    }

    fn read_named(folder: &Path, name: &str, origin: SkillOrigin) -> Result<Self, Vec<SkillError>> {
        let mut skill_file = Vec::new();
        let digest = folder::digest(folder, |path, bytes| {
            if path == Path::new(SKILL_FILE) {
                skill_file = bytes.to_vec();
            }
        });
        let digest = digest.map_err(|error| vec![error])?;

        let file = folder.join(SKILL_FILE);
        let failed = |problem| vec![SkillError::new(problem, &file).at(Some(1))];
        let text = String::from_utf8(skill_file).map_err(|_| failed(not_utf8()))?;
        let (text, marked) = match text.strip_prefix('\u{feff}') {
            Some(text) => (text, true),
            None => (text.as_str(), false),
        };
        let parts = front_matter::split(text).map_err(failed)?;

        let fields = front_matter::read(&file, name, parts.front);
        let tools = inline_tool::read_all(&file, parts.body, parts.body_line);
        let ((name, description, mut warnings), tools) = match (fields, tools) {
            (Ok(fields), Ok(tools)) => (fields, tools),
            (fields, tools) => {
                let both = [fields.err(), tools.err()];
                return Err(both.into_iter().flatten().flatten().collect());
            }
        };
        if marked {
            let why = "the file begins with a byte order mark, which other readers refuse";
            warnings.push(SkillWarning::new(&file, Some(1), WarningKind::ByteOrderMark, why));
        }
        warnings.extend(tools.iter().filter_map(|tool| tool.dangling_option(&file)));
        Ok(Self {
            name,
            description,
            body: parts.body.to_owned(),
            folder: folder.to_owned(),
            digest,
            tools,
            origin,
            warnings,
        })
    }

    /// Whether the files of the folder are still those that were read. To be asked right before a
    /// tool of the skill runs.
    ///
    /// # Errors
    /// When the folder cannot be read any more.
    pub fn is_as_read(&self) -> Result<bool, SkillError> {
        let digest = folder::digest(&self.folder, |_, _| {});
        digest.map(|digest| digest == self.digest).map_err(|error| error.of_skill(&self.name))
    }
}

fn not_utf8() -> SkillProblem {
    SkillProblem::new("the file is not UTF-8 text", "save the file as UTF-8")
}

/// The name of a folder that is one, and no link to one.
fn folder_name(folder: &Path) -> Result<String, SkillError> {
    let failed = |problem: SkillProblem| SkillError::new(problem, folder);
    let found = fs::symlink_metadata(folder).map_err(|error| failed(error.into()))?;
    if found.is_symlink() {
        return Err(failed(SkillProblem::link()));
    }
    if !found.is_dir() {
        return Err(failed(SkillProblem::not_a("folder")));
    }
    let whole = match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => folder.canonicalize().map_err(|error| failed(error.into()))?,
    };
    Ok(whole.file_name().unwrap_or_default().to_string_lossy().into_owned())
}
