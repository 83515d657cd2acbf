//! Programs that may not run.

use counterfoil_shell::{Command, Word};

use super::{Blocklist, Refusal, RefusalKind, shown};

/// Blocked by name, whatever their arguments. Configuration adds to them and removes none.
const PROGRAMS: &[&str] = &[
    // Another user's rights.
    "sudo",
    "sudoedit",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "gosu",
    "su-exec",
    "run0",
    // The machine.
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "telinit",
    "mke2fs",
    "mkswap",
    "wipefs",
    "blkdiscard",
];

/// Bare connections.
const CONNECTS: &[&str] = &["nc", "ncat", "netcat", "nc.openbsd", "nc.traditional"];

/// Blocked while the network is off.
const NETWORK: &[&str] = &["curl", "wget", "socat", "telnet", "ftp", "aria2c", "lynx"];

pub(super) fn blocked(command: &Command, list: &Blocklist) -> Option<Refusal> {
    let program = command.program()?.to_lowercase();
    let name = program.as_str();
    let network = |message| Refusal { kind: RefusalKind::Network, message };
    if CONNECTS.contains(&name) && list.network && only_probes(&command.args) {
        return None;
    }
    let is_blocked = PROGRAMS.contains(&name)
        || CONNECTS.contains(&name)
        || name == "mkfs"
        || name.starts_with("mkfs.")
        || name.starts_with("newfs")
        || is_loader(name)
        || stops_the_machine(name, &command.args);
    if is_blocked {
        return Some(Refusal::floor(format!("`{}` is a blocked command", shown(&program))));
    }
    if !list.network && NETWORK.contains(&name) {
        return Some(network(format!("`{name}` is blocked while the network is off")));
    }
    list.blocked.iter().find(|words| matches(words, name, &command.args)).map(|words| Refusal {
        kind: RefusalKind::Configured,
        message: format!("`{}` is a blocked command", words.join(" ")),
    })
}

/// `nc -z localhost 5432`: it asks whether somebody listens, and sends nothing.
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

/// The dynamic loader runs any program under another name.
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

/// The program by its pattern, and the other words in their order among the arguments.
fn matches(words: &[String], name: &str, args: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let mut args = args.iter();
    like(program, name)
        && rest
            .iter()
            .all(|word| args.any(|arg| arg.literal().is_none() || arg.text.to_lowercase() == *word))
}

/// `*` stands for any characters.
fn like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part).and_then(|at| rest.get(at + part.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    match last {
        None => rest.is_empty(),
        Some(last) => rest.is_empty() || last.is_empty() || name.ends_with(last),
    }
}
