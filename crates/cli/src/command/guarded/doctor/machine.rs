//! Checks of the kernel and the installed programs.

use std::fs;
use std::process::{Command, Stdio};

use counterfoil_sandbox::Abilities;

use super::check::Check;
use crate::guard::{CONFINE, NAMESPACE};

pub(super) fn checks(abilities: &Abilities) -> Vec<Check> {
    let mut checks = vec![kernel(), landlock(abilities), seccomp(abilities)];
    checks.push(user_namespaces());
    checks.push(bubblewrap(abilities));
    checks.push(user());
    checks
}

fn kernel() -> Check {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    match release.trim() {
        "" => Check::fail(
            "kernel",
            "not Linux, or /proc is missing",
            "shell commands run on Linux only",
        ),
        release => Check::ok("kernel", format!("Linux {release}")),
    }
}

fn landlock(abilities: &Abilities) -> Check {
    const NAME: &str = "Landlock";
    let version = abilities.landlock;
    let old = |lacks: &str| {
        Check::note(
            NAME,
            format!("version {version}: {lacks}"),
            "a newer kernel may restrict these too",
        )
    };
    match version {
        0 => {
            let why = abilities.gaps.first().map_or("not available", |gap| gap.text.as_str());
            let help = "use kernel 6.2 or later, with `landlock` in `lsm=` on its command line";
            Check::fail(NAME, why, help)
        }
        1 | 2 => Check::fail(
            NAME,
            format!("Landlock version {version} cannot stop a command from truncating files"),
            "use kernel 6.2 or later",
        ),
        3 => old("restricts files, but not TCP (seccomp does) or signals"),
        4 | 5 => old("restricts files and TCP, but not signals to other processes of the user"),
        _ => Check::ok(NAME, format!("version {version}: restricts files, TCP and signals")),
    }
}

fn seccomp(abilities: &Abilities) -> Check {
    const NAME: &str = "seccomp";
    if abilities.seccomp {
        Check::ok(
            NAME,
            "restricts sockets, other processes, mounts, namespaces and kernel interfaces",
        )
    } else {
        let help = "use a kernel with CONFIG_SECCOMP_FILTER, on x86-64, 64-bit ARM or RISC-V";
        Check::fail(
            NAME,
            "system calls cannot be filtered, so network access cannot be blocked",
            help,
        )
    }
}

/// Tries to make a user namespace, in a separate process.
fn user_namespaces() -> Check {
    const NAME: &str = "user namespaces";
    let tried = Command::new("/proc/self/exe")
        .args([CONFINE, NAMESPACE])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match tried {
        Ok(status) if status.success() => Check::ok(NAME, "available"),
        _ => Check::note(
            NAME,
            "not available",
            "only bubblewrap without root needs user namespaces; Landlock and seccomp do not",
        ),
    }
}

fn bubblewrap(abilities: &Abilities) -> Check {
    const NAME: &str = "bubblewrap";
    let without = "without it, commands can read denied files inside the workspace and change the \
        permissions of files they own outside it, and a process that leaves its process group \
        keeps running";
    match (&abilities.bubblewrap, &abilities.bubblewrap_fails) {
        (Some(program), _) => Check::ok(NAME, format!("{} works", program.display())),
        (None, Some(why)) => Check::note(NAME, format!("does not work here: {why}"), without),
        (None, None) => Check::note(NAME, "not found", &format!("install `bubblewrap`: {without}")),
    }
}

fn user() -> Check {
    const NAME: &str = "user";
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    match ids.and_then(|ids| ids.split_whitespace().nth(1)) {
        Some("0") => Check::note(
            NAME,
            "root: commands run as the owner of the workspace; if that is root, they run as root \
             without capabilities and without a limit on the number of processes",
            "run as another user, or set `run_as` in [tools.sandbox]",
        ),
        Some(id) => Check::ok(NAME, format!("{id}, not root")),
        None => Check::note(NAME, "unknown", "/proc is missing"),
    }
}
