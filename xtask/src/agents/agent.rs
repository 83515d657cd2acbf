//! The differences between the agents: programs, settings and environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::scenario::{Installed, Scenario};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    ClaudeCode,
    Codex,
    Gemini,
}

/// An installed coding agent.
pub(super) struct Agent {
    kind: Kind,
    program: PathBuf,
    pub(super) version: String,
}

const KINDS: [(Kind, &str); 3] =
    [(Kind::ClaudeCode, "claude"), (Kind::Codex, "codex"), (Kind::Gemini, "gemini")];

impl Agent {
    /// Returns the agents in this folder or on `PATH`.
    pub(super) fn find(bins: Option<&Path>) -> Result<Vec<Self>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = match bins {
            Some(bins) => vec![bins.canonicalize().with_context(|| bins.display().to_string())?],
            None => std::env::split_paths(&path).collect(),
        };
        let mut found = Vec::new();
        for (kind, name) in KINDS {
            let mut programs = folders.iter().map(|folder| folder.join(name));
            let Some(program) = programs.find(|program| program.exists()) else { continue };
            let said = Command::new(&program).arg("--version").output()?;
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            let number =
                said.split_whitespace().find(|w| w.starts_with(|c: char| c.is_ascii_digit()));
            found.push(Self { kind, program, version: number.unwrap_or("unknown").to_owned() });
        }
        Ok(found)
    }

    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::ClaudeCode => "claude-code",
            Kind::Codex => "codex",
            Kind::Gemini => "gemini",
        }
    }

    /// The product name.
    pub(super) fn title(&self) -> &'static str {
        match self.kind {
            Kind::ClaudeCode => "Claude Code",
            Kind::Codex => "Codex",
            Kind::Gemini => "Gemini CLI",
        }
    }

    /// Returns a program installed in the same folder, if it exists.
    pub(super) fn beside(&self, name: &str) -> Option<PathBuf> {
        Some(self.program.with_file_name(name)).filter(|program| program.exists())
    }

    /// Whether sub-agents run in parallel, so that the agent has to wait for them.
    pub(super) fn has_to_wait(&self) -> bool {
        self.kind == Kind::Codex
    }

    /// The path of its hook settings, relative to the home folder.
    pub(super) fn settings(&self) -> &'static str {
        match self.kind {
            Kind::ClaudeCode => ".claude/settings.json",
            Kind::Codex => ".codex/hooks.json",
            Kind::Gemini => ".gemini/settings.json",
        }
    }

    /// The path of its logs, relative to the home folder.
    pub(super) fn logs(&self) -> &'static str {
        match self.kind {
            Kind::ClaudeCode => ".claude/projects",
            Kind::Codex => ".codex/sessions",
            Kind::Gemini => ".gemini/tmp",
        }
    }

    /// Configures the agent to use only the model at `url`.
    pub(super) fn prepare(&self, home: &Path, url: &str) -> Result<()> {
        let (place, text) = match self.kind {
            Kind::ClaudeCode => return Ok(()),
            Kind::Codex => (
                ".codex/config.toml",
                format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\
                     check_for_update_on_startup = false\n[analytics]\nenabled = false\n\
                     [features]\nmulti_agent_v2 = true\n\
                     [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
                     wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n"
                ),
            ),
            Kind::Gemini => {
                let settings = json!({
                    "security": {
                        "auth": { "selectedType": "gemini-api-key" },
                        "folderTrust": { "enabled": false },
                    },
                    "privacy": { "usageStatisticsEnabled": false },
                    "telemetry": { "enabled": false },
                    "general": { "disableAutoUpdate": true, "disableUpdateNag": true },
                });
                (".gemini/settings.json", serde_json::to_string_pretty(&settings)?)
            }
        };
        let path = home.join(place);
        std::fs::create_dir_all(path.parent().unwrap_or(home))?;
        Ok(std::fs::write(path, text)?)
    }

    /// Adds an MCP server to the settings, as a user would, and returns the file.
    pub(super) fn list_server(&self, home: &Path, name: &str, command: &str) -> Result<PathBuf> {
        let path = home.join(match self.kind {
            Kind::ClaudeCode => ".claude.json",
            Kind::Codex => ".codex/config.toml",
            Kind::Gemini => ".gemini/settings.json",
        });
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let text = if self.kind == Kind::Codex {
            format!("{text}[mcp_servers.{name}]\ncommand = \"{command}\"\n")
        } else {
            let mut settings: serde_json::Value = match text.as_str() {
                "" => json!({}),
                text => serde_json::from_str(text)?,
            };
            let servers = json!({ name: { "command": command, "args": [] } });
            let members = settings.as_object_mut().context("the settings are no object")?;
            members.insert("mcpServers".to_owned(), servers);
            serde_json::to_string_pretty(&settings)?
        };
        std::fs::write(&path, text)?;
        Ok(path)
    }

    pub(super) fn environment(&self, url: &str) -> Vec<(&'static str, String)> {
        match self.kind {
            Kind::ClaudeCode => vec![
                ("ANTHROPIC_BASE_URL", url.to_owned()),
                ("ANTHROPIC_API_KEY", "none".to_owned()),
                // Without this it refuses to skip permissions as root.
                ("IS_SANDBOX", "1".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("DISABLE_TELEMETRY", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
                ("DISABLE_ERROR_REPORTING", "1".to_owned()),
            ],
            Kind::Codex => vec![("SCRIPTED_KEY", "none".to_owned())],
            Kind::Gemini => vec![
                ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
                ("GEMINI_API_KEY", "none".to_owned()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ],
        }
    }

    /// Runs one turn without a terminal.
    pub(super) fn turn(
        &self,
        root: &Path,
        scenario: &Scenario,
        number: usize,
        prompt: &str,
    ) -> Command {
        let mut command = Command::new(&self.program);
        match self.kind {
            Kind::ClaudeCode => {
                let mode = if scenario.asks { "default" } else { "bypassPermissions" };
                command.args(["-p", prompt, "--permission-mode", mode]);
                command.args(["--output-format", "stream-json", "--verbose"]);
                if scenario.installed_by == Installed::Plugin {
                    command.arg("--plugin-dir").arg(root.join("plugins/claude-code"));
                }
                if number > 0 {
                    command.arg("--continue");
                }
            }
            Kind::Codex => {
                command.args(["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"]);
                if scenario.installed_by != Installed::Untrusted {
                    command.arg("--dangerously-bypass-hook-trust");
                }
                command.arg(prompt);
            }
            Kind::Gemini => {
                command.args(["-p", prompt, "--yolo", "-m", "gemini-2.5-flash"]);
            }
        }
        command
    }
}
