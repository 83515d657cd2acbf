//! `undo`: undoes a command that succeeded.

use serde_json::{Value, json};

use crate::{Desk, Ran};

fn spawn(desk: &Desk, words: &[&str]) -> Ran {
    desk.spawn(&[("COUNTERFOIL_STATE", "state")], words, "")
}

/// Runs a command; returns the id of its receipt.
fn shell(desk: &Desk, command: &str, from: &[&str]) -> String {
    let args = json!({ "command": command }).to_string();
    let words = [&["run", "shell", "--json", "--yes", "--args", &args], from].concat();
    let ran = spawn(desk, &words);
    assert_eq!(ran.code, 0, "{ran}");
    let whole: Value = serde_json::from_str(&ran.out).unwrap();
    whole["execution_id"].as_str().unwrap().to_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_is_undone_and_that_has_a_receipt() {
    let settings = "[tools.shell]\ntransactional = true\nkeep_snapshots = 2\n";
    let desk = Desk::with(&[("notes.txt", "mine\n"), ("counterfoil.toml", settings)]);
    let notes = desk.path().join("notes.txt");
    let command = "echo theirs > notes.txt; echo x > more.txt";
    // Commands typed by the user have no snapshot.
    let typed = spawn(&desk, &["undo", &shell(&desk, command, &[])]);
    assert_eq!(typed.code, 2, "{typed}");
    assert!(typed.err.contains("no snapshot"), "{typed}");
    std::fs::write(&notes, "mine\n").unwrap();
    std::fs::remove_file(desk.path().join("more.txt")).unwrap();
    let id = shell(&desk, command, &["--from-agent"]);
    std::fs::write(&notes, "changed since\n").unwrap();
    let refused = spawn(&desk, &["undo", &id]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.err.contains("files changed since the command ended: "), "{refused}");
    assert!(refused.err.contains("notes.txt") && refused.err.contains("--force"), "{refused}");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "changed since\n");
    let undone = spawn(&desk, &["undo", &id, "--force"]);
    let out = undone.out.as_str();
    assert_eq!((undone.code, out), (0, "undone: 1 restored, 1 removed\n"), "{undone}");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine\n");
    assert!(!desk.path().join("more.txt").exists());
    // The next one to undo is the command before, until there is none.
    let first = shell(&desk, "echo first >> notes.txt", &["--from-agent"]);
    let second = shell(&desk, "echo second >> notes.txt", &["--from-agent"]);
    let listed = spawn(&desk, &["undo", "--list"]).out;
    assert!(listed.lines().count() == 2 && listed.starts_with(&second), "{listed}");
    assert!(listed.contains(&first) && listed.contains("echo first"), "{listed}");
    for left in ["mine\nfirst\n", "mine\n"] {
        let undone = spawn(&desk, &["undo", "--last"]);
        assert_eq!(undone.code, 0, "{undone}");
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), left);
    }
    for (flag, code) in [("--last", 2), ("--list", 0)] {
        let none = spawn(&desk, &["undo", flag]);
        assert!(none.code == code && none.err.contains("nothing to undo"), "{none}");
    }
    let stats = spawn(&desk, &["stats", "--format", "json"]);
    let stats: Value = serde_json::from_str(&stats.out).unwrap();
    assert!(stats["by_tool"].to_string().contains("undo"), "{stats}");
    let unknown = spawn(&desk, &["undo", "shell_1_00000000"]);
    assert_eq!(unknown.code, 2, "{unknown}");
    assert!(unknown.err.contains("no receipt for `shell_1_00000000`"), "{unknown}");
}
