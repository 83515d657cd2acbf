//! Hostile shell inputs that try to evade the blocklist, and everyday ones, from the data in
//! `spec/shell`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::disallowed_methods,
        clippy::print_stdout,
        reason = "Bash is asked for its opinion of a syntax, and what was not checked is said"
    )
)]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use counterfoil_guard::{
    Blocklist, BlocklistOptions, ErasedToolExecutor, ShellExecutor, ShellPolicy, ShellPolicyHandle,
    TrustLevel,
};
use counterfoil_shell::Script;
use counterfoil_tools::{
    CommandArgument, RefusalKind, Substitution, Unread, find_blocked_command, judge_command,
};
use serde_json::{Value, json};

use crate::stage::{Stage, approved, permit, wait};

const HOSTILE: &str = include_str!("../../../../spec/shell/hostile.md");
const IRREVERSIBLE: &str = include_str!("../../../../spec/shell/irreversible.md");
const ORDINARY: &str = include_str!("../../../../spec/shell/ordinary.md");

const POWERSHELL: &str = include_str!("../../../../spec/shell/powershell.md");

/// The inputs in the blocks under a heading; all inputs if none is given.
fn inputs(page: &str, heading: Option<&str>) -> Vec<String> {
    let mut inputs = Vec::new();
    let (mut wanted, mut inside) = (heading.is_none(), false);
    for line in page.lines() {
        if let (Some(heading), Some(title)) = (heading, line.strip_prefix("## ")) {
            wanted = title == heading;
        } else if line.starts_with("```") {
            inside = !inside;
        } else if inside && wanted {
            let json = line.starts_with('"') && line.ends_with('"') && line.contains('\\');
            let text = json.then(|| serde_json::from_str::<String>(line).ok()).flatten();
            inputs.push(text.unwrap_or_else(|| line.to_owned()));
        }
    }
    inputs
}

fn list(substitution: Substitution) -> Blocklist {
    let options = BlocklistOptions { substitution, ..BlocklistOptions::default() };
    options.resolve().unwrap().at(Path::new("/home/dev/project"), Some("/home/dev"), None)
}

/// The blocklist with the settings that hooks use.
pub(crate) fn of_hooks() -> Blocklist {
    let options = BlocklistOptions {
        substitution: Substitution::Analyse,
        allow_network: true,
        unread: Unread::Ask,
        asks_irreversible: true,
        ..BlocklistOptions::default()
    };
    options.resolve().unwrap().at(Path::new("/home/dev/project"), Some("/home/dev"), None)
}

#[test]
fn hostile_inputs_are_refused() {
    let hostile = inputs(HOSTILE, None);
    let different: BTreeSet<&String> = hostile.iter().collect();
    assert!(different.len() >= 200, "{}", different.len());
    for substitution in [Substitution::Refuse, Substitution::Analyse] {
        let list = list(substitution);
        let passed: Vec<&String> = hostile
            .iter()
            .filter(|command| find_blocked_command(command, &list).is_none())
            .collect();
        assert!(passed.is_empty(), "{substitution:?}: {passed:#?}");
    }
}

/// Whatever would run first leaves a trace.
#[cfg(target_os = "linux")]
#[test]
fn hostile_inputs_are_not_executed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut stage = Stage::at(&root);
    stage.trust = TrustLevel::Trusted;
    for substitution in [Substitution::Refuse, Substitution::Analyse] {
        let options = BlocklistOptions { substitution, ..BlocklistOptions::default() };
        let policy =
            ShellPolicy { blocklist: options.resolve().unwrap(), ..ShellPolicy::default() };
        let shell = ShellExecutor::new(ShellPolicyHandle::new(policy));
        let shell: &dyn ErasedToolExecutor = &shell;
        let scene = stage.scene();
        for command in inputs(HOSTILE, None) {
            // Some commands are hostile only in the page's project; here the folder is not the
            // agent's.
            let here = Blocklist::default().at(&root, None, None);
            if find_blocked_command(&command, &here).is_none() {
                continue;
            }
            for command in
                [format!("echo > canary; {command}"), format!("echo > canary\n{command}")]
            {
                let arguments = || json!({ "command": command });
                let allowed = wait(shell.execute_tool_call(permit("shell", arguments()), &scene));
                let agreed = approved("shell", arguments());
                let agreed = wait(shell.execute_tool_call_confirmed(agreed, &scene));
                assert!(allowed.is_err() && agreed.is_err(), "{command}");
                assert!(!root.join("canary").exists(), "{command}");
            }
        }
    }
}

/// What a hook asks about, and what it allows silently.
#[test]
fn what_nothing_brings_back_needs_approval() {
    let list = of_hooks();
    let kind = |command: &String| judge_command(command, &list).map(|refusal| refusal.kind);
    let page = |heading| inputs(IRREVERSIBLE, Some(heading));
    let (irreversible, left) = (page("Asked about"), page("Left alone"));
    assert!(irreversible.len() >= 70 && left.len() >= 80, "{} {}", irreversible.len(), left.len());
    let wrong =
        irreversible.iter().filter(|command| kind(command) != Some(RefusalKind::Irreversible));
    let wrong: Vec<&String> = wrong.chain(left.iter().filter(|c| kind(c).is_some())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (heading, expected) in
        [("Unread", RefusalKind::Unread), ("Other agents", RefusalKind::Agent)]
    {
        let all = page(heading);
        let wrong = all.iter().map(|command| (command, kind(command)));
        let wrong: Vec<_> = wrong.filter(|(_, kind)| *kind != Some(expected)).collect();
        assert!(all.len() >= 5 && wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn powershell_needs_approval_as_the_shell_does() {
    let command = CommandArgument { command: "/command".to_owned(), cwd: None };
    let options = BlocklistOptions {
        tools: [("PowerShell".to_owned(), command)].into(),
        substitution: Substitution::Analyse,
        allow_network: true,
        unread: Unread::Ask,
        asks_irreversible: true,
        ..BlocklistOptions::default()
    };
    let list = options.resolve().unwrap();
    let list = list.at(Path::new("/home/dev/project"), Some("/home/dev"), None);
    let stopped = |command: &String| {
        let arguments = json!({ "command": command });
        judge_command(&list.command_at("PowerShell", &arguments).unwrap(), &list).is_some()
    };
    let (wanted, left) =
        (inputs(POWERSHELL, Some("Stopped")), inputs(POWERSHELL, Some("Left alone")));
    assert!(wanted.len() >= 40 && left.len() >= 40, "{} {}", wanted.len(), left.len());
    let wrong = wanted.iter().filter(|command| !stopped(command));
    let wrong: Vec<&String> = wrong.chain(left.iter().filter(|c| stopped(c))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ordinary_commands_pass() {
    let ordinary = inputs(ORDINARY, Some("Without substitutions"));
    assert!(ordinary.len() >= 200, "{}", ordinary.len());
    let list = list(Substitution::Refuse);
    let refused: Vec<_> = ordinary
        .iter()
        .filter_map(|command| Some((command, find_blocked_command(command, &list)?)))
        .collect();
    println!("{} of {} ordinary commands are refused: {refused:#?}", refused.len(), ordinary.len());
    assert!(refused.len() * 50 <= ordinary.len(), "{refused:#?}");
}

#[test]
fn harmless_substitutions_pass_where_they_are_analysed() {
    let list = list(Substitution::Analyse);
    let wrong: Vec<_> = inputs(ORDINARY, Some("With harmless substitutions"))
        .into_iter()
        .filter_map(|command| Some((find_blocked_command(&command, &list)?, command)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `rm -rf "$tmp"` is safe only if `tmp` can only come from `mktemp`.
#[test]
fn a_temporary_folder_is_removed_only_if_it_surely_is_one() {
    let list = list(Substitution::Analyse);
    let refused = [
        "rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); tmp=/; rm -rf \"$tmp\"",
        "tmp=/; tmp=$(mktemp -d); rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); tmp+=/..; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); rm -rf \"$tmp\"/*",
        "tmp=$(mktemp -d); rm -rf \"$tmp/..\"",
        "tmp=$(mktemp -d); rm -rf /\"$tmp\"",
        "tmp=$(mktemp -d); rm -rf \"$tmp\" $other",
        "tmp=$(mktemp -d; echo /); rm -rf $tmp",
        "tmp=$(mktemp -d)/..; rm -rf \"$tmp\"",
        "tmp=/$(mktemp -d -u); rm -rf \"$tmp\"",
        "tmp=$(echo /); rm -rf \"$tmp\"",
        "tmp=$(./mktemp -d); rm -rf \"$tmp\"",
        "tmp=$(mktemp -d \"$x\"); rm -rf \"$tmp\"",
        "mktemp() { echo /; }; tmp=$(mktemp -d); rm -rf \"$tmp\"",
        "function mktemp { echo /; }; tmp=$(mktemp -d); rm -rf \"$tmp\"",
        "PATH=.; tmp=$(mktemp -d); rm -rf \"$tmp\"",
        "export PATH=.:$PATH; tmp=$(mktemp -d); rm -rf \"$tmp\"",
        "TMPDIR='/ x'; tmp=$(mktemp -d); rm -rf $tmp",
        "IFS=t; tmp=$(mktemp -d); rm -rf $tmp",
        "tmp=$(mktemp -d); read tmp < x; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); read -r x tmp < x; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); read t\"\"mp < x; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); read t${x}mp < x; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); printf -v tmp /; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); printf -vtmp /; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); export tmp=/; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); declare tmp=/; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); declare -n x=tmp; x=/; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); for tmp in /; do rm -rf \"$tmp\"; done",
        "tmp=$(mktemp -d); for t\\\nmp in /; do rm -rf \"$tmp\"; done",
        "tmp=$(mktemp -d); ((tmp=0)); rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); : ${tmp:=/}; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); tmp[0]=/; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); mapfile -t tmp < x; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); unset tmp; rm -rf \"$tmp\"",
        "tmp=$(mktemp -d); select tmp in /; do rm -rf \"$tmp\"; done",
        "HOME=$(mktemp -d); rm -rf \"$HOME\"",
        "tmp=$(mktemp -d); rm -rf \"${tmp%/*}\"",
        "tmp=$(mktemp -d); rm -rf \"${tmp:0:1}\"",
    ];
    for command in refused {
        assert!(find_blocked_command(command, &list).is_some(), "{command}");
    }
}

/// Endless braces neither evade the analysis nor keep it busy.
#[test]
fn braces_without_end_are_refused_at_once() {
    let list = list(Substitution::Refuse);
    for command in [
        format!("rm -rf {}", "{a,b}".repeat(40)),
        format!("rm -rf {}/", "{/,a}".repeat(3)),
        format!("rm -rf {{{}/}}", "a,".repeat(40)),
        format!("rm -rf {}/{}", "{a,".repeat(30), "}".repeat(30)),
    ] {
        assert!(find_blocked_command(&command, &list).is_some(), "{command}");
    }
}

/// The analysis must not read a script out of text that Bash rejects.
#[cfg(target_os = "linux")]
#[test]
fn the_analysis_and_bash_agree_on_what_is_a_script() {
    let commands = inputs(HOSTILE, None).into_iter().chain(inputs(ORDINARY, None));
    let commands: Vec<String> = commands.chain(recorded()).collect();
    let Some(valid) = valid(&commands) else {
        println!("not checked: Bash is not installed");
        return;
    };
    let mut only_here = Vec::new();
    let mut only_bash = Vec::new();
    for (command, valid) in commands.iter().zip(valid) {
        match (Script::parse(command).is_ok(), valid) {
            (true, false) => only_here.push(command),
            (false, true) => only_bash.push(command),
            _ => {}
        }
    }
    println!(
        "of {} inputs, {} are scripts for Bash only: {only_bash:#?}",
        commands.len(),
        only_bash.len()
    );
    assert!(only_here.is_empty(), "taken for scripts: {only_here:#?}");
    assert!(only_bash.len() * 100 <= commands.len(), "{only_bash:#?}");
}

/// The verdicts of `bash -n` on all commands, without running any of them.
#[cfg(target_os = "linux")]
fn valid(commands: &[String]) -> Option<Vec<bool>> {
    let mut answers = Vec::new();
    for command in commands {
        let started = Command::new("bash")
            .args(["--noprofile", "--norc", "-n"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut bash = started.ok()?;
        // Bash stops reading at the first error.
        let _stopped = bash.stdin.take()?.write_all(command.as_bytes());
        let output = bash.wait_with_output().ok()?;
        // A here-document that is ended by the end of the text is only a warning in Bash; the
        // analysis refuses it.
        answers.push(output.status.success() && output.stderr.is_empty());
    }
    Some(answers)
}

/// A sample of commands from real sessions, if the public data is next to the project.
#[cfg(target_os = "linux")]
fn recorded() -> Vec<String> {
    const WANTED: usize = 500;
    let packed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/coding.jsonl.gz");
    if !Path::new(packed).exists() {
        println!("not checked: recorded commands, which are not here");
        return Vec::new();
    }
    let Ok(unpacked) = Command::new("gzip").args(["-dc", packed]).output() else {
        println!("not checked: recorded commands, because there is no `gzip`");
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&unpacked.stdout).into_owned();
    let mut commands = BTreeSet::new();
    for line in text.lines() {
        if let Ok(value) = serde_json::from_str::<Value>(line) {
            collect(&value, &mut commands);
        }
    }
    println!("{} recorded commands", commands.len());
    let every = (commands.len() / WANTED).max(1);
    commands.into_iter().step_by(every).collect()
}

/// Collects every text under `command`, even in arguments that are JSON inside a text.
#[cfg(target_os = "linux")]
fn collect(value: &Value, commands: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "command" => {
                        commands.insert(text.clone());
                    }
                    Value::String(text) if name == "arguments" => {
                        if let Ok(inner) = serde_json::from_str(text) {
                            collect(&inner, commands);
                        }
                    }
                    value => collect(value, commands),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, commands)),
        _ => {}
    }
}
