//! Known programs that can be asked without the user's tools, servers and settings.

mod claude;
mod codex;
mod gemini;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use counterfoil_judge::Prompt;
use serde_json::Value;

/// A known program.
pub(super) trait Preset: Send + Sync {
    /// Its name and that of its executable.
    fn name(&self) -> &'static str;
    /// Prefixes of the variables it may see, in addition to those for every program.
    fn prefixes(&self) -> &'static [&'static str];
    /// Whether a user is signed in, judging by files and variables.
    fn is_signed_in(&self) -> bool;
    /// Returns how to run it in an empty folder, without tools, servers or settings of the user or
    /// a project.
    ///
    /// # Errors
    /// Returns the reason if that is not possible.
    fn invocation(&self, asked: &Asked<'_>) -> Result<Invocation, String>;
    /// Extracts the model's reply from the program's output.
    ///
    /// # Errors
    /// Returns the reason if there is no reply.
    fn reply(&self, output: &str, folder: &Path) -> Result<String, String>;
    /// Extracts the reason from the output of a failed program.
    fn reason(&self, output: &str, errors: &str) -> String {
        last_line(errors).or_else(|| last_line(output)).unwrap_or_default().to_owned()
    }
}

/// A question, its model, and where to run.
pub(super) struct Asked<'a> {
    pub(super) prompt: &'a Prompt,
    /// Empty to let the program choose.
    pub(super) model: &'a str,
    pub(super) program: &'a Path,
    /// The empty folder in which it runs.
    pub(super) folder: &'a Path,
}

/// How to run a program.
#[derive(Default)]
pub(super) struct Invocation {
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Files to create in the folder, by path.
    pub(super) files: Vec<(&'static str, String)>,
    /// Links in the folder to files of the user that it needs to sign in.
    pub(super) links: Vec<(&'static str, PathBuf)>,
    pub(super) input: String,
}

/// The names of all programs, and `auto` for any that is available.
#[cfg(feature = "guard")]
pub(crate) const PROGRAMS: [&str; 4] = ["claude", "codex", "gemini", "auto"];

const ALL: [&dyn Preset; 3] = [&claude::Claude, &codex::Codex, &gemini::Gemini];

/// Returns the preset with this name.
pub(super) fn named(name: &str) -> Option<&'static dyn Preset> {
    ALL.into_iter().find(|preset| preset.name() == name)
}

/// The first program that is installed and signed in.
pub(super) fn installed() -> Option<&'static dyn Preset> {
    ALL.into_iter().find(|preset| found(preset.name()).is_some() && preset.is_signed_in())
}

/// Finds a program on `PATH`.
pub(super) fn found(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

fn home() -> Option<PathBuf> {
    env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

fn is_set(names: &[&str]) -> bool {
    names.iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|word| (*word).to_owned()).collect()
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().rfind(|line| !line.trim().is_empty())
}

/// Returns a member of the JSON object that a program wrote.
fn member(output: &str, names: &[&str]) -> Result<String, String> {
    let value: Value = serde_json::from_str(output.trim())
        .map_err(|error| format!("its output is not JSON: {error}"))?;
    let found = names.iter().find_map(|name| value.get(*name).filter(|v| !v.is_null()));
    match found {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value) => Ok(value.to_string()),
        None => Err("its output has no reply".to_owned()),
    }
}
