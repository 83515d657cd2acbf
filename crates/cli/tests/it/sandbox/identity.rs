use std::fs;
use std::process::Command;

use counterfoil_guard::{SandboxOptions, ShellOptions, TrustLevel};

use super::room::{HELPER, Room, has, is_root};

/// Arbitrary user ids without accounts. Each test has its own, because the kernel counts the
/// processes of a user.
const OWNER: u32 = 54_321;
const NAMED: u32 = 54_322;
const WITHOUT_ROOT: u32 = 54_323;

fn limited(run_as: &str) -> Room {
    let sandbox = SandboxOptions {
        run_as: run_as.to_owned(),
        bubblewrap: "never".to_owned(),
        ..SandboxOptions::default()
    };
    let shell = ShellOptions { max_processes: 20, ..ShellOptions::default() };
    Room::made(sandbox, shell, TrustLevel::Trusted, true)
}

/// Forks until that fails, or 200 times.
const FORKS: &str = "perl -e 'for (1..200) { my $p = fork; last unless defined $p; if (!$p) { sleep 3; exit } push @p, $p } print scalar @p; kill 9, @p'";

fn forks(room: &Room) -> u32 {
    let ran = room.run(&format!("{FORKS} | cat"));
    ran.stdout.lines().next().and_then(|line| line.trim().parse().ok()).unwrap_or(u32::MAX)
}

#[test]
fn commands_of_root_become_the_owner_of_the_workspace() {
    if !is_root() {
        println!("not checked: the drop to another user, which only root can make");
        return;
    }
    let room = limited("owner");
    room.give_to(OWNER);
    let ran = room.run("id -u; id -g; id -G; echo x > new; cat own");
    let id = OWNER.to_string();
    assert_eq!(ran.stdout, format!("{id}\n{id}\n{id}\ncontent\n"), "{}", ran.answer.text);
    let gaps = room.confinement().not_held.join("; ");
    assert!(!gaps.contains("as root"), "{gaps}");
    use std::os::unix::fs::MetadataExt as _;
    assert_eq!(fs::metadata(room.path("w/new")).unwrap().uid(), OWNER);
    if has("perl", "fork bombs") {
        assert!(forks(&room) < 20, "the number of processes is limited");
    }
    let ran = room.run("echo t > $TMPDIR/t && cat $TMPDIR/t");
    assert_eq!(ran.stdout, "t\n", "{}", ran.answer.text);
}

#[test]
fn where_the_workspace_is_roots_the_receipt_says_what_does_not_hold() {
    if !is_root() {
        println!("not checked: commands that stay root");
        return;
    }
    for run_as in ["owner", "never"] {
        let room = limited(run_as);
        let gaps = room.confinement().not_held.join("; ");
        assert!(gaps.contains("runs as root without capabilities"), "{gaps}");
        assert!(gaps.contains("so the number of its processes is not limited"), "{gaps}");
        assert_eq!(room.run("id -u; echo x > new").stdout, "0\n");
    }
    let room = limited(&format!("{NAMED}:{NAMED}"));
    room.give_to(NAMED);
    assert_eq!(room.run("id -u").stdout.trim(), NAMED.to_string());
}

/// Runs all tests as a user other than root.
#[test]
fn everything_holds_without_root_too() {
    let room = Room::new();
    let command = |command: &str| {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let state = room.path("theirs").display().to_string();
        let words =
            ["--no-config", "--state", &state, "run", "shell", "--trust", "trusted", "--json"];
        let mut started = if is_root() {
            let id = WITHOUT_ROOT.to_string();
            let mut started = Command::new("setpriv");
            started.args(["--reuid", &id, "--regid", &id, "--clear-groups", HELPER[0]]);
            started
        } else {
            Command::new(HELPER[0])
        };
        let home = room.path("home");
        let output = started
            .args(words)
            .args(["--args", &arguments])
            .current_dir(room.path("w"))
            .env_clear()
            .env("HOME", home)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str::<serde_json::Value>(&text)
            .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
    };
    if is_root() {
        if !has("setpriv", "the whole without root") {
            return;
        }
        room.give_to(WITHOUT_ROOT);
        fs::create_dir(room.path("theirs")).unwrap();
        std::os::unix::fs::chown(room.path("theirs"), Some(WITHOUT_ROOT), Some(WITHOUT_ROOT))
            .unwrap();
        let there = Command::new("setpriv")
            .args(["--reuid", &WITHOUT_ROOT.to_string(), "--clear-groups", HELPER[0], "--version"])
            .output();
        if !there.is_ok_and(|output| output.status.success()) {
            println!("not checked: the whole without root, who cannot reach the program here");
            return;
        }
    }
    let answer = command("id -u; echo x > new; echo y > ../outside/new; cat ~/.ssh/id_ed25519");
    let result = answer["result"].as_str().unwrap();
    // With bubblewrap the file does not even exist.
    let refused = ["Permission denied", "No such file", "Read-only"];
    assert!(refused.iter().any(|why| result.contains(&format!("outside/new: {why}"))), "{result}");
    assert!(!result.contains("content"), "{result}");
    assert!(room.path("w/new").exists() && !room.path("outside/new").exists());
    let confinement = &answer["receipt"]["confinement"];
    assert_eq!(confinement["profile"], "workspace");
    assert!(!confinement.to_string().contains("as root"), "{confinement}");
    if has("perl", "sockets without root") {
        let answer = command("perl -e 'print socket(my $s, 2, 2, 0) ? 1 : $!'");
        assert_eq!(answer["result"], "Operation not permitted");
    }
}
