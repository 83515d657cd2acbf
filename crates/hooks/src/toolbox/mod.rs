//! The tools that agents have by themselves, as far as they are published: one agent a file.
//!
//! Nobody is refused for a tool that is not here: agents grow tools.

mod claude_code;
mod codex;
mod gemini;

use counterfoil_model::{Agent, Effects, Origin, Tool};

/// One tool of an agent, and what running it does.
struct Own {
    name: &'static str,
    does: Does,
}

/// What running a tool does.
enum Does {
    /// Looks at files and lists.
    Reads,
    /// Changes files.
    Writes,
    /// Fetches from the network.
    Fetches,
    /// Runs a shell command, which stands at this JSON Pointer.
    Shell(&'static str),
    /// Has other agents work: nothing is known of what they do.
    Delegates,
    /// Keeps the agent's own notes: nobody else sees them.
    Notes,
}

fn tools(agent: Agent) -> &'static [Own] {
    match agent {
        Agent::ClaudeCode => claude_code::TOOLS,
        Agent::Codex => codex::TOOLS,
        Agent::Gemini => gemini::TOOLS,
    }
}

/// The tool of that name; only the name, where nothing else is known of it.
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

/// The tools that take shell commands, with the JSON Pointer of the command.
pub(crate) fn shells(agent: Agent) -> impl Iterator<Item = (&'static str, &'static str)> {
    tools(agent).iter().filter_map(|own| match own.does {
        Does::Shell(pointer) => Some((own.name, pointer)),
        _ => None,
    })
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
            Self::Shell(_) | Self::Delegates => Effects::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_tool_stands_once_and_a_stranger_is_only_a_name() {
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
