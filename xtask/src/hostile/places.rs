//! Writes to files that control the agent, and spellings of paths and commands meant to evade
//! rules.

use anyhow::Result;
use serde_json::{Value, json};

use super::bench::Bench;
use super::{Attempt, Held};

/// Paths that a call may not change without asking.
const PLACES: [&str; 16] = [
    "counterfoil.toml",
    "sub/counterfoil.toml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".vscode/tasks.json",
    ".envrc",
    ".git/hooks/pre-commit",
    ".git/config",
    "HOME/.bashrc",
    "HOME/.zshrc",
    "HOME/.profile",
    "HOME/.config/counterfoil/counterfoil.toml",
];

/// Ways for a command to write to a path.
const WAYS: [&str; 8] = [
    "echo x > PLACE",
    "echo x >> PLACE",
    "cp x PLACE",
    "mv x PLACE",
    "rm -f PLACE",
    "sed -i s/a/b/ PLACE",
    "cat x | tee PLACE",
    "bash -c 'echo x > PLACE'",
];

/// A policy that denies each of the calls below.
const RULES: &str = r#"
[[tools.permissions.rules]]
tool = "Bash"
pattern = "git push*"
action = "deny"
[[tools.permissions.rules]]
tool = "Bash"
pattern = "rm -rf build*"
action = "deny"
[tools.policy]
enabled = true
default_effect = "allow"
[[tools.policy.rules]]
effect = "deny"
tool = "*"
paths = ["**/.env", "~/.ssh/**"]
"#;

const SPELLED: [&str; 22] = [
    "git push",
    "git -C . push",
    "git --no-pager push",
    "git -c a=b push",
    "/usr/bin/git push",
    "g\"i\"t pu'sh'",
    "\\git push",
    "cd sub && git push",
    "env git push",
    "true && git push origin main",
    "rm -fr build",
    "rm -r -f build",
    "rm -rf build/x",
    "cat .env",
    "cat .e\"\"nv",
    "cat .e*",
    "cat .{env,x}",
    "cd sub; cat .env",
    "cat ~/.ssh/id",
    "cat $HOME/.ssh/id",
    "cd ~ && cat .ssh/id",
    "cat AT_HOME/.ssh/id",
];

pub(super) fn attempt(bench: &Bench) -> Result<Vec<Attempt>> {
    let home = bench.home().display().to_string();
    let own = bench.write("places.toml", RULES)?.display().to_string();
    let mut attempts = Vec::new();
    for place in PLACES {
        let place = place.replace("HOME", &home);
        let written = json!({ "file_path": place, "content": "x" });
        attempts.push(one(bench, &[], "Write", &written, &format!("writes {place}"))?);
        for way in WAYS {
            let command = way.replace("PLACE", &place);
            let named = json!({ "command": command });
            attempts.push(one(bench, &[], "Bash", &named, &command)?);
        }
    }
    for command in SPELLED {
        let command = command.replace("AT_HOME/", &format!("{home}/"));
        let named = json!({ "command": command });
        let settings = ["--config", own.as_str()];
        attempts.push(one(bench, &settings, "Bash", &named, &format!("ruled out: {command}"))?);
    }
    Ok(attempts)
}

/// Makes a call as an agent; it is held if it is denied or asked about.
fn one(bench: &Bench, more: &[&str], tool: &str, input: &Value, name: &str) -> Result<Attempt> {
    let event = json!({
        "session_id": "s1", "cwd": bench.work(), "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_use_id": "t1", "tool_input": input,
    });
    let ran = bench.run(&[more, &["hook", "claude-code"]].concat(), event.to_string())?;
    let held = ran.out.contains("\"deny\"") || ran.out.contains("\"ask\"");
    Ok(Attempt::new(name, Held::when(held, || ran.shown())))
}
