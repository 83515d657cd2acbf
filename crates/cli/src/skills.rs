//! Where skills are, and which of them may be used.

use std::path::{Path, PathBuf};

use counterfoil_agent::{
    ScanPorts, Skill, SkillError, SkillOrigin, SkillWarning, Skills, Trusted, scan,
};
use counterfoil_guard::{Blocklist, GuardSettings, Redactor, find_blocked_command};

use crate::config::{Options, user_folder};
use crate::exit::Complaint;

/// Where a project has its skills.
const OF_PROJECTS: [&str; 3] = [".counterfoil/skills", ".agents/skills", ".claude/skills"];

/// Skills as they were found.
pub(crate) struct Found {
    pub(crate) skills: Vec<Skill>,
    pub(crate) errors: Vec<SkillError>,
    pub(crate) trusted: Trusted,
}

impl Found {
    /// Those that may be used, and the names of those that nobody trusted yet.
    pub(crate) fn usable(self) -> (Vec<Skill>, Vec<String>) {
        let Self { skills, trusted, .. } = self;
        let (usable, others): (Vec<Skill>, Vec<Skill>) =
            skills.into_iter().partition(|skill| trusted.is_trusted(skill));
        (usable, others.into_iter().map(|skill| skill.name).collect())
    }
}

/// Every skill: the user's own, those of the paths that the configuration names, the project's.
pub(crate) fn find(options: &Options, workspace: &Path) -> anyhow::Result<Found> {
    let own = user_folder().map(|folder| (folder.join("skills"), SkillOrigin::User));
    let named = options.agent.skill_paths.iter().map(|path| (path.clone(), SkillOrigin::User));
    let projects = OF_PROJECTS.iter().map(|path| (workspace.join(path), SkillOrigin::Project));
    let paths: Vec<(PathBuf, SkillOrigin)> =
        own.into_iter().chain(named).chain(projects).filter(|(path, _)| path.is_dir()).collect();
    let (skills, errors) = Skills::find(&paths);
    Ok(Found { skills, errors, trusted: trusted()? })
}

/// The digests of skills that the user has agreed to.
pub(crate) fn trusted() -> anyhow::Result<Trusted> {
    let folder = user_folder();
    let folder = folder.ok_or_else(|| Complaint::new("there is no home folder".to_owned()))?;
    let opened = Trusted::open(&folder.join("trusted-skills.json"));
    Ok(opened.map_err(|error| Complaint::new(error.to_string()))?)
}

/// What is odd about a skill, as it was read and as strangers may have meant it.
pub(crate) fn oddities(skill: &Skill, settings: &GuardSettings) -> Vec<SkillWarning> {
    let redactor = Redactor::standard();
    let has_secret = |line: &str| redactor.redact(line) != line;
    let policy = settings.shell.load();
    let list: &Blocklist = &policy.blocklist;
    let danger = |command: &str| find_blocked_command(command, list);
    let mut all = skill.warnings.clone();
    all.extend(scan(skill, ScanPorts::new(&has_secret, &danger)));
    all
}
