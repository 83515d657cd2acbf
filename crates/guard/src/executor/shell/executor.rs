use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_model::{Effects, Origin, Tool, ToolErrorCategory};
use countersign_shell::Script;
use serde_json::{Value, json};

use super::capture::shares;
use super::directory::directory;
use super::environment::environment;
use super::harmless::is_harmless;
use super::run::{Ended, Run, run};
use super::written::Watched;
use super::{
    ShellOutputEnvelope, ShellPolicy, ShellPolicyHandle, ShellSettings, find_blocked_command,
};
use crate::admitted::Admitted;
use crate::executor::{
    Confinement, ExecutorId, ExecutorKind, ExitCause, ToolError, ToolExecutor, ToolOutput,
};
use crate::gate::{ByApproval, ByPolicy, Permit};
use crate::scene::{Scene, TrustLevel};

/// The tool, and its other name.
const NAMES: [&str; 2] = ["shell", "bash"];

/// Where Bash is looked for. Another shell would read some commands differently from the analysis
/// that judged them.
const BASH: [&str; 4] =
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];

/// Runs shell commands with Bash.
///
/// On every way to execution the blocklist is asked again, under the policy that is in force when
/// the command starts; the command keeps that policy to its end.
#[derive(Debug, Clone)]
pub struct ShellExecutor {
    policy: ShellPolicyHandle,
}

impl ShellExecutor {
    /// Runs commands under this policy, which the gates should share.
    #[must_use]
    pub fn new(policy: ShellPolicyHandle) -> Self {
        Self { policy }
    }

    async fn run(&self, call: &Admitted, scene: &Scene<'_>) -> Result<ToolOutput, ToolError> {
        let policy = self.policy.load();
        let asked = Asked::read(call.arguments(), &policy.settings)?;
        refuse_blocked(&asked, &policy, scene)?;
        let settings = &policy.settings;
        let directory = directory(scene.workspace, &settings.directories, asked.cwd)?;
        let watched = Watched::before(&written(asked.command), &directory);
        let ended = run(Run {
            program: bash(asked.command)?,
            directory,
            environment: environment(scene.environment, &settings.passed),
            limits: settings.limits,
            timeout: asked.timeout,
            max_output: settings.max_output,
        })
        .await?;
        let escaped = ended.escaped;
        let output = output(ended, settings.max_output, asked.timeout);
        Ok(ToolOutput {
            side_effects: watched.after(),
            confinement: Some(unconfined(escaped)),
            ..output
        })
    }
}

impl ToolExecutor for ShellExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Shell, "")
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        let timeout = self.policy.load().settings.max_timeout.as_secs();
        NAMES.map(|name| definition(name, timeout)).to_vec()
    }

    fn owns(&self, tool: &str) -> bool {
        NAMES.contains(&tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        if !self.owns(&permit.call().tool().name) {
            return Ok(None);
        }
        self.run(permit.call(), scene).await.map(Some)
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        if !self.owns(&permit.call().tool().name) {
            return Ok(None);
        }
        self.run(permit.call(), scene).await.map(Some)
    }

    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        let policy = self.policy.load();
        let asked = match Asked::read(call.arguments(), &policy.settings) {
            Ok(asked) => asked,
            Err(error) => return Some(error.to_string()),
        };
        if scene.trust == TrustLevel::Trusted {
            return None;
        }
        let folders = &policy.settings.directories;
        let directory = match directory(scene.workspace, folders, asked.cwd) {
            Ok(directory) => directory,
            Err(error) => return Some(error.to_string()),
        };
        let harmless = is_harmless(asked.command, scene.workspace, &directory);
        (!harmless).then(|| {
            "nothing would confine the command, and it is not certain that it only reads inside \
             the workspace"
                .to_owned()
        })
    }

    /// A command may have had its effect when it fails.
    fn is_tool_retryable(&self, _tool: &str) -> bool {
        false
    }

    fn is_tool_speculatable(&self, _tool: &str) -> bool {
        false
    }
}

fn definition(name: &str, timeout: u64) -> Tool {
    let description = "Runs a command with Bash in the workspace and returns what it printed. It \
                       gets no input, and everything it starts ends with it.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "minLength": 1,
                "description": "The command line."
            },
            "cwd": {
                "type": "string",
                "minLength": 1,
                "description": "The directory to run it in, seen from the workspace."
            },
            "timeout_secs": {
                "type": "integer",
                "minimum": 1,
                "maximum": timeout,
                "description": "After how many seconds it is ended."
            }
        },
        "required": ["command"],
        "additionalProperties": false
    });
    Tool {
        description: if name == "shell" {
            description.to_owned()
        } else {
            format!("Another name of `shell`. {description}")
        },
        parameters: Some(parameters),
        origin: Origin::Builtin,
        effects: Effects {
            reads: Some(true),
            writes: Some(true),
            network: Some(true),
            idempotent: Some(false),
            retrieves: Some(false),
        },
        ..Tool::named(name)
    }
}

/// What the arguments ask for.
struct Asked<'c> {
    command: &'c str,
    cwd: Option<&'c str>,
    timeout: Duration,
}

impl<'c> Asked<'c> {
    fn read(arguments: &'c Value, settings: &ShellSettings) -> Result<Self, ToolError> {
        let wrong = |message: &str| ToolError::of(ToolErrorCategory::InvalidParameters, message);
        let command = arguments.get("command").and_then(Value::as_str);
        let command = command.filter(|command| !command.trim().is_empty());
        let command = command.ok_or_else(|| wrong("`command` is missing"))?;
        let cwd = match arguments.get("cwd") {
            None | Some(Value::Null) => None,
            Some(Value::String(cwd)) => Some(cwd.as_str()),
            Some(_) => return Err(wrong("`cwd` is not a text")),
        };
        let timeout = match arguments.get("timeout_secs") {
            None | Some(Value::Null) => settings.timeout,
            Some(seconds) => seconds
                .as_u64()
                .map(Duration::from_secs)
                .filter(|timeout| !timeout.is_zero() && *timeout <= settings.max_timeout)
                .ok_or_else(|| {
                    let most = settings.max_timeout.as_secs();
                    wrong(&format!("`timeout_secs` is not a number from 1 to {most}"))
                })?,
        };
        Ok(Self { command, cwd, timeout })
    }
}

// INVARIANT: every way to execution comes through here, approved or not.
fn refuse_blocked(
    asked: &Asked<'_>,
    policy: &Arc<ShellPolicy>,
    scene: &Scene<'_>,
) -> Result<(), ToolError> {
    let list = policy.blocklist.in_scene(scene, asked.cwd);
    match find_blocked_command(asked.command, &list) {
        None => Ok(()),
        Some(message) => Err(ToolError::Shell {
            exit_code: 126,
            category: ToolErrorCategory::PolicyBlocked,
            message,
        }),
    }
}

/// Bash with this command, and nothing that it reads beforehand.
fn bash(command: &str) -> Result<Vec<String>, ToolError> {
    let bash =
        BASH.iter().find(|path| Path::new(path).is_file()).ok_or_else(|| ToolError::Shell {
            exit_code: 127,
            category: ToolErrorCategory::PermanentFailure,
            message: "Bash is not installed, and no other shell runs commands as they were judged"
                .to_owned(),
        })?;
    let words = [*bash, "--noprofile", "--norc", "-c", "--", command, "bash"];
    Ok(words.map(str::to_owned).to_vec())
}

/// The paths that the command seems to write.
fn written(command: &str) -> Vec<String> {
    let Ok(script) = Script::parse(command) else { return Vec::new() };
    script.writes().iter().filter_map(|write| write.path.literal().map(str::to_owned)).collect()
}

fn output(ended: Ended, limit: usize, timeout: Duration) -> ToolOutput {
    let Ended { exit_code, timed_out, stdout, stderr, .. } = ended;
    let (for_stdout, for_stderr) = shares(limit, stdout.characters(), stderr.characters());
    let (stdout, stdout_cut) = stdout.text(for_stdout);
    let (stderr, stderr_cut) = stderr.text(for_stderr);
    let failure = if timed_out {
        Some(ToolErrorCategory::Timeout)
    } else {
        ExitCause::of(exit_code, &stderr).map(ExitCause::category)
    };
    let truncated = stdout_cut || stderr_cut;
    let version = ShellOutputEnvelope::VERSION;
    let envelope = ShellOutputEnvelope { version, stdout, stderr, exit_code, truncated };
    ToolOutput {
        text: envelope.text(timed_out.then_some(timeout)),
        raw_response: serde_json::to_value(&envelope).ok(),
        failure,
        exit_code: Some(exit_code),
        truncated,
        ..ToolOutput::default()
    }
}

/// What is true of every command as long as no sandbox holds it.
fn unconfined(escaped: bool) -> Confinement {
    let mut not_held = vec![
        "files outside the workspace can be read and written".to_owned(),
        "the network can be reached".to_owned(),
        "other processes of the user can be reached".to_owned(),
    ];
    if rustix::process::geteuid().is_root() {
        not_held.push("the number of processes is not limited, because it ran as root".to_owned());
    }
    not_held.push(if escaped {
        "a process left the group of the command and may still run".to_owned()
    } else {
        "a process that leaves the group of the command is not ended with it".to_owned()
    });
    Confinement { profile: "off".to_owned(), not_held }
}
