use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use counterfoil_judge::Prompt;
use serde_json::Value;

/// A known program.
pub(crate) trait Preset: std::fmt::Debug + Send + Sync {
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
    fn invocation(&self, question: &Question<'_>) -> Result<Invocation, String>;
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
pub(crate) struct Question<'a> {
    pub(crate) prompt: &'a Prompt,
    /// Empty to let the program choose.
    pub(crate) model: &'a str,
    pub(crate) program: &'a Path,
    /// The empty folder in which it runs.
    pub(crate) folder: &'a Path,
}

/// How to run a program.
#[derive(Default)]
pub(crate) struct Invocation {
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// Files to create in the folder, by path.
    pub(crate) files: Vec<(&'static str, String)>,
    /// Links in the folder to files of the user that it needs to sign in.
    pub(crate) links: Vec<(&'static str, PathBuf)>,
    pub(crate) input: String,
}

pub(super) fn home() -> Option<PathBuf> {
    env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

pub(super) fn is_set(names: &[&str]) -> bool {
    names.iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

pub(super) fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|word| (*word).to_owned()).collect()
}

pub(super) fn last_line(text: &str) -> Option<&str> {
    text.lines().rfind(|line| !line.trim().is_empty())
}

/// Returns a member of the JSON object that a program wrote.
pub(super) fn member(output: &str, names: &[&str]) -> Result<String, String> {
    let value: Value = serde_json::from_str(output.trim())
        .map_err(|error| format!("its output is not JSON: {error}"))?;
    let found = names.iter().find_map(|name| value.get(*name).filter(|v| !v.is_null()));
    match found {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value) => Ok(value.to_string()),
        None => Err("its output has no reply".to_owned()),
    }
}
