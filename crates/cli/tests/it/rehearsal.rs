//! `policy explain` predicts what `run` does: the same calls, rehearsed and made.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::Desk;

const CONFIG: &str = r#"
[tools.policy]
enabled = true
default_effect = "allow"
[[tools.policy.rules]]
name = "no keys"
effect = "deny"
tool = "*"
paths = ["**/*.pem", ".env"]
[[tools.permissions.rules]]
tool = "shell"
pattern = "git push*"
action = "ask"
"#;

const COMMANDS: [&str; 25] = [
    "ls",
    "cat a.txt",
    "cat .env",
    "cat 'un",
    "echo hi > b.txt",
    "git push",
    "/usr/bin/git -C . push",
    "rm -rf ~",
    "rm -rf build",
    "sudo ls",
    "echo $(rm -rf /)",
    "x=1; echo $x",
    "curl http://127.0.0.1:1/",
    "cat *.pem",
    "true",
    "false",
    "exit 3",
    "sleep 0",
    "cd .. && ls",
    "eval \"$X\"",
    "PATH=.:$PATH cat a.txt",
    "counterfoil hook uninstall",
    "echo a | sh",
    "python3 -c 'print(1)'",
    "",
];
const PATHS: [&str; 14] = [
    "a.txt",
    "b.txt",
    ".env",
    "key.pem",
    "src/main.rs",
    "src",
    ".",
    "..",
    "../outside",
    "/etc/hostname",
    "counterfoil.toml",
    ".git/config",
    "none/of/it",
    "",
];

/// Returns valid and invalid calls of every built-in tool that stays on this machine: every command
/// and path, with the forms of a call in turn.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for (at, command) in COMMANDS.into_iter().enumerate() {
        calls.push(("shell", json!({ "command": command })));
        calls.push(match at % 3 {
            0 => ("shell", json!({ "command": command, "cwd": "src" })),
            1 => ("bash", json!({ "command": command })),
            _ => ("shell", json!({ "cmd": command })),
        });
    }
    const TOOLS: [&str; 6] =
        ["read_file", "list_directory", "write_file", "edit_file", "grep", "find_files"];
    for (at, path) in PATHS.into_iter().enumerate() {
        for (tool_at, tool) in TOOLS.into_iter().enumerate() {
            calls.push(match (at + tool_at) % 2 {
                0 => (tool, json!({ "path": path })),
                _ => (tool, json!({ "path": path, "pattern": "fn", "content": "x" })),
            });
        }
        let forms = [
            ("edit_file", json!({ "path": path, "old": "a", "new": "b" })),
            ("read_file", json!({ "path": path, "offset": 1, "limit": 2 })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("find_files", json!({ "pattern": "*.rs", "path": path })),
            ("grep", json!({ "pattern": "a", "path": path })),
            ("read_file", json!({ "path": path, "offset": "one" })),
            ("grep", json!({ "pattern": "(", "path": path })),
            ("readfile", json!({ "path": path })),
        ];
        calls.extend(forms.into_iter().skip(at % 2).step_by(4));
    }
    for arguments in [json!({}), json!({ "run": "x" }), json!({ "id": "x" }), json!([]), json!(7)] {
        for tool in ["shell_output", "shell_stop", "read_overflow", "shell", "no_such_tool"] {
            calls.push((tool, arguments.clone()));
        }
    }
    calls
}

fn verdict(desk: &Desk, tool: &str, arguments: &str, trust: &str) -> String {
    let words = [
        "policy", "explain", "--tool", tool, "--args", arguments, "--trust", trust, "--format",
        "json",
    ];
    let ran = desk.spawn(&[("COUNTERFOIL_STATE", "state")], &words, "");
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    if answer["tool_of_run"] == false || ran.code == 2 {
        return "deny".to_owned();
    }
    answer["verdict"].as_str().unwrap_or(&ran.err).to_owned()
}

fn made(desk: &Desk, tool: &str, arguments: &str, trust: &str) -> (String, Value) {
    let words = ["run", tool, "--json", "--from-agent", "--args", arguments, "--trust", trust];
    let ran = desk.spawn(&[("COUNTERFOIL_STATE", "state")], &words, "");
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let needs_approval = answer["category"] == "ConfirmationRequired"
        || answer["category"] == "confirmation_required";
    let word = match answer["status"].as_str().unwrap_or_default() {
        _ if needs_approval => "ask",
        "denied" | "rejected" | "refused" => "deny",
        // The gates allowed it, and the tool refused.
        "failed" if answer["category"] == "PolicyBlocked" => "deny",
        _ => "allow",
    };
    (word.to_owned(), answer)
}

/// Compares the calls whose index `takes` selects.
fn compare(trust: &str, takes: fn(usize) -> bool) {
    let files = [
        ("counterfoil.toml", CONFIG),
        ("a.txt", "a\n"),
        (".env", "K=1\n"),
        ("key.pem", "x\n"),
        ("src/main.rs", "fn main() {}\n"),
        (".git/config", "[core]\n"),
    ];
    let calls = calls();
    assert!(calls.len() >= 180, "{}", calls.len());
    let desk = Desk::with(&files);
    let (mut differ, mut words) = (Vec::new(), BTreeMap::new());
    for (_, (tool, arguments)) in calls.iter().enumerate().filter(|(at, _)| takes(*at)) {
        let arguments = arguments.to_string();
        let rehearsed = verdict(&desk, tool, &arguments, trust);
        let (done, answer) = made(&desk, tool, &arguments, trust);
        *words.entry(done.clone()).or_insert(0_usize) += 1;
        if rehearsed != done {
            differ.push(format!("{tool} {arguments}: said {rehearsed}, done {done}: {answer}"));
        }
    }
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), calls.len(), differ.join("\n"));
    assert!(["allow", "ask", "deny"].iter().all(|word| words.get(*word) > Some(&3)), "{words:?}");
}

#[test]
fn what_is_rehearsed_is_what_happens() {
    compare("provisional", |at| at % 3 != 0);
}

#[test]
fn what_is_rehearsed_for_strangers_is_what_happens() {
    compare("untrusted", |at| at % 3 == 0);
}
