//! MCP clients, and where their configurations list servers.

use std::env;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use counterfoil_hooks::{Agent, SettingsForm};

use crate::agents::Homes;
use crate::exit::Complaint;

/// A client's name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// VS Code
    Vscode,
    /// Windsurf
    Windsurf,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
}

/// The configuration to edit, and the servers in it.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The client
    pub(super) client: Client,
    /// Names of the servers [default: all servers that are started by a command]
    #[arg(value_name = "SERVER")]
    pub(super) servers: Vec<String>,
    /// Edit the configuration of the project in the working directory instead of the user's
    #[arg(long)]
    project: bool,
    /// Edit this file instead
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    file: Option<PathBuf>,
    /// Show what would change, but write nothing
    #[arg(long, visible_alias = "print")]
    pub(super) dry_run: bool,
}

/// A place in a file that lists servers.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) form: SettingsForm,
    /// The path of keys to the servers.
    pub(super) keys: Vec<String>,
}

impl Place {
    pub(super) fn keys(&self) -> Vec<&str> {
        self.keys.iter().map(String::as_str).collect()
    }
}

impl Target {
    /// Returns where this client lists its servers.
    pub(super) fn places(&self) -> anyhow::Result<Vec<Place>> {
        let here = env::current_dir()?;
        let (path, keys) = match &self.file {
            Some(file) => (file.clone(), self.client.keys()),
            None if self.project => (here.join(self.client.of_project()?), self.client.keys()),
            None => (self.client.of_user()?, self.client.keys()),
        };
        let form = match self.client {
            Client::Codex => SettingsForm::Toml,
            Client::Vscode | Client::Gemini => SettingsForm::JsonWithComments,
            _ => SettingsForm::Json,
        };
        let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        let mut places = vec![Place { path: path.clone(), form, keys: owned(keys) }];
        if self.client == Client::ClaudeCode && self.file.is_none() && !self.project {
            // The user's file also has settings for the project in this folder.
            let here = here.to_string_lossy().into_owned();
            let keys = owned(&["projects", &here, "mcpServers"]);
            places.push(Place { path, form, keys });
        }
        Ok(places)
    }
}

impl Client {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Vscode => &["servers"],
            Self::Codex => &["mcp_servers"],
            _ => &["mcpServers"],
        }
    }

    fn of_project(self) -> Result<&'static Path, Complaint> {
        Ok(Path::new(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::ClaudeDesktop | Self::Windsurf => {
                return Err(Complaint::new("this client has no project configuration")
                    .help("omit `--project`"));
            }
        }))
    }

    fn of_user(self) -> Result<PathBuf, Complaint> {
        let homes = Homes::from_environment();
        let no_home = || {
            Complaint::new("no home folder: HOME is not set")
                .help("set HOME, or specify the file with `--file`")
        };
        let home = || homes.home().ok_or_else(no_home);
        let of_agent = |agent, name| Ok(homes.folder(agent).ok_or_else(no_home)?.join(name));
        match self {
            Self::Codex => of_agent(Agent::Codex, "config.toml"),
            Self::Gemini => of_agent(Agent::Gemini, "settings.json"),
            Self::ClaudeCode => match homes.claude() {
                Some(folder) => Ok(folder.join(".claude.json")),
                None => Ok(home()?.join(".claude.json")),
            },
            Self::Cursor => Ok(home()?.join(".cursor/mcp.json")),
            Self::Windsurf => Ok(home()?.join(".codeium/windsurf/mcp_config.json")),
            Self::ClaudeDesktop => {
                Ok(applications(home()?).join("Claude/claude_desktop_config.json"))
            }
            Self::Vscode => Ok(applications(home()?).join("Code/User/mcp.json")),
        }
    }
}

/// The folder in which desktop programs keep the user's data.
fn applications(home: &Path) -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match env::consts::OS {
        "macos" => home.join("Library/Application Support"),
        "windows" => set("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming")),
        _ => set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
    }
}
