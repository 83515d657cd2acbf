//! The commands of real coding sessions, if they are next to the repository: how many an agent's
//! hook refuses, and how many it asks about.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use counterfoil_tools::{
    BlocklistOptions, CommandArgument, RefusalKind, Substitution, Unread, judge_command,
};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::corpus::of_hooks;

const SESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/coding.jsonl.gz");

const OTHERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/real3.jsonl.gz");

/// The shell commands of all sessions, in order.
fn commands() -> Option<Vec<String>> {
    let file = File::open(SESSIONS).ok()?;
    let mut commands = Vec::new();
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let session: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let messages = session.get("messages").and_then(Value::as_array).into_iter().flatten();
        for call in messages.filter_map(|m| m.get("tool_calls")?.as_array()).flatten() {
            let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            let shell =
                ["Bash", "bash", "shell", "run_shell_command", "exec_command", "execute_bash"];
            if !shell.contains(&name) {
                continue;
            }
            let text = call.pointer("/function/arguments").and_then(Value::as_str);
            let arguments: Value =
                text.and_then(|t| serde_json::from_str(t).ok()).unwrap_or_default();
            let command = ["command", "cmd"].iter().find_map(|key| arguments.get(*key));
            match command {
                Some(Value::String(command)) => commands.push(command.clone()),
                Some(Value::Array(words)) if words.len() == 3 => {
                    commands.extend(words.get(2).and_then(Value::as_str).map(str::to_owned));
                }
                _ => {}
            }
        }
    }
    Some(commands)
}

#[test]
fn ordinary_commands_are_left_alone() {
    let Some(commands) = commands() else {
        println!("not checked: the sessions do not lie beside this repository");
        return;
    };
    let list = of_hooks();
    let mut counts: BTreeMap<RefusalKind, usize> = BTreeMap::new();
    for command in &commands {
        if let Some(refusal) = judge_command(command, &list) {
            *counts.entry(refusal.kind).or_default() += 1;
            let line: String = command.chars().take(300).collect();
            println!(
                "{:?}: {}\n    {}",
                refusal.kind,
                refusal.message,
                line.replace('\n', "\n    ")
            );
        }
    }
    let unread = counts.remove(&RefusalKind::Unread).unwrap_or(0);
    let irreversible = counts.remove(&RefusalKind::Irreversible).unwrap_or(0);
    let elevated = counts.remove(&RefusalKind::Elevated).unwrap_or(0);
    let refused: usize = counts.values().sum();
    println!(
        "{} commands: {refused} refused, {unread} asked about, {irreversible} because nothing brings it back, {elevated} for another user's rights",
        commands.len()
    );
    assert!(commands.len() > 500, "{}", commands.len());
    assert!(refused * 200 <= commands.len(), "{refused} of {} refused", commands.len());
    assert!(unread * 50 <= commands.len(), "{unread} of {} asked about", commands.len());
    assert!(elevated * 100 <= commands.len(), "{elevated} of {}", commands.len());
    assert!(irreversible * 100 <= commands.len(), "{irreversible} of {}", commands.len());
}

/// Commands of other public sessions, including PowerShell, as an agent's hook gets them.
fn five_hundred() -> Option<Vec<(String, String)>> {
    let file = File::open(OTHERS).ok()?;
    let mut commands = Vec::new();
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let session: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let messages = session.get("messages").and_then(Value::as_array).into_iter().flatten();
        for call in messages.filter_map(|m| m.get("tool_calls")?.as_array()).flatten() {
            let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            let text = call.pointer("/function/arguments").and_then(Value::as_str);
            let arguments: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
            let command = arguments.as_ref().and_then(|a| a.get("command")?.as_str());
            if let (Some(command), "Bash" | "PowerShell") = (command, name) {
                commands.push((name.to_owned(), command.to_owned()));
            }
        }
    }
    // All of PowerShell, and as many evenly drawn ones of Bash as make five hundred.
    let (mut drawn, bash): (Vec<_>, Vec<_>) =
        commands.into_iter().partition(|(name, _)| name == "PowerShell");
    let wanted = 500 - drawn.len();
    let step = bash.len() / wanted;
    drawn.extend(bash.into_iter().step_by(step).take(wanted));
    Some(drawn)
}

#[test]
fn of_five_hundred_commands_at_most_five_need_approval() {
    let Some(commands) = five_hundred() else {
        println!("not checked: the sessions do not lie beside this repository");
        return;
    };
    let command = CommandArgument { command: "/command".to_owned(), cwd: None };
    let options = BlocklistOptions {
        tools: ["Bash", "PowerShell"].map(|name| (name.to_owned(), command.clone())).into(),
        substitution: Substitution::Analyse,
        allow_network: true,
        unread: Unread::Ask,
        asks_irreversible: true,
        ..BlocklistOptions::default()
    };
    let list = options.resolve().unwrap();
    let list = list.at(Path::new("/home/dev/project"), Some("/home/dev"), None);
    let mut counts: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for (tool, command) in &commands {
        let arguments = serde_json::json!({ "command": command });
        let read = list.command_at(tool, &arguments).unwrap();
        let refusal = judge_command(&read, &list);
        *counts.entry((tool, refusal.is_some())).or_default() += 1;
        if let Some(refusal) = refusal {
            println!("{tool}: {}\n    {command}", refusal.message);
        }
    }
    println!("{counts:?}");
    let stopped: usize = counts.iter().filter(|((_, stopped), _)| *stopped).map(|(_, n)| n).sum();
    assert_eq!(commands.len(), 500);
    assert!(stopped <= 5, "{stopped} of 500");
}

/// Commands by an author who had not read this project, unchanged: the code is not adjusted to
/// them, so that the counts are meaningful. `-- --nocapture` prints the commands that are judged
/// wrongly.
#[test]
fn the_commands_of_a_stranger_are_distinguished() {
    let list = of_hooks().at(Path::new("/home/ada/src/shop"), Some("/home/ada"), None);
    let stopped = |text: &str, wanted: bool| {
        let commands = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let commands: Vec<String> =
            commands.map(|row| row["command"].as_str().unwrap().to_owned()).collect();
        let (mut stopped, all) = (0, commands.len());
        for command in commands {
            let refusal = judge_command(&command, &list);
            stopped += usize::from(refusal.is_some());
            if refusal.is_some() != wanted {
                println!("{command}\n    {refusal:?}");
            }
        }
        println!("{stopped} of {all} stopped");
        (stopped, all)
    };
    let (dangerous, all) = stopped(include_str!("../fixtures/strangers/dangerous.jsonl"), true);
    assert!(dangerous * 100 >= all * 85, "{dangerous} of {all}");
    let (ordinary, all) = stopped(include_str!("../fixtures/strangers/ordinary.jsonl"), false);
    assert!(ordinary * 100 <= all * 4, "{ordinary} of {all}");
}
