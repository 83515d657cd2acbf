//! Shell input that tries to get past the blocklist. None of it may run or be left to a person's
//! approval, whether substitutions are refused or analysed.

use serde_json::json;

use crate::stage::Stage;

const HOSTILE: &str = include_str!("../../../../spec/shell/hostile.md");

#[test]
fn shell_input_does_not_get_past_the_blocklist() {
    let mut stage = Stage::new();
    for mode in ["refuse", "analyse"] {
        let settings = format!("[tools.blocklist]\nsubstitution = \"{mode}\"\n");
        let settings = stage.write("settings.toml", settings);
        for command in rows() {
            let command = command.replace("/home/dev", &stage.home().display().to_string());
            let arguments = json!({ "command": command }).to_string();
            let explain = ["--config", &settings, "policy", "explain", "--tool", "shell"];
            let rest = ["--args", &arguments, "--format", "json"];
            let ran = stage.run(&[&explain[..], &rest].concat(), "");
            let held = ran.json().get("verdict").is_some_and(|verdict| verdict == "deny");
            stage.tried(format!("{mode}: {command}"), held, || ran.shown());
        }
    }
    stage.end();
}

/// Returns the rows of the code blocks on the page; a row of several lines is a JSON text.
fn rows() -> impl Iterator<Item = String> {
    let blocks = HOSTILE.split("```").skip(1).step_by(2);
    let lines = blocks.flat_map(|block| block.lines().skip(1)).filter(|line| !line.is_empty());
    lines.map(|line| {
        let json = line.starts_with('"') && line.ends_with('"') && line.contains('\\');
        json.then(|| serde_json::from_str(line).ok()).flatten().unwrap_or_else(|| line.to_owned())
    })
}
