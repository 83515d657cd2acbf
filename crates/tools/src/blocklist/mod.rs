use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use counterfoil_ledger::TrustLevel;
use counterfoil_sandbox::Globs;
use counterfoil_shell::{Command, Script, Word, powershell_as_shell, takes_powershell};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod builtins;
mod deletion;
mod devices;
mod irreversible;
mod names;
mod options;
mod refusal;
mod temporary;
mod values;
mod worked_out;

use deletion::Place;
pub(crate) use deletion::tidy;
pub use values::{Site, values_of};

use crate::pattern::Pattern;
use crate::scene::Scene;
use crate::secret_places::is_secret;
use crate::spelling::exact_form;
use crate::wanted::Wanted;

pub use options::{BlocklistOptions, BlocklistOptionsError, CommandArgument, Unread};
pub use refusal::{Refusal, RefusalKind};

/// What no shell command may do, whoever asks and whoever approves.
///
/// The floor cannot be configured away: the blocked commands, the guard of `rm`, command names
/// known only at run time, and everything that cannot be parsed.
#[derive(Debug, Clone)]
pub struct Blocklist {
    /// Blocked commands: a program and the words that must follow it, in lower case.
    blocked: Arc<[Vec<String>]>,
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

/// The maximum nesting depth of commands.
const LAYERS: usize = 8;

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

impl Default for Blocklist {
    /// The floor: nothing added, substitutions refused, no network.
    fn default() -> Self {
        let fallback = Self {
            blocked: Arc::default(),
            sources: Globs::default(),
            substitution: Substitution::Refuse,
            network: false,
            tools: Arc::default(),
            unread: Unread::Deny,
            asks_irreversible: false,
            place: Place::default(),
            allowed: Arc::default(),
            layers: 0,
        };
        BlocklistOptions::default().resolve().unwrap_or(fallback)
    }
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

    /// Whether the user has allowed this command, as it stands there.
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
}

/// What is blocked in the command, in one sentence; `None` if nothing is.
///
/// Judges the parsed command: every position where a program starts, at any depth.
#[must_use]
pub fn find_blocked_command(command: &str, list: &Blocklist) -> Option<String> {
    judge_command(command, list).map(|refusal| refusal.message)
}

/// Why the command is refused; `None` if it is not. A denial takes precedence over a question.
#[must_use]
pub fn judge_command(command: &str, list: &Blocklist) -> Option<Refusal> {
    if list.allowed.iter().any(|pattern| pattern.is_exactly(command)) {
        let list = Blocklist { allowed: Arc::default(), ..list.clone() };
        return judge_command(command, &list).filter(|refusal| !refusal.kind.is_asked());
    }
    let script = match Script::parse(command) {
        Ok(script) => script,
        Err(error) => return Some(Refusal::unread(error.to_string())),
    };
    let of_commands = script.commands().iter().enumerate().flat_map(|(at, shell)| {
        let reasons = [
            nameless(shell, &Site { script: &script, text: command, at, working: None }, list),
            names::blocked(shell, &script, list),
            builtins::blocked(shell, list),
            devices::blocked(shell, list.network).map(Refusal::floor),
            deletion::blocked(shell, at, &script, &list.place, command),
            worked_out::blocked(shell, list),
        ];
        let asked = |refusal: &Refusal| !(refusal.kind.is_asked() && list.allows(shell));
        reasons.into_iter().flatten().filter(asked)
    });
    let mut asked: Option<Refusal> = None;
    for refusal in constructs(&script, list).into_iter().chain(of_commands) {
        if !refusal.kind.is_asked() {
            return Some(refusal);
        }
        asked = asked.filter(|known| known.kind <= refusal.kind).or(Some(refusal));
    }
    let beyond = match list.asks_irreversible {
        true => irreversible::asked(&script, command, list),
        // The sandbox confines everything else about the command.
        false => irreversible::attributes(&script, command, list),
    };
    beyond.or(asked)
}

/// Judges a command that another one runs, in this place.
fn judge_inner(command: &str, list: &Blocklist, place: &Place) -> Option<Refusal> {
    if list.layers >= LAYERS {
        return Some(Refusal::unread("the commands are nested too deeply to be analysed"));
    }
    let inner = Blocklist { place: place.clone(), layers: list.layers + 1, ..list.clone() };
    judge_command(command, &inner)
}

impl Blocklist {
    /// The place of secrets that an argument of a call names. Only if irreversible commands need
    /// approval.
    #[must_use]
    pub fn secret_place<'a>(&self, arguments: &'a Value) -> Option<&'a str> {
        let texts = arguments.as_object().into_iter().flat_map(|members| members.values());
        let mut texts = texts.filter_map(Value::as_str).filter(|_| self.asks_irreversible);
        texts.find(|text| is_secret(text) || self.place.is_kept(text, Some("")))
    }
}

/// PowerShell as a shell script. What cannot be read becomes a text that is no script: its words are
/// there, and nothing is known of them.
fn of_powershell(text: &str) -> String {
    powershell_as_shell(text)
        .unwrap_or_else(|_| format!("{text}\n) # PowerShell that cannot be read"))
}

/// The arguments of a tool that takes shell commands hold none.
#[derive(Debug)]
pub struct NoCommand {
    /// The JSON Pointer to where it should be.
    pub pointer: String,
}

/// The command as a shell would read it: from a text, or from a list of words.
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

/// A word quoted so that the shell takes it literally.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Constructs that are refused anywhere.
fn constructs(script: &Script, list: &Blocklist) -> Option<Refusal> {
    if let Some(bomb) = calls_itself(script) {
        return Some(bomb);
    }
    if list.substitution == Substitution::Refuse {
        let refused = [
            (script.substitutions(), "command substitution (`$(…)` or backquotes) is refused"),
            (script.process_substitutions(), "process substitution (`<(…)` or `>(…)`) is refused"),
            (script.here_strings(), "here-strings (`<<<`) are refused"),
        ];
        if let Some((_, why)) = refused.into_iter().find(|(count, _)| *count > 0) {
            return Some(Refusal::unread(why));
        }
    }
    let mut unread = script.unread().iter().filter_map(|at| script.commands().get(*at));
    let known = |wrapper: &&Command| {
        list.substitution == Substitution::Analyse && builtins::sets_up_a_tool(wrapper)
            || list.allows(wrapper)
            || list.unread == Unread::Ask && irreversible::is_installer(script, wrapper)
            || builtins::cleans_up(wrapper, script, list)
    };
    if let Some(wrapper) = unread.find(|wrapper| !known(wrapper)) {
        let wrapper = wrapper.program().unwrap_or_default();
        let why = format!("the command that `{wrapper}` would run cannot be determined");
        return Some(Refusal::unread(why));
    }
    let hides = |name: &&str| builtins::INTERPRETED.contains(name);
    let name = script.functions().iter().map(|function| function.name.as_str()).find(hides)?;
    let why = format!("the function `{name}` would hide the command of the same name");
    Some(Refusal::unread(why))
}

/// Refuses functions that call themselves, even indirectly: such a function may be a fork bomb.
fn calls_itself(script: &Script) -> Option<Refusal> {
    script.functions().iter().find_map(|function| {
        let name = function.name.as_str();
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
                        return Some(Refusal::floor(format!("the function `{name}` calls itself")));
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

/// Judges a command whose name is known only at run time. If the script sets the name, or at least
/// its last part (`$HOME/.local/bin/uv`), that is judged.
fn nameless(command: &Command, site: &Site<'_>, list: &Blocklist) -> Option<Refusal> {
    let name = command.name.as_ref().filter(|_| command.is_dynamic())?;
    let unknown = || {
        let why = format!("the command name `{}` is only known at run time", shown(&name.text));
        Some(Refusal::unread(why))
    };
    if list.substitution == Substitution::Refuse {
        return unknown();
    }
    let base = name.text.rsplit_once('/').map(|(_, base)| base);
    let plain = |base: &&str| {
        base.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c)) && !base.is_empty()
    };
    let words = match base.filter(plain) {
        Some(base) => Some(vec![Word::fixed(base)]),
        None => values::values_of(name, site, true),
    };
    let Some(words) = words else { return unknown() };
    words.iter().filter(|word| !word.text.is_empty()).find_map(|word| {
        let Some(name) = word.literal() else { return unknown() };
        let arguments = command.args.iter().map(|word| match word.literal() {
            Some(text) => quoted(text),
            // An unknown word, which a wrapper might run.
            None => "\"$1\"".to_owned(),
        });
        let line: Vec<String> = std::iter::once(quoted(name)).chain(arguments).collect();
        judge_command(&line.join(" "), list)
    })
}

/// A command shortened to fit in a sentence.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
