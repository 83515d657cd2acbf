use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use countersign_shell::{Command, Script, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod builtins;
mod deletion;
mod devices;
mod names;
mod options;
mod temporary;

use deletion::Place;

use crate::admitted::Admitted;
use crate::globs::Globs;
use crate::scene::{Scene, TrustLevel};

pub use options::{BlocklistOptions, BlocklistOptionsError, CommandArgument};

/// What no shell command may do, whoever asks and whoever agrees.
///
/// Its floor cannot be configured away: the blocked commands, the guard of `rm`, command names
/// that are only known when they run, and everything that cannot be parsed.
#[derive(Debug, Clone)]
pub struct Blocklist {
    /// Each a program and the words that must follow it, in lower case.
    blocked: Arc<[Vec<String>]>,
    /// What `source` may read.
    sources: Globs,
    substitution: Substitution,
    network: bool,
    tools: Arc<BTreeMap<String, CommandArgument>>,
    place: Place,
}

/// What happens to `$(…)`, backquotes, `<(…)` and `>(…)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Substitution {
    /// They are refused.
    #[default]
    Refuse,
    /// The commands in them are judged like all others. In a turn with untrusted content they are
    /// refused all the same.
    Analyse,
}

impl Default for Blocklist {
    /// The floor: nothing added, substitutions refused, no network.
    fn default() -> Self {
        let fallback = Self {
            blocked: Arc::default(),
            sources: Globs::default(),
            substitution: Substitution::Refuse,
            network: false,
            tools: Arc::default(),
            place: Place::default(),
        };
        BlocklistOptions::default().resolve().unwrap_or(fallback)
    }
}

impl Blocklist {
    /// The same for commands that start in `directory` of the project at `root`. Relative
    /// directories are seen from the root.
    #[must_use]
    pub fn at(&self, root: &Path, home: Option<&str>, directory: Option<&str>) -> Self {
        Self { place: Place::new(root, home, directory), ..self.clone() }
    }

    /// The same for the scene of one call.
    #[must_use]
    pub fn in_scene(&self, scene: &Scene<'_>, directory: Option<&str>) -> Self {
        let home = scene.environment.get("HOME").map(String::as_str);
        let mut list = self.at(scene.workspace, home, directory);
        if scene.trust == TrustLevel::Untrusted {
            list.substitution = Substitution::Refuse;
        }
        list
    }

    /// Whether a tool of this name takes shell commands.
    #[must_use]
    pub fn takes_commands(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// The shell command in the arguments of a call and the directory it names; `None` when the
    /// tool takes no shell commands.
    pub(crate) fn command_in<'c>(
        &self,
        call: &'c Admitted,
    ) -> Option<Result<(Cow<'c, str>, Option<&'c str>), NoCommand>> {
        let place = self.tools.get(&call.tool().name)?;
        let arguments = call.arguments();
        let cwd = place.cwd.as_ref().and_then(|pointer| arguments.pointer(pointer)?.as_str());
        let command = arguments.pointer(&place.command).and_then(command_line);
        let missing = || NoCommand { pointer: place.command.clone() };
        Some(command.map(|command| (command, cwd)).ok_or_else(missing))
    }
}

/// What in the command is blocked, in one sentence; `None` when nothing is.
///
/// Judged on the parsed command: every place where a program starts, at any depth.
#[must_use]
pub fn find_blocked_command(command: &str, list: &Blocklist) -> Option<String> {
    let script = match Script::parse(command) {
        Ok(script) => script,
        Err(error) => return Some(error.to_string()),
    };
    constructs(&script, list).or_else(|| {
        script.commands().iter().find_map(|shell| {
            nameless(shell)
                .or_else(|| names::blocked(shell, list))
                .or_else(|| builtins::blocked(shell, list))
                .or_else(|| devices::blocked(shell))
                .or_else(|| deletion::blocked(shell, &script, &list.place, command))
        })
    })
}

/// The arguments of a tool that takes shell commands hold none.
pub(crate) struct NoCommand {
    pub(crate) pointer: String,
}

/// The command as a shell would read it: a text, or a list of words.
fn command_line(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(words) => {
            let words: Option<Vec<String>> =
                words.iter().map(|word| Some(quoted(word.as_str()?))).collect();
            words.map(|words| Cow::Owned(words.join(" ")))
        }
        _ => None,
    }
}

/// A word that the shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What is refused wherever it stands.
fn constructs(script: &Script, list: &Blocklist) -> Option<String> {
    if list.substitution == Substitution::Refuse {
        if script.substitutions() > 0 {
            return Some("command substitution (`$(…)` or backquotes) is refused".to_owned());
        }
        if script.process_substitutions() > 0 {
            return Some("process substitution (`<(…)` or `>(…)`) is refused".to_owned());
        }
    }
    if script.here_strings() > 0 {
        return Some("here-strings (`<<<`) are refused".to_owned());
    }
    if let Some(at) = script.unread().first() {
        let wrapper = script.commands().get(*at).and_then(Command::program).unwrap_or_default();
        return Some(format!("what `{wrapper}` would run cannot be read from the command"));
    }
    script.functions().iter().find_map(|function| {
        let name = function.name.as_str();
        if builtins::INTERPRETED.contains(&name) {
            return Some(format!("the function `{name}` would hide the command of that name"));
        }
        // A function that calls itself, also by way of others, may be a fork bomb.
        let mut reached = vec![name];
        let mut next = 0;
        while let Some(current) = reached.get(next).copied() {
            next += 1;
            let bodies = script.functions().iter().filter(|f| f.name == current);
            for body in bodies.map(|f| f.body.clone()) {
                for called in script.commands().get(body).unwrap_or_default() {
                    let Some(called) = called.name.as_ref().and_then(Word::literal) else {
                        continue;
                    };
                    if called == name {
                        return Some(format!("the function `{name}` calls itself"));
                    }
                    if !reached.contains(&called)
                        && script.functions().iter().any(|f| f.name == called)
                    {
                        reached.push(called);
                    }
                }
            }
        }
        None
    })
}

/// A command whose name is only known when it runs.
fn nameless(command: &Command) -> Option<String> {
    let name = command.name.as_ref().filter(|_| command.is_dynamic())?;
    Some(format!("the command name `{}` is only known when it runs", shown(&name.text)))
}

/// A piece of a command, short enough for a sentence.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
