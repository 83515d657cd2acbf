use counterfoil_model::{Effects, Origin, Tool};
use serde_json::json;

use crate::ShellSettings;

/// The shell tool under its two names.
pub(super) const RUN: [&str; 2] = ["shell", "bash"];
/// Reads the output of a command in the background.
pub(crate) use counterfoil_admission::SHELL_OUTPUT as OUTPUT;
/// Stops a background command.
pub(super) const STOP: &str = "shell_stop";

/// The definitions of the executor's tools.
pub(super) fn definitions(settings: &ShellSettings) -> Vec<Tool> {
    let timeout = settings.max_timeout.as_secs();
    let mut tools = RUN.map(|name| run(name, timeout)).to_vec();
    tools.push(about_a_run(
        OUTPUT,
        "Returns the output of a background command so far, and whether it is still running.",
        false,
    ));
    tools.push(about_a_run(STOP, "Stops a background command and returns its output.", true));
    tools
}

fn run(name: &str, timeout: u64) -> Tool {
    let description = "Runs a command with Bash in the workspace and returns its output. The command \
                       gets no input, and every process it starts is stopped when it exits.";
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
                "description": "The directory to run it in, relative to the workspace."
            },
            "timeout_secs": {
                "type": "integer",
                "minimum": 1,
                "maximum": timeout,
                "description": "The time limit in seconds."
            },
            "background": {
                "type": "boolean",
                "description": "Start the command in the background and return the name of the \
                                run immediately; use it with `shell_output` and `shell_stop`. The \
                                run is stopped when the session ends."
            }
        },
        "required": ["command"],
        "additionalProperties": false
    });
    Tool {
        description: if name == "shell" {
            description.to_owned()
        } else {
            format!("Another name for `shell`. {description}")
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

fn about_a_run(name: &str, description: &str, ends_it: bool) -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "run": {
                "type": "string",
                "minLength": 1,
                "description": "The name of the run that `shell` returned."
            }
        },
        "required": ["run"],
        "additionalProperties": false
    });
    Tool {
        description: description.to_owned(),
        parameters: Some(parameters),
        origin: Origin::Builtin,
        effects: Effects {
            reads: Some(true),
            writes: Some(ends_it),
            network: Some(false),
            idempotent: Some(false),
            retrieves: Some(false),
        },
        ..Tool::named(name)
    }
}
