//! `undo`: a command that succeeded, and is not wanted any more.

use countersign_guard::{
    Guard, GuardSettings, SessionStart, ShellExecutor, ShellOptions, ShellPolicy,
    ShellPolicyHandle, StateFolder, Surroundings, TrustLevel,
};
use countersign_model::{Arguments, Status, ToolCall};
use serde_json::{Value, json};

use crate::{Desk, Ran};

fn spawn(desk: &Desk, words: &[&str]) -> Ran {
    desk.spawn(&[("COUNTERSIGN_STATE", "state")], words, "")
}

/// A command that a model asked for: of what the user types there is no snapshot.
fn shell(desk: &Desk, command: &str) -> String {
    let options =
        ShellOptions { transactional: true, keep_snapshots: 2, ..ShellOptions::default() };
    let policy = ShellPolicy { settings: options.resolve().unwrap(), ..ShellPolicy::default() };
    let settings =
        GuardSettings { shell: ShellPolicyHandle::new(policy), ..GuardSettings::default() };
    let state = StateFolder::at(desk.path().join("state"));
    let guard = Guard::builder()
        .executor(ShellExecutor::new(settings.shell.clone()).keeping_snapshots(state.snapshots()))
        .settings(settings)
        .state(state)
        .workspace(desk.path())
        .build()
        .unwrap();
    let start = SessionStart { trust: TrustLevel::Trusted, ..SessionStart::default() };
    let session = guard.session(start).unwrap();
    let call = ToolCall {
        id: String::new(),
        tool: "shell".to_owned(),
        arguments: Arguments::from(&json!({ "command": command })),
        line: 0,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(guard.call(&session, call, Surroundings::default())).unwrap();
    assert_eq!(answer.status, Status::Completed, "{}", answer.text);
    answer.execution_id
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_is_undone_and_that_has_a_receipt() {
    let desk = Desk::with(&[("notes.txt", "mine\n")]);
    let state = desk.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let notes = desk.path().join("notes.txt");
    let id = shell(&desk, "echo theirs > notes.txt; echo x > more.txt");
    std::fs::write(&notes, "changed since\n").unwrap();
    let refused = spawn(&desk, &["undo", &id]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.err.contains("changed since the command ended: "), "{refused}");
    assert!(refused.err.contains("notes.txt") && refused.err.contains("--force"), "{refused}");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "changed since\n");
    let undone = spawn(&desk, &["undo", &id, "--force"]);
    let out = undone.out.as_str();
    assert_eq!((undone.code, out), (0, "undone: 1 put back, 1 removed\n"), "{undone}");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine\n");
    assert!(!desk.path().join("more.txt").exists());
    let stats = spawn(&desk, &["stats", "--format", "json"]);
    let stats: Value = serde_json::from_str(&stats.out).unwrap();
    assert!(stats["by_tool"].to_string().contains("undo"), "{stats}");
    let unknown = spawn(&desk, &["undo", "shell_1_00000000"]);
    assert_eq!(unknown.code, 2, "{unknown}");
    assert!(unknown.err.contains("there is no receipt of `shell_1_00000000`"), "{unknown}");
}
