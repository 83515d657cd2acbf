use std::sync::Arc;

use counterfoil_shell::{Command, Script, Word};

use super::place::Place;
use super::refusal::{Refusal, RefusalKind};
use super::text::{quoted, shown};
use super::values::{Site, values_of};
use super::{
    Blocklist, Substitution, Unread, builtins, deletion, devices, irreversible, names, worked_out,
};

/// The maximum nesting depth of commands.
const LAYERS: usize = 8;

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
        return judge_command(command, &list).filter(|refusal| !refusal.kind.is_approvable());
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
            worked_out::line(shell)
                .and_then(|line| judge_inner(&line, list, &list.place))
                .filter(|refusal| refusal.kind != RefusalKind::Unread),
        ];
        let remains = |refusal: &Refusal| !(refusal.kind.is_approvable() && list.allows(shell));
        reasons.into_iter().flatten().filter(remains)
    });
    let mut approvable: Option<Refusal> = None;
    for refusal in constructs(&script, list).into_iter().chain(of_commands) {
        if !refusal.kind.is_approvable() {
            return Some(refusal);
        }
        approvable = approvable.filter(|known| known.kind <= refusal.kind).or(Some(refusal));
    }
    let beyond = match list.asks_irreversible {
        true => irreversible::needing_approval(&script, command, list),
        // The sandbox confines everything else about the command.
        false => irreversible::attributes(&script, command, list),
    };
    beyond.or(approvable)
}

/// Judges a command that another one runs, in this place.
pub(super) fn judge_inner(command: &str, list: &Blocklist, place: &Place) -> Option<Refusal> {
    if list.layers >= LAYERS {
        return Some(Refusal::unread("the commands are nested too deeply to be analysed"));
    }
    let inner = Blocklist { place: place.clone(), layers: list.layers + 1, ..list.clone() };
    judge_command(command, &inner)
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
    // A `trap` with an acceptable script.
    let cleans_up = |wrapper: &Command| {
        builtins::clean_up(wrapper, script)
            .is_some_and(|inner| judge_inner(&inner, list, &list.place).is_none())
    };
    let known = |wrapper: &&Command| {
        list.substitution == Substitution::Analyse
            && (builtins::sets_up_a_tool(wrapper) || cleans_up(wrapper))
            || list.allows(wrapper)
            || list.unread == Unread::Ask && irreversible::is_installer(script, wrapper)
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
        None => values_of(name, site, true),
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
