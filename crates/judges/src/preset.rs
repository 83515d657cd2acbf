//! Known programs that can be asked without the user's tools, servers and settings.

mod claude;
mod codex;
mod gemini;
mod invocation;

use std::env;
use std::path::PathBuf;

pub(super) use invocation::{Invocation, Preset, Question};

/// The names of the known programs.
pub const PROGRAMS: [&str; 3] = ["claude", "codex", "gemini"];

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
