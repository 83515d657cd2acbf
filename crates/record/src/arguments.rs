//! Reads the arguments of a call, whatever names its tool gives them.

use std::borrow::Cow;

use counterfoil_model::{JsonLimits, parse_strict};
use serde_json::Value;

/// The arguments of one call.
#[derive(Debug)]
pub(crate) struct Arguments<'t> {
    raw: &'t str,
    read: Value,
}

impl<'t> Arguments<'t> {
    pub(crate) fn parse(raw: &'t str) -> Self {
        Self { raw, read: parse_strict(raw, JsonLimits::ARGUMENTS).unwrap_or(Value::Null) }
    }

    /// The first of these members that is a string.
    pub(crate) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.read.get(name)?.as_str())
    }

    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.read.get(name).is_some())
    }

    /// Whether the call has no arguments.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.read {
            Value::Object(members) => members.is_empty(),
            Value::Null => self.raw.trim().is_empty(),
            _ => false,
        }
    }

    /// The command line of a shell call. `shell` is whether the tool's name says that it is a
    /// shell.
    pub(crate) fn command_line(&self, shell: bool) -> Option<Cow<'_, str>> {
        // Editors also have a `command` member; it holds the edit operation.
        let edits = self.has(&["path", "file_path", "file_text", "old_str"]);
        let names: &[&str] = match (shell, edits) {
            (true, _) => &["command", "cmd", "commands", "script", "action"],
            (false, false) => &["command", "cmd"],
            (false, true) => return None,
        };
        names.iter().find_map(|name| match self.read.get(name)? {
            Value::String(text) => Some(Cow::Borrowed(text.as_str())),
            Value::Array(items) => {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                // ["bash", "-lc", "…"]
                Some(match words.as_slice() {
                    [program, flag, line]
                        if program.ends_with("sh")
                            && flag.starts_with('-')
                            && flag.ends_with('c') =>
                    {
                        Cow::Owned((*line).to_owned())
                    }
                    words => Cow::Owned(words.join(" ")),
                })
            }
            _ => None,
        })
    }

    /// The tool that a meta-tool should run: `{"tool_name": …, "params": …}`.
    pub(crate) fn inner_tool(&self) -> Option<&str> {
        const CARRY: [&str; 6] =
            ["params", "parameters", "arguments", "args", "tool_input", "action_input"];
        let name = self.text(&["tool_name", "toolName", "tool", "name", "function"]);
        let named = name.filter(|inner| !inner.is_empty() && !inner.contains(' '));
        named.filter(|_| self.has(&CARRY))
    }

    /// The text of a patch, either in a member or as the raw arguments.
    pub(crate) fn patch(&self) -> Option<&str> {
        let member = self.text(&["input", "patch", "diff"]);
        member.or_else(|| self.raw.contains("*** Begin Patch").then_some(self.raw))
    }
}

/// The words of a tool's name in lower case: `create`, `pull` and `request` are among those of
/// `mcp__git__createPullRequest`.
pub(crate) fn words_of(tool: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower = false;
    for c in tool.chars() {
        let begins = words.is_empty() || (c.is_uppercase() && lower);
        lower = c.is_lowercase();
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else if begins {
            words.push(c.to_lowercase().collect());
        } else if let Some(last) = words.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_words() {
        for (tool, expected) in [
            ("mcp__git__createPullRequest", "mcp git create pull request"),
            ("run_tests", "run tests"),
            ("Bash", "bash"),
            ("", ""),
        ] {
            assert_eq!(words_of(tool).join(" "), expected);
        }
    }

    #[test]
    fn command_lines_are_found() {
        for (arguments, shell, expected) in [
            (r#"{"command":"ls"}"#, true, Some("ls")),
            (r#"{"cmd":["bash","-lc","cargo test"]}"#, true, Some("cargo test")),
            (r#"{"command":["git","status"]}"#, true, Some("git status")),
            (r#"{"command":"view","path":"a"}"#, false, None),
            (r#"{"script":"ls"}"#, false, None),
            (r#"{"script":"ls"}"#, true, Some("ls")),
            ("no JSON", true, None),
        ] {
            let read = Arguments::parse(arguments);
            assert_eq!(read.command_line(shell).as_deref(), expected, "{arguments}");
        }
    }
}
