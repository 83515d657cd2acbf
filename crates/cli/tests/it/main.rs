//! The binary as its users see it: help, wrong flags, broken files, exit codes, formats.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the binary is run, on files written for it")]

mod approve;
mod audit;
mod bundle;
mod bundle_numbers;
mod chat;
mod check;
mod check_judge;
mod config;
mod config_keys;
mod doctor;
mod doors;
mod examples;
mod exports;
mod fk_rows;
mod help;
mod hook;
mod hook_install;
mod hook_status;
mod judge;
mod mcp;
mod on_a_terminal;
mod policy;
mod proxy;
mod rehearsal;
mod run;
mod sandbox;
mod scheduler;
mod serve;
mod server;
mod shared_ledger;
mod skills;
mod steady;
mod undo;
mod validate;
mod witness;

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// A folder with files, in which the binary runs.
pub(crate) struct Desk {
    folder: TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Desk {
    /// Creates a desk with these files; a `counterfoil.toml` is trusted, like a decision of the
    /// user.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let desk = Self::of_a_stranger(files);
        if desk.path().join("counterfoil.toml").exists() {
            desk.trust();
        }
        desk
    }

    /// Trusts the present `counterfoil.toml`, like `counterfoil trust`.
    pub(crate) fn trust(&self) {
        let path = self.path().join("counterfoil.toml").canonicalize().unwrap();
        let digest = counterfoil_model::Digest::of_bytes(&std::fs::read(&path).unwrap());
        let list = self.path().join("home/.config/counterfoil");
        std::fs::create_dir_all(&list).unwrap();
        std::fs::write(list.join("trusted"), format!("{digest} {}\n", path.display())).unwrap();
    }

    /// Creates a desk with these files, none of which the user has trusted.
    pub(crate) fn of_a_stranger(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_with(line, "")
    }

    /// Runs the binary with these environment variables.
    pub(crate) fn run_in(&self, variables: &[(&str, &str)], line: &str) -> Ran {
        self.spawn(variables, &line.split_whitespace().collect::<Vec<_>>(), "")
    }

    /// Runs the binary with arguments separated by spaces, and with this standard input.
    pub(crate) fn run_with(&self, line: &str, input: &str) -> Ran {
        self.spawn(&[], &line.split_whitespace().collect::<Vec<_>>(), input)
    }

    /// Runs the binary on these arguments, with these variables and this standard input.
    pub(crate) fn spawn(&self, variables: &[(&str, &str)], arguments: &[&str], input: &str) -> Ran {
        let program = Path::new(env!("CARGO_BIN_EXE_counterfoil"));
        self.spawn_program(program, variables, arguments, input)
    }

    /// Like [`Desk::spawn`], with a copy of the binary.
    pub(crate) fn spawn_program(
        &self,
        program: &Path,
        variables: &[(&str, &str)],
        arguments: &[&str],
        input: &str,
    ) -> Ran {
        let start = || {
            Command::new(program)
                .args(arguments)
                .current_dir(self.path())
                .env_clear()
                .env("HOME", self.path().join("home"))
                .envs(variables.iter().copied())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        };
        // A copy cannot run while a process started by another test has it open for writing.
        let mut child = loop {
            match start() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                started => break started.unwrap(),
            }
        };
        // A command that does not read its input has closed the pipe.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n{}", self.code, self.out)?;
        if self.err.is_empty() { Ok(()) } else { write!(f, "--- stderr\n{}", self.err) }
    }
}
