//! The settings files of agents that can contain hooks.

use std::path::{Path, PathBuf};

use counterfoil_hooks::{SettingsForm, config_has_hooks, installed};
use counterfoil_model::Agent;

use super::{Homes, own_folder};
use crate::exit::Complaint;
use crate::files;

/// The scope of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every project of this user.
    User,
    /// The project in the working directory.
    Project,
}

impl Scope {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A settings file that can contain hooks. It may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    pub(crate) form: SettingsForm,
}

impl Homes {
    /// Returns the files of a scope that contain the hook. A broken file does not.
    pub(crate) fn hooked(&self, agent: Agent, scope: Scope, project: &Path) -> Vec<PathBuf> {
        let files = self.settings(agent, scope, project).unwrap_or_default().into_iter();
        let has_hook = |file: &SettingsFile| {
            let text = files::read_text(&file.path).unwrap_or_default();
            installed(agent, file.form, &text).is_ok_and(|hooks| !hooks.is_empty())
        };
        files.filter(has_hook).map(|file| file.path).collect()
    }

    /// Returns the files of a scope that can contain hooks; new hooks go into the first.
    pub(crate) fn settings(
        &self,
        agent: Agent,
        scope: Scope,
        project: &Path,
    ) -> Result<Vec<SettingsFile>, Complaint> {
        let folder = match scope {
            Scope::Project => project.join(own_folder(agent)),
            Scope::User => self.folder(agent).ok_or_else(|| {
                Complaint::new("no home folder: HOME is not set").help(
                    "set HOME, or pass `--project` to use the settings in the working directory",
                )
            })?,
        };
        let file = |name: &str, form| SettingsFile { path: folder.join(name), form };
        Ok(match agent {
            Agent::ClaudeCode => vec![file("settings.json", SettingsForm::Json)],
            Agent::Gemini => vec![file("settings.json", SettingsForm::JsonWithComments)],
            Agent::Codex => {
                let own = file("hooks.json", SettingsForm::Json);
                let config = file("config.toml", SettingsForm::Toml);
                // Codex warns about two files with hooks in one folder.
                let text = files::read_text(&config.path).unwrap_or_default();
                let beside = !own.path.exists() && config_has_hooks(&text).unwrap_or(false);
                if beside { vec![config, own] } else { vec![own, config] }
            }
        })
    }
}
