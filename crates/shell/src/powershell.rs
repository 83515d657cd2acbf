//! PowerShell, written as the shell commands that do the same, so that everything that judges a shell
//! command judges it too.
//!
//! `Remove-Item -Recurse ~\notes` becomes `rm -r "$HOME"/'notes'`, with the command as it was written
//! on a line before. Loops, conditions and blocks become the commands in them, one after the other.
//! `powershell/commands.txt` says which command becomes which; all others keep their names.

mod expression;
mod names;
mod reader;
mod stage;
mod word;

use crate::NotAnalysable;
use crate::script::check_text;
use names::Names;
use reader::Reader;

/// Whether a tool of this name takes PowerShell.
#[must_use]
pub fn takes_powershell(tool: &str) -> bool {
    let name = tool.to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| Names::own().tools.iter().any(|tool| tool == word))
}

/// The shell script that does what this PowerShell does. What is only known when it runs is the
/// variable `unknown` there.
///
/// # Errors
/// What is not known to be PowerShell, or is too long or nested too deeply.
pub fn powershell_as_shell(text: &str) -> Result<String, NotAnalysable> {
    check_text(text)?;
    let mut reader = Reader::new(text, 0);
    reader.statements(None)?;
    Ok(reader.lines.join("\n"))
}
