//! Runs a command that tries to break out of the sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use counterfoil_guard::{SessionStart, Surroundings, TrustLevel};
use counterfoil_model::{Arguments, Status, ToolCall};
use serde_json::json;

use super::check::Check;
use crate::config::Options;
use crate::guard::Making;

const NAME: &str = "trial";

/// The command: one permitted action, and three forbidden ones.
const COMMAND: &str = "echo x > inside; echo x > ../outside/written; cat ../outside/secret; \
                       head -c 1 /proc/1/environ > /dev/null && echo reached";
const SECRET: &str = "the-secret-of-the-trial";

pub(super) fn check(options: &Options) -> Check {
    match attempt(options) {
        Ok(broken) if broken.is_empty() => Check::ok(
            NAME,
            "a test command could write to its workspace and could not reach anything outside it",
        ),
        Ok(broken) => Check::fail(
            NAME,
            format!("a test command {}", broken.join(", ")),
            "see the other checks, or set `strict = true` in [tools.sandbox] to refuse such \
             commands",
        ),
        Err(error) => Check::fail(NAME, format!("{error:#}"), "see the other checks"),
    }
}

/// Returns what the command could do but should not, or could not do but should.
fn attempt(options: &Options) -> anyhow::Result<Vec<&'static str>> {
    let folder = Folder::new()?;
    let workspace = folder.0.join("workspace");
    fs::create_dir(&workspace)?;
    fs::create_dir(folder.0.join("outside"))?;
    fs::write(folder.0.join("outside/secret"), SECRET)?;
    let making = Making { workspace: Some(workspace.clone()), ..Making::new(options) };
    let guard = making.guard()?;
    let environment: BTreeMap<String, String> =
        std::env::vars().filter(|(name, _)| matches!(name.as_str(), "HOME" | "PATH")).collect();
    let trust = TrustLevel::Trusted;
    let session = guard.session(SessionStart { trust, environment, ..SessionStart::default() })?;
    let call = ToolCall {
        id: String::new(),
        tool: "shell".to_owned(),
        arguments: Arguments::raw(json!({ "command": COMMAND }).to_string()),
        line: 0,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(session.call(call, Surroundings::default()))?;
    runtime.block_on(session.end())?;
    let mut broken = Vec::new();
    if !answer.status.ran() || answer.status == Status::Timeout {
        anyhow::bail!("commands cannot run: {}", answer.text.lines().next().unwrap_or_default());
    }
    if !workspace.join("inside").exists() {
        broken.push("could not write to its workspace");
    }
    if folder.0.join("outside/written").exists() {
        broken.push("wrote outside its workspace");
    }
    if answer.text.contains(SECRET) {
        broken.push("read outside its workspace");
    }
    if answer.text.contains("reached") {
        broken.push("read the memory of another process");
    }
    Ok(broken)
}

/// A temporary folder for the trial.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Self> {
        let base = std::env::temp_dir();
        let folder = base.join(format!("counterfoil-doctor-{}", std::process::id()));
        // Fails if the folder exists, so no one can have prepared it.
        fs::create_dir(&folder)
            .with_context(|| format!("cannot create a folder in {}", Path::display(&base)))?;
        Ok(Self(folder.canonicalize()?))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}
