use std::fmt::Write as _;

use super::room::{Room, has};

/// System calls with their numbers on x86-64 and on 64-bit ARM, and with arguments that would
/// succeed or fail in another way if the call were not refused.
const CALLS: &[(&str, i64, i64, &str)] = &[
    ("ptrace", 101, 117, "0, 0, 0, 0"),
    ("mount", 165, 40, "0, 0, 0, 0, 0"),
    ("umount2", 166, 39, "0, 0"),
    ("unshare", 272, 97, "0x10000000"),
    ("setns", 308, 268, "-1, 0"),
    ("pivot_root", 155, 41, "0, 0"),
    ("chroot", 161, 51, "0"),
    ("open_tree", 428, 428, "-100, 0, 0"),
    ("move_mount", 429, 429, "-1, 0, -1, 0, 0"),
    ("fsopen", 430, 430, "0, 0"),
    ("fsmount", 432, 432, "-1, 0, 0"),
    ("mount_setattr", 442, 442, "-1, 0, 0, 0, 0"),
    ("keyctl", 250, 219, "0, -3, 0"),
    ("add_key", 248, 217, "0, 0, 0, 0, 0"),
    ("request_key", 249, 218, "0, 0, 0, 0"),
    ("bpf", 321, 280, "0, 0, 0"),
    ("perf_event_open", 298, 241, "0, 0, -1, -1, 0"),
    ("userfaultfd", 323, 282, "1"),
    ("kexec_load", 246, 104, "0, 0, 0, 0"),
    ("init_module", 175, 105, "0, 0, 0"),
    ("finit_module", 313, 273, "-1, 0, 0"),
    ("delete_module", 176, 106, "0, 0"),
    ("process_vm_readv", 310, 270, "1, 0, 0, 0, 0, 0"),
    ("process_vm_writev", 311, 271, "1, 0, 0, 0, 0, 0"),
    ("pidfd_getfd", 438, 438, "-1, 0, 0"),
    ("kcmp", 312, 272, "1, 1, 0, 0, 0"),
    ("open_by_handle_at", 304, 265, "-1, 0, 0"),
    ("io_uring_setup", 425, 425, "1, 0"),
    ("io_uring_enter", 426, 426, "-1, 0, 0, 0, 0, 0"),
    ("clone3", 435, 435, "0, 0"),
    ("clone with a user namespace", 56, 220, "0x10000011, 0, 0, 0, 0"),
    ("clone with a network namespace", 56, 220, "0x40000011, 0, 0, 0, 0"),
    ("clone with a mount namespace", 56, 220, "0x00020011, 0, 0, 0, 0"),
    ("reboot", 169, 142, "0, 0, 0, 0"),
    ("swapon", 167, 224, "0, 0"),
    ("acct", 163, 89, "0"),
    ("settimeofday", 164, 170, "0, 0"),
    ("sethostname", 170, 161, "0, 0"),
    ("syslog", 103, 116, "3, 0, 0"),
    ("quotactl", 179, 60, "0, 0, 0, 0"),
    ("fanotify_init", 300, 262, "0, 0"),
    ("limits of another process", 302, 261, "1, 7, 0, 0"),
    ("set-user-id by fchmod", 91, 52, "0, 2541"),
    ("set-group-id by fchmod", 91, 52, "0, 1517"),
    ("set-user-id by fchmodat", 268, 53, "-100, 0, 2541"),
    ("set-user-id by fchmodat2", 452, 452, "-100, 0, 2541, 0"),
    ("set-user-id by openat", 257, 56, "-100, 0, 65, 2541"),
    ("set-group-id by mkdirat", 258, 34, "-100, 0, 1517"),
    ("set-user-id by mknodat", 259, 33, "-100, 0, 35309, 0"),
    ("openat2", 437, 437, "-100, 0, 0, 24"),
    ("typing into a terminal", 16, 29, "0, 0x5412, 0"),
    ("pasting into a terminal", 16, 29, "0, 0x541c, 0"),
    ("ptrace with 32-bit pointers", 0x4000_0000 | 521, -1, "0, 0, 0, 0"),
    ("unshare with 32-bit pointers", 0x4000_0000 | 272, -1, "0x10000000"),
];

#[test]
fn system_calls_that_no_command_needs_are_refused() {
    let room = Room::new();
    if !has("perl", "system calls") {
        return;
    }
    let column = match std::env::consts::ARCH {
        "x86_64" => 0,
        "aarch64" => 1,
        other => {
            println!(
                "not checked: system calls, because their numbers on {other} are not known here"
            );
            return;
        }
    };
    let mut script = String::from("use strict; $| = 1;\n");
    let known =
        CALLS.iter().map(|(name, x86, arm, arguments)| (name, [x86, arm][column], arguments));
    let known: Vec<_> = known.filter(|(_, number, _)| **number >= 0).collect();
    for (name, number, arguments) in &known {
        // In a child process, so that a call that succeeds does not affect the next one.
        writeln!(
            script,
            "if (my $p = fork) {{ waitpid $p, 0 }} else {{ $! = 0; my $r = syscall({number}, {arguments}); \
             print \"{name}: \", ($r == -1 ? $! + 0 : 'done'), \"\\n\"; exit }}"
        )
        .unwrap();
    }
    std::fs::write(room.path("w/calls.pl"), script).unwrap();
    let ran = room.run("perl calls.pl");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let (refused, absent) = (1, 38);
    for (name, _, _) in &known {
        let answers: Vec<&str> =
            lines.iter().filter_map(|line| line.strip_prefix(&format!("{name}: "))).collect();
        let expected = match **name {
            "clone3" | "io_uring_setup" | "io_uring_enter" | "openat2" => absent,
            _ => refused,
        };
        assert_eq!(answers, [expected.to_string()], "{name}: {}", ran.answer.text);
    }
}

#[test]
fn a_command_has_no_privilege_and_gains_none() {
    let room = Room::new();
    let ran = room.run("cat /proc/self/status");
    let value = |name: &str| {
        let line = ran.stdout.lines().find_map(|line| line.strip_prefix(name));
        line.map(|line| line.trim_start_matches(':').trim().to_owned()).unwrap_or_default()
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(value(set), "0000000000000000", "{set}");
    }
    if super::room::is_root() {
        assert_eq!(value("CapBnd"), "0000000000000000");
    } else {
        println!("not checked: the bounding set, which only root can make smaller");
    }
    assert_eq!((value("NoNewPrivs").as_str(), value("Seccomp").as_str()), ("1", "2"));
}

#[test]
fn other_processes_are_out_of_reach() {
    let room = Room::new();
    let gaps = room.confinement().not_held.join("; ");
    let ran = room.run(&format!("kill -0 {}", std::process::id()));
    if gaps.contains("can be sent signals") {
        println!("not checked: signals, which this kernel's Landlock does not know");
    } else {
        assert_ne!(ran.receipt.exit_code, Some(0), "{}", ran.answer.text);
    }
    let own = room.run("sleep 100 & kill $! && echo own");
    assert_eq!(own.stdout, "own\n", "{}", own.answer.text);
}

#[test]
fn nothing_is_inherited_but_output() {
    let room = Room::new();
    // The program's own descriptors: input, output, error output, and the folder that it reads.
    let ran = room.run("ls /proc/self/fd");
    assert_eq!(ran.stdout, "0\n1\n2\n3\n", "{}", ran.answer.text);
    let ran = room.run("readlink /proc/self/fd/0; read -r line || echo nothing");
    assert_eq!(ran.stdout, "/dev/null\nnothing\n");
    let ran = room.run("yes | head -n 1; echo ${PIPESTATUS[0]}");
    assert_eq!(ran.stdout, "y\n141\n", "a broken pipe ends a program as everywhere");
}
