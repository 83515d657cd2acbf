use std::error::Error as _;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::command::Cli;
use crate::suggest::did_you_mean;

/// Reads the command line. Exits if it is wrong, or only asks for help.
pub(crate) fn read() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let clearer = with_number(&error);
        let clearer = clearer.or_else(|| with_dashes(&error, std::env::args().collect()));
        clearer.unwrap_or(error).exit()
    })
}

/// Says where the command of an MCP server belongs.
fn with_dashes(error: &clap::Error, words: Vec<String>) -> Option<clap::Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let at = words.iter().position(|known| known == word)?;
    let of_mcp = words.get(at.checked_sub(1)?)? == "mcp";
    if error.kind() != ErrorKind::UnknownArgument || !of_mcp || word.starts_with('-') {
        return None;
    }
    let tip = match did_you_mean(word, ["inspect", "install", "uninstall"]) {
        Some(meant) => meant,
        None => {
            let command: Vec<&str> = words.iter().skip(at).map(String::as_str).collect();
            let command = command.join(" ");
            format!("write `--` before a server's command: `counterfoil mcp -- {command}`")
        }
    };
    let message = format!(
        "`counterfoil mcp` has no command `{word}`\n\n  tip: {tip}\n\nFor more information, try \
         '--help'.\n"
    );
    Some(clap::Error::raw(ErrorKind::UnknownArgument, message))
}

/// Says which number is expected, instead of how its digits were read.
fn with_number(error: &clap::Error) -> Option<clap::Error> {
    let source = error.source()?;
    let expected = match source.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "a smaller number",
        Some(_) => "a whole number",
        None if source.is::<ParseFloatError>() => "a number",
        None => return None,
    };
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let option = text(ContextKind::InvalidArg)?.split(' ').next()?;
    let value = text(ContextKind::InvalidValue)?;
    let message = format!(
        "`{option}` takes {expected}, got `{value}`\n\nFor more information, try '--help'.\n"
    );
    Some(clap::Error::raw(ErrorKind::ValueValidation, message))
}
