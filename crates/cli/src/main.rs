//! The one binary: the only place that prints, reads the environment and files, or exits.
//!
//! Wiring only. Start with `command/mod.rs`, the table of commands.
#![expect(
    clippy::disallowed_methods,
    reason = "the command line is where files and the environment are read"
)]

mod agents;
mod approver;
mod catalog;
mod choices;
mod command;
mod config;
mod conversation;
mod exit;
mod files;
mod guard;
mod inputs;
mod log;
mod outputs;
mod provider;
mod questions;
mod reload;
mod replace;
mod rule_names;
mod settings_file;
mod signals;
mod skills;
mod spans;
mod state;
mod suggest;
mod surroundings;
mod terminal;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::exit::Exit;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|word| word == guard::CONFINE) {
        return match std::env::args_os().nth(2) {
            Some(word) if word == guard::NAMESPACE => counterfoil_guard::try_user_namespace(),
            _ => {
                let words = std::env::args_os().skip(2);
                let words = words.map(|word| word.to_string_lossy().into_owned());
                counterfoil_guard::run_confined(&words.collect::<Vec<_>>())
            }
        }
        .into();
    }
    // A panic is a fault of ours, not of the input: it has its own exit code and says so.
    let outcome = std::panic::catch_unwind(|| {
        // Variables stand for flags, and flags alone are no command.
        if std::env::args_os().nth(1).is_none() {
            return command::help();
        }
        command::run(command::Cli::parse())
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
                "\nthis is a fault of counterfoil itself: please report it with the message above"
            );
            Exit::Internal.into()
        }
    }
}
