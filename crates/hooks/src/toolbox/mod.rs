//! The built-in tools of agents, as far as they are published: one agent per file.
//!
//! No call is refused because its tool is not listed here: agents get new tools.

mod claude_code;
mod codex;
mod gemini;

use counterfoil_model::{Agent, Effects, Origin, Tool};
use counterfoil_shell::Script;
use counterfoil_tools::CommandArgument;
use serde_json::Value;

/// A built-in tool, and what it does.
struct Own {
    name: &'static str,
    does: Does,
}

/// What a tool does.
enum Does {
    /// Reads files and lists.
    Reads,
    /// Changes files.
    Writes,
    /// Fetches from the network.
    Fetches,
    /// Runs a shell command. The JSON Pointers lead to the command and to its folder.
    Shell(&'static str, Option<&'static str>),
    /// Types the text at this JSON Pointer into a running command, which may be a shell.
    Types(&'static str),
    /// Delegates work to other agents, whose actions are not known.
    Delegates,
    /// Keeps the agent's own notes.
    Notes,
}

fn tools(agent: Agent) -> &'static [Own] {
    match agent {
        Agent::ClaudeCode => claude_code::TOOLS,
        Agent::Codex => codex::TOOLS,
        Agent::Gemini => gemini::TOOLS,
    }
}

/// The tool with that name; if nothing is known about it, only with its name.
#[must_use]
pub fn tool(agent: Agent, name: &str) -> Tool {
    let mut tool = Tool::named(name);
    if let Some(server) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        tool.origin = Origin::Mcp { server: server.0.to_owned() };
    }
    if let Some(own) = tools(agent).iter().find(|own| own.name == name) {
        tool.effects = own.does.effects();
    }
    tool
}

/// The tools that take shell commands, with the positions of the command and its folder.
pub(crate) fn shells(agent: Agent) -> impl Iterator<Item = (&'static str, CommandArgument)> {
    tools(agent).iter().filter_map(|own| match own.does {
        Does::Shell(command, cwd) => {
            let cwd = cwd.map(str::to_owned);
            Some((own.name, CommandArgument { command: command.to_owned(), cwd }))
        }
        _ => None,
    })
}

/// Members in which tools of any vendor take the folder of a command.
const FOLDERS: [&str; 6] =
    ["cwd", "workdir", "working_directory", "workingDirectory", "dir_path", "directory"];

/// Members in which tools of any vendor take a shell command.
const COMMANDS: [(&str, &str); 7] = [
    ("command", "/command"),
    ("cmd", "/cmd"),
    ("script", "/script"),
    ("shell_command", "/shell_command"),
    ("commands", "/commands"),
    ("command_line", "/command_line"),
    ("bash", "/bash"),
];
/// Words in the names of tools that run shell commands.
const SHELLS: [&str; 14] = [
    "shell",
    "bash",
    "sh",
    "zsh",
    "exec",
    "execute",
    "terminal",
    "run",
    "command",
    "cmd",
    "powershell",
    "process",
    "console",
    "ssh",
];

/// The name of an unpublished tool whose arguments show that it takes a shell command, or of one
/// that types into a running command, with the positions of the command and its folder.
pub(crate) fn strange_shell(
    agent: Agent,
    name: &str,
    arguments: &Value,
) -> Option<(String, CommandArgument)> {
    if let Some(own) = tools(agent).iter().find(|own| own.name == name) {
        let Does::Types(pointer) = own.does else { return None };
        // Text that is not a shell script was typed into something else.
        let typed = arguments.pointer(pointer).and_then(Value::as_str)?;
        Script::parse(typed).ok().filter(|script| !script.commands().is_empty())?;
        let command = CommandArgument { command: pointer.to_owned(), cwd: None };
        return Some((name.to_owned(), command));
    }
    let written = name.to_ascii_lowercase();
    let mut words = written.split(|c: char| !c.is_ascii_alphanumeric());
    if !words.any(|word| SHELLS.contains(&word)) {
        return None;
    }
    let (_, pointer) = COMMANDS.iter().find(|(member, _)| match arguments.get(member) {
        Some(Value::String(_)) => true,
        Some(Value::Array(words)) => words.iter().all(Value::is_string),
        _ => false,
    })?;
    let folder = FOLDERS.iter().find(|member| arguments.get(**member).is_some());
    let cwd = folder.map(|member| format!("/{member}"));
    Some((name.to_owned(), CommandArgument { command: (*pointer).to_owned(), cwd }))
}

impl Does {
    fn effects(&self) -> Effects {
        let known = |reads, writes, network, retrieves| Effects {
            reads: Some(reads),
            writes: Some(writes),
            network: Some(network),
            retrieves: Some(retrieves),
            idempotent: None,
        };
        match self {
            Self::Reads => known(true, false, false, true),
            Self::Writes => known(true, true, false, false),
            Self::Fetches => known(true, false, true, true),
            Self::Notes => known(false, false, false, false),
            Self::Shell(..) | Self::Types(_) | Self::Delegates => Effects::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_strange_tool_that_takes_a_command_is_a_shell() {
        let command = json!({ "command": "rm -rf /" });
        for (name, arguments, pointer) in [
            ("mcp__shell__exec", &command, Some("/command")),
            ("mcp__shell__exec", &json!({ "cmd": ["rm", "-rf", "/"] }), Some("/cmd")),
            ("mcp__x__run", &json!({ "script": "rm -rf /" }), Some("/script")),
            ("BASH", &command, Some("/command")),
            ("Bash ", &command, Some("/command")),
            ("Bash", &command, None),
            ("mcp__chat__send", &command, None),
            ("mcp__shell__exec", &json!({ "command": 7 }), None),
        ] {
            let found = strange_shell(Agent::ClaudeCode, name, arguments);
            let found = found.map(|(_, place)| place.command);
            assert_eq!(found.as_deref(), pointer, "{name}");
        }
    }

    #[test]
    fn what_is_typed_is_a_command_where_a_shell_could_read_it() {
        for (arguments, is_command) in [
            (json!({ "session_id": 1, "chars": "git push --force\n" }), true),
            (json!({ "session_id": 1, "chars": "" }), false),
            (json!({ "session_id": 1, "chars": "print(\"a\")\n" }), false),
            (json!({ "session_id": 1 }), false),
        ] {
            let found = strange_shell(Agent::Codex, "write_stdin", &arguments);
            assert_eq!(found.is_some(), is_command, "{arguments}");
        }
    }

    #[test]
    fn each_tool_occurs_once_and_a_stranger_is_only_a_name() {
        for agent in Agent::ALL {
            let names: BTreeSet<_> = tools(agent).iter().map(|own| own.name).collect();
            assert_eq!(names.len(), tools(agent).len(), "{agent:?}");
            assert!(shells(agent).next().is_some(), "{agent:?} has a shell");
            assert_eq!(tool(agent, "brand_new"), Tool::named("brand_new"));
        }
        let origin = tool(Agent::ClaudeCode, "mcp__git__push").origin;
        assert_eq!(origin, Origin::Mcp { server: "git".to_owned() });
    }
}
