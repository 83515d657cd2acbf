//! Records what an agent sends to its hooks, and its log at that time, for replay without the
//! agent.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// A script that runs before the hook and keeps each event and the number of lines in each log.
const BEFORE: &str = r#"#!/bin/sh
kept="AT/events/$(date +%s%N)-$$"
cat > "$kept"
find 'AT/home' -name '*.jsonl' -exec wc -l {} + > "$kept.lines"
exec 'BINARY' "$@" < "$kept"
"#;

/// Inserts a script before the hook in the settings.
pub(super) fn stand_before(binary: &Path, at: &Path, settings: &Path) -> Result<()> {
    fs::create_dir_all(at.join("events"))?;
    let script = at.join("before.sh");
    let text = BEFORE
        .replace("AT", &at.display().to_string())
        .replace("BINARY", &binary.display().to_string());
    fs::write(&script, text)?;
    super::session::executable(&script)?;
    let Ok(text) = fs::read_to_string(settings) else { return Ok(()) };
    let ours = format!("\"{} hook ", script.display());
    Ok(fs::write(settings, text.replace("\"counterfoil hook ", &ours))?)
}

/// Copies the logs and the events, in order, with the session's folder replaced by `AT`.
pub(super) fn keep(at: &Path, logs: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    let own = at.display().to_string();
    let mut names: Vec<(String, String)> = Vec::new();
    for file in files(logs)? {
        if file.extension().is_none_or(|e| e != "jsonl") {
            continue;
        }
        let name = format!("log-{}.jsonl", names.len() + 1);
        let text = fs::read_to_string(&file)?;
        let lines: Vec<String> =
            text.lines().map(|line| shortened(&without_paths(line, &own))).collect();
        fs::write(to.join(&name), lines.join("\n") + "\n")?;
        names.push((file.display().to_string(), name));
    }
    let mut events = String::new();
    let mut kept = files(&at.join("events"))?;
    kept.retain(|path| path.extension().is_none());
    kept.sort();
    for path in kept {
        let event: Value = serde_json::from_str(&fs::read_to_string(&path)?)
            .with_context(|| format!("{} is no event", path.display()))?;
        let lines = fs::read_to_string(path.with_extension("lines")).unwrap_or_default();
        let mut logs = serde_json::Map::new();
        for line in lines.lines() {
            let Some((count, file)) = line.trim().split_once(' ') else { continue };
            let known = names.iter().find(|(path, _)| path == file.trim());
            if let (Some((path, name)), Ok(count)) = (known, count.parse::<u64>()) {
                let path = path.replace(&own, "AT");
                logs.insert(name.clone(), json!({ "path": path, "lines": count }));
            }
        }
        let line = without_paths(&json!({ "event": event, "logs": logs }).to_string(), &own);
        events.push_str(&line);
        events.push('\n');
    }
    Ok(fs::write(to.join("events.jsonl"), events)?)
}

/// Replaces the session's folder with `AT`. Codex gives its main agent a name that looks like an
/// absolute path, which is replaced too.
fn without_paths(line: &str, own: &str) -> String {
    line.replace(own, "AT").replace("/root", "/main")
}

/// Shortens long texts that no hook reads, and removes the agent's own instructions.
fn shortened(line: &str) -> String {
    const LONGEST: usize = 4000;
    const OF_INSTRUCTIONS: usize = 100;
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let instructions = matches!(
        text("/type"),
        "attachment" | "session_meta" | "turn_context" | "world_state" | "file-history-snapshot"
    ) || text("/payload/role") == "developer";
    shorten(&mut value, if instructions { OF_INSTRUCTIONS } else { LONGEST });
    value.to_string()
}

fn shorten(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) if text.len() > longest => {
            *text = text.chars().take(80).chain("…".chars()).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, longest)),
        Value::Object(members) => members.values_mut().for_each(|v| shorten(v, longest)),
        _ => {}
    }
}

fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(found) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    Ok(found)
}
