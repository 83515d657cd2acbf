//! Programs that may not run.

use counterfoil_shell::{Command, Script, Word};

use super::refusal::{Refusal, RefusalKind};
use super::text::shown;
use super::wildcards::like;
use super::{Blocklist, Unread};

/// Programs that run others with another user's rights.
const RIGHTS: &[&str] =
    &["sudo", "sudoedit", "su", "doas", "pkexec", "runuser", "gosu", "su-exec", "run0"];

/// Blocked by name, whatever the arguments. Configuration can add to them, not remove any.
const PROGRAMS: &[&str] = &["shutdown", "reboot", "halt", "poweroff", "telinit"];

/// Programs that create a file system or wipe a device. On a file they are ordinary writes.
const DISKS: &[&str] = &["mkfs", "mkfs.*", "newfs*", "mke2fs", "mkswap", "wipefs", "blkdiscard"];

/// Programs that open raw connections.
const CONNECTS: &[&str] = &["nc", "ncat", "netcat", "nc.openbsd", "nc.traditional"];

/// Blocked while the network is off.
const NETWORK: &[&str] = &["curl", "wget", "socat", "telnet", "ftp", "aria2c", "lynx"];

pub(super) fn blocked(command: &Command, script: &Script, list: &Blocklist) -> Option<Refusal> {
    let program = command.program()?.to_lowercase();
    let name = program.as_str();
    let network = |message| Refusal { kind: RefusalKind::Network, message };
    if CONNECTS.contains(&name) && list.network && only_probes(&command.args) {
        return None;
    }
    let is_blocked = PROGRAMS.contains(&name)
        || CONNECTS.contains(&name)
        || DISKS.iter().any(|disk| like(disk, name)) && !is_of_image(command, list)
        || is_loader(name)
        || stops_the_machine(name, &command.args);
    if is_blocked {
        return Some(Refusal::floor(format!("`{}` is a blocked command", shown(&program))));
    }
    if !list.network && NETWORK.contains(&name) {
        return Some(network(format!("`{name}` is blocked because network access is off")));
    }
    let fed = is_fed(command, script);
    let stopped = |commands: &[Vec<String>]| {
        commands.iter().any(|words| {
            matches(words, name, &command.args) || fed && may_become(words, name, &command.args)
        })
    };
    let listed =
        [(&list.blocked, RefusalKind::Configured), (&list.reserved, RefusalKind::Reserved)];
    if let Some((_, kind)) = listed.into_iter().find(|(commands, _)| stopped(commands)) {
        let typed = command.args.iter().map(|word| word.text.as_str());
        let typed = [name].into_iter().chain(typed).collect::<Vec<_>>().join(" ");
        let message = format!("`{}` is a blocked command", shown(&typed));
        return Some(Refusal { kind, message });
    }
    let message = match list.unread {
        Unread::Ask => format!("`{name}` runs with another user's privileges"),
        Unread::Deny => format!("`{name}` is a blocked command"),
    };
    RIGHTS.contains(&name).then_some(Refusal { kind: RefusalKind::Elevated, message })
}

/// Whether every operand is a file of the project, or an option value that is not a path:
/// `mkfs.ext4 test.img`.
fn is_of_image(command: &Command, list: &Blocklist) -> bool {
    let directory = command.directory.as_deref();
    let operands = || command.args.iter().filter(|word| !word.text.starts_with('-'));
    operands().next_back().is_some_and(|word| word.text.contains('.'))
        && operands().all(|word| list.place.is_own(word, directory))
}

/// Whether `nc` only checks for a listener and sends nothing: `nc -z localhost 5432`.
fn only_probes(args: &[Word]) -> bool {
    let mut probes = false;
    for word in args {
        let Some(text) = word.literal() else { return false };
        let Some(flags) = text.strip_prefix('-') else { continue };
        if flags.chars().any(|c| !matches!(c, 'z' | 'v' | 'w' | '4' | '6' | 'n' | '0'..='9')) {
            return false;
        }
        probes |= flags.contains('z');
    }
    probes
}

/// Whether the program is a dynamic loader, which can run any other program.
fn is_loader(name: &str) -> bool {
    name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so"
}

fn stops_the_machine(name: &str, args: &[Word]) -> bool {
    let any = |words: &[&str]| args.iter().any(|arg| words.contains(&arg.text.as_str()));
    match name {
        "init" => any(&["0", "6", "s", "S", "1"]),
        "systemctl" | "loginctl" => any(&[
            "poweroff",
            "reboot",
            "halt",
            "kexec",
            "suspend",
            "hibernate",
            "rescue",
            "emergency",
        ]),
        _ => false,
    }
}

/// Whether the program matches its pattern, and the other words occur in order among the arguments.
fn matches(words: &[String], name: &str, args: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let mut args = args.iter();
    like(program, name)
        && rest
            .iter()
            .all(|word| args.any(|arg| arg.literal().is_none() || arg.text.to_lowercase() == *word))
}

/// Whether words from elsewhere are appended to those of a command: `… | xargs git`.
pub(super) fn is_fed(command: &Command, script: &Script) -> bool {
    let by = command.wrapped_by.and_then(|at| script.commands().get(at));
    by.and_then(Command::program).is_some_and(|by| matches!(by, "xargs" | "parallel"))
}

/// Whether appended words could make the command a blocked one: its operands are the first words of
/// the blocked command.
fn may_become(words: &[String], name: &str, args: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let mut is_value = false;
    let operands = args.iter().filter(|arg| {
        let is_option = arg.text.starts_with('-');
        let follows = std::mem::replace(&mut is_value, is_option && !arg.text.contains('='));
        !is_option && !follows
    });
    like(program, name)
        && operands.zip(rest.iter().map(Some).chain(std::iter::repeat(None))).all(
            |(operand, word)| {
                operand.literal().is_none()
                    || word.is_some_and(|word| operand.text.to_lowercase() == *word)
            },
        )
}
