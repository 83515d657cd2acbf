//! The command line that an agent runs for every event.

use std::path::Path;

use crate::Agent;

/// The command line that starts a program, given by name or path, quoted for a POSIX shell.
///
/// A path with a NUL byte cannot be part of a command line, but no file system has one.
#[must_use]
pub fn command_line(agent: Agent, program: &str) -> String {
    let quoted = shlex::try_quote(program).map_or_else(|_| program.into(), String::from);
    format!("{quoted} hook {}", agent.name())
}

/// The program in a command line of ours for this agent: `counterfoil hook AGENT`, by name or path,
/// possibly after variable assignments and with further arguments.
#[must_use]
pub fn program_of(agent: Agent, command: &str) -> Option<String> {
    let mut words = shlex::split(command)?.into_iter().skip_while(|word| is_assignment(word));
    let program = words.next()?;
    let stem = Path::new(&program).file_stem()?.to_str()?;
    let rest: Vec<String> = words.collect();
    let asks = rest
        .windows(2)
        .any(|pair| matches!(pair, [group, name] if group == "hook" && name == agent.name()));
    (stem == "counterfoil" && asks).then_some(program)
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_recognised() {
        for program in ["counterfoil", "/opt/a b/counterfoil", "/it's/$HOME/counterfoil"] {
            let line = command_line(Agent::Codex, program);
            assert_eq!(program_of(Agent::Codex, &line).as_deref(), Some(program), "{line}");
            assert_eq!(program_of(Agent::Gemini, &line), None, "{line}");
        }
    }

    #[test]
    fn ours_and_others() {
        for (line, expected) in [
            ("counterfoil hook claude-code", Some("counterfoil")),
            ("COUNTERFOIL_STATE=/s counterfoil hook claude-code", Some("counterfoil")),
            ("'/a b/counterfoil.exe' --state x hook claude-code", Some("/a b/counterfoil.exe")),
            ("counterfoil check --session claude-code", None),
            ("echo counterfoil hook claude-code", None),
            ("counterfoil-lint hook claude-code", None),
            ("counterfoil hook 'claude-code", None),
            ("", None),
        ] {
            assert_eq!(program_of(Agent::ClaudeCode, line).as_deref(), expected, "{line}");
        }
    }
}
