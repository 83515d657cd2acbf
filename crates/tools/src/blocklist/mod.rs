use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use counterfoil_ledger::TrustLevel;
use counterfoil_sandbox::Globs;
use counterfoil_shell::{Command, takes_powershell};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod builtins;
mod deletion;
mod devices;
mod irreversible;
mod judge;
mod names;
mod options;
mod place;
mod refusal;
mod temporary;
mod text;
mod values;
mod wildcards;
mod worked_out;

pub use judge::{find_blocked_command, judge_command};
use place::Place;
pub(crate) use place::tidy;
use text::{command_line, of_powershell};
pub use values::{Site, values_of};

use crate::pattern::Pattern;
use crate::scene::Scene;
use crate::secret_places::is_secret;
use crate::spelling::exact_form;
use crate::wanted::Wanted;

pub use options::{BlocklistOptions, BlocklistOptionsError};
pub use refusal::{Refusal, RefusalKind};

/// What no shell command may do, no matter who asks and who approves.
///
/// The floor cannot be configured away: the blocked commands, the guard of `rm`, command names
/// known only at run time, and everything that cannot be parsed.
#[derive(Debug, Clone)]
pub struct Blocklist {
    /// Blocked commands: a program and the words that must follow it, in lower case.
    blocked: Arc<[Vec<String>]>,
    /// Commands that only the user may run, in the same form.
    reserved: Arc<[Vec<String>]>,
    /// Files that `source` may read.
    sources: Globs,
    substitution: Substitution,
    network: bool,
    tools: Arc<BTreeMap<String, CommandArgument>>,
    unread: Unread,
    asks_irreversible: bool,
    place: Place,
    /// Commands for which the user waived approval.
    allowed: Arc<[Pattern]>,
    /// The nesting depth of the command being judged.
    layers: usize,
}

/// What happens to a command that cannot be analysed before it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unread {
    /// It is denied.
    #[default]
    Deny,
    /// A person is asked.
    Ask,
}

/// Where the arguments of a tool contain a shell command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandArgument {
    /// JSON Pointer to the command, which is a string or a list of words.
    pub command: String,
    /// JSON Pointer to the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// How `$(…)`, backquotes, `<(…)` and `>(…)` are handled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Substitution {
    /// Hooks analyse them; everything else refuses them.
    #[default]
    Auto,
    /// They are refused.
    Refuse,
    /// The commands in them are judged like all others. In a turn with untrusted content they are
    /// refused anyway.
    Analyse,
}

impl Blocklist {
    /// The blocklist for commands that start in `directory` of the project at `root`. Relative
    /// directories are relative to the root.
    #[must_use]
    pub fn at(&self, root: &Path, home: Option<&str>, directory: Option<&str>) -> Self {
        let place = Place::new(root, home, directory).keeping(self.place.kept());
        Self { place, ..self.clone() }
    }

    /// The blocklist for the scene of one call.
    #[must_use]
    pub fn in_scene(&self, scene: &Scene<'_>, directory: Option<&str>) -> Self {
        let home = scene.environment.get("HOME").map(String::as_str);
        let mut list = self.at(scene.workspace, home, directory);
        if scene.trust == TrustLevel::Untrusted {
            list.substitution = Substitution::Refuse;
        }
        list
    }

    /// Adds the user's own allowances: commands that match one of these patterns need no approval.
    /// What is denied stays denied.
    #[must_use]
    pub fn allowing(mut self, patterns: Vec<Pattern>) -> Self {
        self.allowed = patterns.into();
        self
    }

    /// The same where secrets also lie in these folders, which only the configuration names: the
    /// state, for one.
    #[must_use]
    pub fn and_secret_folders(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let own = self.place.kept();
        let more = folders.into_iter().map(|folder| tidy(&folder.to_string_lossy()));
        let kept: Vec<String> = own.iter().cloned().chain(more).collect();
        self.place = self.place.keeping(kept.into());
        self
    }

    /// Whether the user has allowed this command, exactly as it is written.
    fn allows(&self, command: &Command) -> bool {
        !self.allowed.is_empty()
            && exact_form(command)
                .is_some_and(|text| self.allowed.iter().any(|pattern| pattern.is_match(&text)))
    }

    /// What happens to a command that cannot be analysed before it runs.
    #[must_use]
    pub fn unread(&self) -> Unread {
        self.unread
    }

    /// Whether a tool of this name takes shell commands.
    #[must_use]
    pub fn takes_commands(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// The shell command in the arguments of a tool that takes one. PowerShell is written as the
    /// shell commands that do the same.
    #[must_use]
    pub fn command_at<'a>(&self, tool: &str, arguments: &'a Value) -> Option<Cow<'a, str>> {
        let command = arguments.pointer(&self.tools.get(tool)?.command).and_then(command_line)?;
        match takes_powershell(tool) {
            true => Some(Cow::Owned(of_powershell(&command))),
            false => Some(command),
        }
    }

    /// The shell command in the arguments of a call, and the directory it names; `None` if the tool
    /// takes no shell commands.
    pub fn command_in<'c>(
        &self,
        call: Wanted<'c>,
    ) -> Option<Result<(Cow<'c, str>, Option<&'c str>), NoCommand>> {
        let place = self.tools.get(call.tool)?;
        let arguments = call.arguments;
        let cwd = place.cwd.as_ref().and_then(|pointer| arguments.pointer(pointer)?.as_str());
        let command = self.command_at(call.tool, arguments);
        let missing = || NoCommand { pointer: place.command.clone() };
        Some(command.map(|command| (command, cwd)).ok_or_else(missing))
    }

    /// The place of secrets that an argument of a call names. Only if irreversible commands need
    /// approval.
    #[must_use]
    pub fn secret_place<'a>(&self, arguments: &'a Value) -> Option<&'a str> {
        let texts = arguments.as_object().into_iter().flat_map(|members| members.values());
        let mut texts = texts.filter_map(Value::as_str).filter(|_| self.asks_irreversible);
        texts.find(|text| is_secret(text) || self.place.is_kept(text, Some("")))
    }
}

/// The arguments of a tool that takes shell commands hold none.
#[derive(Debug)]
pub struct NoCommand {
    /// The JSON Pointer to where it should be.
    pub pointer: String,
}
