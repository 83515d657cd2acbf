//! Shell input that tries to get past the blocklist. None of it may run or be left to a person's
//! approval, whether substitutions are refused or analysed.

use anyhow::Result;
use serde_json::json;

use super::bench::{Bench, rows};
use super::{Attempt, Held};

const HOSTILE: &str = include_str!("../../../spec/shell/hostile.md");

pub(super) fn attempt(bench: &Bench) -> Result<Vec<Attempt>> {
    let mut attempts = Vec::new();
    for mode in ["refuse", "analyse"] {
        let settings = format!("[tools.blocklist]\nsubstitution = \"{mode}\"\n");
        let settings = bench.write("settings.toml", settings)?.display().to_string();
        for command in rows(HOSTILE) {
            let command = command.replace("/home/dev", &bench.home().display().to_string());
            let arguments = json!({ "command": command }).to_string();
            let explain = ["--config", &settings, "policy", "explain", "--tool", "shell"];
            let rest = ["--args", &arguments, "--format", "json"];
            let ran = bench.run(&[&explain[..], &rest].concat(), "")?;
            let held = ran.json().get("verdict").is_some_and(|verdict| verdict == "deny");
            attempts
                .push(Attempt::new(format!("{mode}: {command}"), Held::when(held, || ran.shown())));
        }
    }
    Ok(attempts)
}
