//! Programs of others that can be asked without tools, servers and settings of the user.

mod claude;
mod codex;
mod gemini;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use counterfoil_judge::Prompt;
use serde_json::Value;

/// A program that is known.
pub(super) trait Preset: Send + Sync {
    /// Its name, and that of its program.
    fn name(&self) -> &'static str;
    /// The variables that it may see beside those that every program may, by how they begin.
    fn prefixes(&self) -> &'static [&'static str];
    /// Whether somebody is signed in, as far as files and variables show.
    fn is_signed_in(&self) -> bool;
    /// How it is asked in an empty folder: without tools, without servers, without what the user or a
    /// project has set.
    ///
    /// # Errors
    /// Why it cannot be.
    fn invocation(&self, asked: &Asked<'_>) -> Result<Invocation, String>;
    /// The words of the model in what the program wrote.
    ///
    /// # Errors
    /// Why there are none.
    fn reply(&self, output: &str, folder: &Path) -> Result<String, String>;
    /// What went wrong, in what it wrote before it gave up.
    fn reason(&self, output: &str, errors: &str) -> String {
        last_line(errors).or_else(|| last_line(output)).unwrap_or_default().to_owned()
    }
}

/// What is asked, of which model, and where.
pub(super) struct Asked<'a> {
    pub(super) prompt: &'a Prompt,
    /// Empty where the program chooses.
    pub(super) model: &'a str,
    pub(super) program: &'a Path,
    /// An empty folder in which it runs.
    pub(super) folder: &'a Path,
}

/// What is run.
#[derive(Default)]
pub(super) struct Invocation {
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Files that have to be there, by their place in the folder.
    pub(super) files: Vec<(&'static str, String)>,
    /// Links in the folder to files of the user that it needs to sign in.
    pub(super) links: Vec<(&'static str, PathBuf)>,
    pub(super) input: String,
}

/// The names of all, and the one for whichever is there.
#[cfg(feature = "guard")]
pub(crate) const PROGRAMS: [&str; 4] = ["claude", "codex", "gemini", "auto"];

const ALL: [&dyn Preset; 3] = [&claude::Claude, &codex::Codex, &gemini::Gemini];

/// The preset of this name.
pub(super) fn named(name: &str) -> Option<&'static dyn Preset> {
    ALL.into_iter().find(|preset| preset.name() == name)
}

/// The first program that is installed and signed in.
pub(super) fn installed() -> Option<&'static dyn Preset> {
    ALL.into_iter().find(|preset| found(preset.name()).is_some() && preset.is_signed_in())
}

/// The program of this name on the path.
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

/// A member of the JSON object that a program wrote.
fn member(output: &str, names: &[&str]) -> Result<String, String> {
    let value: Value = serde_json::from_str(output.trim())
        .map_err(|error| format!("what it wrote is no JSON: {error}"))?;
    let found = names.iter().find_map(|name| value.get(*name).filter(|v| !v.is_null()));
    match found {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value) => Ok(value.to_string()),
        None => Err("what it wrote has no reply".to_owned()),
    }
}
