//! Finds skills, and decides which of them may be used.

use std::path::{Path, PathBuf};

use counterfoil_agent::{
    ScanPorts, Skill, SkillError, SkillOrigin, SkillWarning, Trusted, find_skills, scan,
};
use counterfoil_guard::{Blocklist, GuardSettings, Redactor};
use counterfoil_tools::find_blocked_command;

use crate::config::{Options, user_folder};
use crate::exit::Complaint;

/// The folders for a project's skills.
const OF_PROJECTS: [&str; 3] = [".counterfoil/skills", ".agents/skills", ".claude/skills"];

/// The skills that were found.
pub(crate) struct Found {
    pub(crate) skills: Vec<Skill>,
    pub(crate) errors: Vec<SkillError>,
    pub(crate) trusted: Trusted,
}

impl Found {
    /// Returns the skills that may be used, and the names of the others.
    pub(crate) fn usable(self, settings: &GuardSettings) -> (Vec<Skill>, Vec<String>) {
        let (usable, others): (Vec<&Skill>, Vec<&Skill>) =
            self.skills.iter().partition(|skill| self.may_be_used(skill, settings));
        let names = others.into_iter().map(|skill| skill.name.clone()).collect();
        (usable.into_iter().cloned().collect(), names)
    }

    /// Whether a skill may be used in its present form.
    pub(crate) fn may_be_used(&self, skill: &Skill, settings: &GuardSettings) -> bool {
        let found = match skill.origin {
            SkillOrigin::Named => scanned(skill, settings),
            _ => Vec::new(),
        };
        self.trusted.may_be_used(skill, &found)
    }
}

/// Finds every skill: the user's own, those in configured folders, and the project's.
pub(crate) fn find(options: &Options, workspace: &Path) -> anyhow::Result<Found> {
    let own = user_folder().map(|folder| (folder.join("skills"), SkillOrigin::User));
    let named = named_folders(options).map(|path| (path, SkillOrigin::Named));
    let projects = OF_PROJECTS.iter().map(|path| (workspace.join(path), SkillOrigin::Project));
    let paths: Vec<(PathBuf, SkillOrigin)> =
        own.into_iter().chain(named).chain(projects).filter(|(path, _)| path.is_dir()).collect();
    let (skills, errors) = find_skills(&paths);
    Ok(Found { skills, errors, trusted: trusted()? })
}

/// Returns the configured folders.
pub(crate) fn named_folders(options: &Options) -> impl Iterator<Item = PathBuf> {
    // Absolute, because a skill's command gets the path and may run in any folder.
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    options.agent.skill_paths.iter().map(whole)
}

/// Returns the digests of the skills that the user trusts.
pub(crate) fn trusted() -> anyhow::Result<Trusted> {
    let folder = user_folder();
    let folder = folder.ok_or_else(|| Complaint::new("no home folder".to_owned()))?;
    let opened = Trusted::open(&folder.join("trusted-skills.json"));
    Ok(opened.map_err(Complaint::from_error)?)
}

/// Returns the warnings about a skill, from reading it and from scanning for hostile content.
pub(crate) fn oddities(skill: &Skill, settings: &GuardSettings) -> Vec<SkillWarning> {
    [skill.warnings.clone(), scanned(skill, settings)].concat()
}

/// Scans a skill for hostile content.
fn scanned(skill: &Skill, settings: &GuardSettings) -> Vec<SkillWarning> {
    let redactor = Redactor::standard();
    let has_secret = |line: &str| redactor.redact(line) != line;
    let policy = settings.shell.load();
    let list: &Blocklist = &policy.blocklist;
    let danger = |command: &str| find_blocked_command(command, list);
    scan(skill, ScanPorts { has_secret: &has_secret, danger: &danger })
}
