use counterfoil_model::{Effects, Origin, Tool};
use serde_json::json;

use crate::ShellSettings;

/// The shell tool under its two names.
pub(super) const RUN: [&str; 2] = ["shell", "bash"];
/// Reads the output of a command in the background.
pub(crate) use counterfoil_admission::SHELL_OUTPUT as OUTPUT;
/// Ends a command in the background.
pub(super) const STOP: &str = "shell_stop";

/// The definitions of the executor's tools.
pub(super) fn definitions(settings: &ShellSettings) -> Vec<Tool> {
    let timeout = settings.max_timeout.max(settings.background).as_secs();
    let mut tools = RUN.map(|name| run(name, timeout)).to_vec();
    tools.push(about_a_run(
        OUTPUT,
        "Returns what a command in the background printed so far, and whether it still runs.",
        false,
    ));
    tools.push(about_a_run(
        STOP,
        "Ends a command in the background and returns what it printed.",
        true,
    ));
    tools
}

fn run(name: &str, timeout: u64) -> Tool {
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
            },
            "background": {
                "type": "boolean",
                "description": "Start it and return at once with the name of the run, which \
                                `shell_output` reads and `shell_stop` ends. It ends with the \
                                session."
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

fn about_a_run(name: &str, description: &str, ends_it: bool) -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "run": {
                "type": "string",
                "minLength": 1,
                "description": "The name of the run, as `shell` gave it."
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
