//! The binary: the only crate that prints, reads the environment and files, or exits.
//!
//! Wiring only. Start with `command/mod.rs`, the table of commands.
#![expect(
    clippy::disallowed_methods,
    reason = "the command line is the part that reads files and the environment"
)]
#![cfg_attr(
    not(feature = "guard"),
    expect(
        dead_code,
        reason = "some code that both builds contain is used only by the guard's commands"
    )
)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod agents;
#[cfg(feature = "guard")]
mod approver;
#[cfg(feature = "guard")]
mod call_choices;
mod catalog;
mod choices;
mod command;
mod command_line;
mod config;
#[cfg(feature = "guard")]
mod conversation;
mod exit;
mod files;
mod global;
#[cfg(feature = "guard")]
mod guard;
mod inputs;
mod judge;
mod log;
mod outputs;
#[cfg(feature = "guard")]
mod provider;
#[cfg(feature = "guard")]
mod questions;
#[cfg(feature = "guard")]
mod reload;
mod replace;
mod rule_names;
#[cfg(feature = "guard")]
mod servers;
#[cfg(feature = "guard")]
mod settings_file;
#[cfg(feature = "guard")]
mod signals;
#[cfg(feature = "guard")]
mod skills;
#[cfg(feature = "guard")]
mod spans;
#[cfg(feature = "guard")]
mod state;
mod suggest;
#[cfg(feature = "guard")]
mod surroundings;
mod tables;
mod terminal;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::exit::Exit;

fn main() -> ExitCode {
    #[cfg(all(feature = "guard", target_os = "linux"))]
    if std::env::args_os().nth(1).is_some_and(|word| word == guard::CONFINE) {
        return match std::env::args_os().nth(2) {
            Some(word) if word == guard::NAMESPACE => counterfoil_sandbox::try_user_namespace(),
            _ => {
                let words = std::env::args_os().skip(2);
                let words = words.map(|word| word.to_string_lossy().into_owned());
                counterfoil_sandbox::run_confined(&words.collect::<Vec<_>>())
            }
        }
        .into();
    }
    // A panic is our fault, not that of the input, so it has an exit code of its own.
    let outcome = std::panic::catch_unwind(|| {
        // Environment variables set flags, but flags alone are not a command.
        if std::env::args_os().nth(1).is_none() {
            return command::help();
        }
        command::run(command_line::read())
    });
    match outcome {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => match exit::report(&error, &mut io::stderr().lock()) {
            Ok(exit) => exit.into(),
            Err(_) => Exit::Input.into(),
        },
        Err(_) => {
            let _ = writeln!(
                io::stderr(),
                "\nthis is a bug in counterfoil: please report it with the message above"
            );
            Exit::Internal.into()
        }
    }
}
