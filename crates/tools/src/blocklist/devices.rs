//! Raw devices and the shell's own network connections.

use counterfoil_shell::{Command, Direction, Target, Word};

use super::text::shown;

/// Entries of `/dev` that may be written to.
const HARMLESS: &[&str] =
    &["null", "zero", "full", "stdin", "stdout", "stderr", "tty", "random", "urandom", "ptmx"];

/// Programs that write to their arguments.
const WRITERS: &[&str] = &[
    "tee",
    "cp",
    "mv",
    "install",
    "shred",
    "truncate",
    "sgdisk",
    "sfdisk",
    "fdisk",
    "parted",
    "gdisk",
    "cryptsetup",
];

pub(super) fn blocked(command: &Command, network: bool) -> Option<String> {
    for redirect in &command.redirects {
        let Target::File(word) = &redirect.target else { continue };
        let connects =
            ["/dev/tcp/", "/dev/udp/"].iter().find_map(|dev| word.text.strip_prefix(dev));
        if connects.is_some_and(|to| !(network && only_asks(command, to))) {
            return Some(format!("`{}` opens a network connection", shown(&word.text)));
        }
        let writes = matches!(
            redirect.direction,
            Direction::Write | Direction::Append | Direction::ReadWrite | Direction::Duplicate
        );
        if connects.is_none() && writes && is_device(word) {
            return Some(format!("writing to the device `{}` is blocked", shown(&word.text)));
        }
    }
    let program = command.program()?;
    if program == "dd" {
        return command.args.iter().find_map(|word| {
            let text = word.text.strip_prefix("of=")?;
            let target = Word { text: text.to_owned(), kind: word.kind };
            let unknown = word.literal().is_none();
            (unknown || is_device(&target)).then(|| format!("`dd` to `{}` is blocked", shown(text)))
        });
    }
    if WRITERS.contains(&program) {
        let last_only = matches!(program, "cp" | "install");
        let words = command.args.iter().rev().take(if last_only { 1 } else { usize::MAX });
        return words
            .into_iter()
            .find(|word| is_device(word))
            .map(|word| format!("`{program}` on the device `{}` is blocked", shown(&word.text)));
    }
    None
}

/// Whether the command only checks for a listener on this machine: `</dev/tcp/localhost/5432`.
fn only_asks(command: &Command, to: &str) -> bool {
    let host = to.split('/').next().unwrap_or_default();
    matches!(host, "localhost" | "127.0.0.1" | "::1")
        && matches!(command.program(), None | Some("echo" | ":" | "true" | "exec" | "cat"))
        && !command.is_dynamic()
}

fn is_device(word: &Word) -> bool {
    let text = word.text.as_str();
    let mut parts = text.split('/').filter(|part| !part.is_empty() && *part != ".");
    if !text.starts_with('/') || parts.next() != Some("dev") {
        return false;
    }
    match parts.next() {
        None => false,
        Some("fd" | "pts" | "shm" | "mqueue") => false,
        Some(name) => !HARMLESS.contains(&name),
    }
}
