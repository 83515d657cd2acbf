use std::error::Error as _;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::command::Cli;

/// Reads the command line. Exits if it is wrong, or only asks for help.
pub(crate) fn read() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| with_number(&error).unwrap_or(error).exit())
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
