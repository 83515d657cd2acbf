use std::path::Path;
use std::time::Duration;

use counterfoil_model::ToolErrorCategory;
use serde_json::Value;

use crate::number::whole;
use crate::{ShellSettings, ToolError};

/// The paths where Bash may be. Another shell might interpret commands differently from the
/// analysis that judged them.
const BASH: [&str; 4] =
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];

/// The arguments of a shell call.
pub(super) struct ShellArguments<'c> {
    pub(super) command: &'c str,
    pub(super) cwd: Option<&'c str>,
    pub(super) timeout: Duration,
    pub(super) background: bool,
}

impl<'c> ShellArguments<'c> {
    pub(super) fn read(arguments: &'c Value, settings: &ShellSettings) -> Result<Self, ToolError> {
        let command = arguments.get("command").and_then(Value::as_str);
        let command = command.filter(|command| !command.trim().is_empty());
        let command = command.ok_or_else(|| wrong("`command` is missing"))?;
        let cwd = match arguments.get("cwd") {
            None | Some(Value::Null) => None,
            Some(Value::String(cwd)) => Some(cwd.as_str()),
            Some(_) => return Err(wrong("`cwd` must be a string")),
        };
        let background = match arguments.get("background") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(background)) => *background,
            Some(_) => return Err(wrong("`background` must be true or false")),
        };
        let usual = if background { settings.background } else { settings.timeout };
        let longest = settings.max_timeout;
        let timeout = match arguments.get("timeout_secs") {
            None | Some(Value::Null) => usual,
            Some(seconds) => whole(seconds)
                .map(Duration::from_secs)
                .filter(|timeout| !timeout.is_zero() && *timeout <= longest)
                .ok_or_else(|| {
                    let most = longest.as_secs();
                    wrong(&format!("`timeout_secs` must be a number from 1 to {most}"))
                })?,
        };
        let timeout = if background { timeout.min(settings.background) } else { timeout };
        Ok(Self { command, cwd, timeout, background })
    }
}

/// The id of the run that `shell_output` or `shell_stop` refers to.
pub(super) fn run_named(arguments: &Value) -> Result<&str, ToolError> {
    arguments.get("run").and_then(Value::as_str).ok_or_else(|| wrong("`run` is missing"))
}

/// The arguments to run Bash with this command, without startup files.
pub(super) fn bash(command: &str) -> Result<Vec<String>, ToolError> {
    let bash =
        BASH.iter().find(|path| Path::new(path).is_file()).ok_or_else(|| ToolError::Shell {
            exit_code: 127,
            category: ToolErrorCategory::PermanentFailure,
            message: "Bash is not installed; other shells could run commands differently from how \
                      they were checked"
                .to_owned(),
        })?;
    let words = [*bash, "--noprofile", "--norc", "-c", "--", command, "bash"];
    Ok(words.map(str::to_owned).to_vec())
}

fn wrong(message: &str) -> ToolError {
    ToolError::new(ToolErrorCategory::InvalidParameters, message)
}
