#![expect(clippy::print_stdout, reason = "what could not be checked is printed")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use counterfoil_guard::SandboxOptions;
use serde_json::{Value, json};

use super::room::{HELPER, Room};

/// Creates a room with bubblewrap; prints a message if it does not work here.
fn room(what: &str) -> Option<Room> {
    let room = Room::with(SandboxOptions::default());
    let found = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];
    if !found.iter().any(|path| Path::new(path).exists()) {
        println!("not checked: {what}, because bubblewrap is not installed");
        return None;
    }
    let gaps = room.confinement().not_held.join("; ");
    if gaps.contains("modes, owners, times") {
        println!("not checked: {what}, because bubblewrap does not work here");
        return None;
    }
    Some(room)
}

#[test]
fn denied_files_in_the_workspace_are_covered() {
    let Some(room) = room("what lies in the workspace and must not be read") else { return };
    fs::create_dir_all(room.path("w/deep/secrets")).unwrap();
    for path in ["w/.env", "w/deep/.env", "w/deep/secrets/key"] {
        fs::write(room.path(path), "content\n").unwrap();
    }
    let ran = room.run("cat .env deep/.env deep/secrets/key; ls deep; cat own");
    assert_eq!(ran.stdout.matches("content").count(), 1, "{}", ran.answer.text);
    let gaps = room.confinement().not_held.join("; ");
    assert!(!gaps.contains("can be read"), "{gaps}");
    assert_eq!(fs::read_to_string(room.path("w/.env")).unwrap(), "content\n", "it is still there");
}

#[test]
fn modes_outside_and_other_processes_are_out_of_reach() {
    let Some(room) = room("modes of files outside the workspace") else { return };
    let outside = room.path("outside/secret").display().to_string();
    let ran = room.run(&format!("chmod 777 {outside}; cat {outside}; echo x > {outside}"));
    assert_ne!(ran.receipt.exit_code, Some(0), "{}", ran.answer.text);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(room.path("outside/secret")).unwrap().permissions().mode();
    assert_ne!(mode & 0o777, 0o777);
    assert_eq!(fs::read_to_string(room.path("outside/secret")).unwrap(), "content\n");
    let ran = room.run(&format!("ls -d /proc/{}", std::process::id()));
    let own = room.run("ls -d /proc/[0-9]* | wc -l");
    let few: u32 = own.stdout.trim().parse().unwrap();
    assert!(few < 10, "{few} {}", ran.answer.text);
}

#[test]
fn a_process_that_leaves_the_group_ends_all_the_same() {
    let Some(room) = room("processes that leave the group") else { return };
    let ran = room.run("mkfifo pipe; setsid sh -c 'echo > up; exec sleep 1000 > pipe' & until [ -s up ]; do :; done");
    assert_eq!(ran.receipt.exit_code, Some(0), "{}", ran.answer.text);
    // The last writer is gone, so reading ends at once.
    let path = room.path("w/pipe");
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Non-blocking, because there is no writer any more.
        let opened = fs::OpenOptions::new().read(true).custom_flags(0o4000).open(path);
        let read =
            opened.and_then(|mut pipe| std::io::Read::read_to_end(&mut pipe, &mut Vec::new()));
        done.send(read.is_ok()).unwrap();
    });
    assert!(ended.recv_timeout(std::time::Duration::from_secs(60)).unwrap());
}

#[test]
fn temporary_files_are_its_own() {
    let Some(room) = room("a temporary folder of its own") else { return };
    let name = format!("counterfoil-test-{}", std::process::id());
    let ran = room.run(&format!("echo t > /tmp/{name}; cat /tmp/{name}"));
    assert_eq!(ran.stdout, "t\n", "{}", ran.answer.text);
    assert!(!Path::new("/tmp").join(&name).exists());
    assert_eq!(room.run(&format!("cat /tmp/{name}")).stdout, "t\n", "kept for the session");
}

/// Without bubblewrap too: the helper needs nothing beyond its arguments.
#[test]
fn the_helper_is_held_before_it_is_the_command() {
    let room = Room::new();
    if !room.holds("the helper") {
        return;
    }
    let system = ["/usr", "/bin", "/lib", "/lib64", "/proc"].map(Path::new);
    let mut read: Vec<_> = system.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    read.push(room.path("w"));
    let run_helper = |strict: bool, program: &[&str]| {
        let plan = json!({
            "profile": "workspace", "read": read, "list": [], "write": [], "devices": [],
            "unix_sockets": false, "identity": null, "limits": {}, "own_namespaces": true,
            "strict": strict, "program": program,
        });
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let helper = Command::new(HELPER[0])
            .args(&HELPER[1..])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        ours.write_all(format!("{plan}\n").as_bytes()).unwrap();
        let mut answers = BufReader::new(ours).lines();
        let first: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        let output = helper.wait_with_output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        (first, answers.next().is_some(), stdout, output.status.code())
    };
    let outside = room.path("outside/secret").display().to_string();
    let own = room.path("w/own").display().to_string();
    let script = "cat \"$0\" \"$1\"; grep -E 'NoNewPrivs|Seccomp:' /proc/self/status; exit 4";
    let (first, more, stdout, code) = run_helper(true, &["/bin/sh", "-c", script, &outside, &own]);
    assert_eq!((first, more), (json!({ "held": { "gaps": [] } }), false));
    assert_eq!((stdout.as_str(), code), ("content\nNoNewPrivs:\t1\nSeccomp:\t2\n", Some(4)));
    let (_, more, stdout, code) = run_helper(true, &["/nowhere"]);
    assert_eq!((more, stdout.as_str(), code), (true, "", Some(125)));
}
