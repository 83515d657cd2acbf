//! Judges that are other programs: each reads a question and writes the reply.
//!
//! A [`ProgramJudge`] runs in an empty folder, in a process group of its own, with a time limit. Of
//! the environment, a known program sees only what it needs. Deliberately not here: the question, and
//! what a reply is worth (`counterfoil-judge`).
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![allow(
    clippy::disallowed_methods,
    reason = "it writes the judge's files and runs the judge's program"
)]

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

pub use self::preset::PROGRAMS;
mod preset;

use counterfoil_judge::{Judge, Prompt, Reply};

use self::preset::{Invocation, Preset, Question, found};

/// The maximum length of a reply, in bytes.
const LONGEST: u64 = 2_000_000;
/// The interval between checks whether a program has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Environment variables that every program may see. It sees no others, except those that its
/// preset names.
const SHARED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SystemRoot",
    "USERPROFILE",
    "APPDATA",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
];

/// A judge that is a program: it gets instructions and question, and its output is the reply.
#[derive(Debug)]
pub struct ProgramJudge {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
    preset: Option<(&'static dyn Preset, String)>,
    time: Duration,
}

/// Why a program cannot be a judge.
#[derive(Debug, thiserror::Error)]
pub enum NotStarted {
    /// The command has no words.
    #[error("the judge's command is empty")]
    Empty,
    /// A known program is not on `PATH`.
    #[error("`{0}` is not installed")]
    NotInstalled(&'static str),
}

impl ProgramJudge {
    /// Creates a judge from a user's command, which gets the whole question on standard input.
    ///
    /// # Errors
    /// Returns an error if the command is empty.
    pub fn command(command: &[String], time: Duration) -> Result<Self, NotStarted> {
        let (program, arguments) = command.split_first().ok_or(NotStarted::Empty)?;
        let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: name.into_owned(),
            program: PathBuf::from(program),
            arguments: arguments.to_vec(),
            preset: None,
            time,
        })
    }

    /// Creates a judge from one of [`PROGRAMS`], which runs without the user's tools, servers and
    /// settings. Returns `None` if it is none of them. If `model` is empty, the program chooses one.
    ///
    /// # Errors
    /// Returns an error if the program is not installed.
    pub fn known(name: &str, model: &str, time: Duration) -> Result<Option<Self>, NotStarted> {
        preset::named(name).map(|preset| Self::preset(preset, model, time)).transpose()
    }

    /// Creates a judge from the first known program that is installed and signed in.
    #[must_use]
    pub fn installed(model: &str, time: Duration) -> Option<Self> {
        Self::preset(preset::installed()?, model, time).ok()
    }

    fn preset(
        preset: &'static dyn Preset,
        model: &str,
        time: Duration,
    ) -> Result<Self, NotStarted> {
        let name = preset.name();
        let program = found(name).ok_or(NotStarted::NotInstalled(name))?;
        Ok(Self {
            name: match model {
                "" => name.to_owned(),
                model => format!("{name}/{model}"),
            },
            program,
            arguments: Vec::new(),
            preset: Some((preset, model.to_owned())),
            time,
        })
    }

    fn reply_to(&self, prompt: &Prompt, folder: &Path) -> Result<String, String> {
        let invocation = match &self.preset {
            Some((preset, model)) => {
                let program = self.program.as_path();
                preset.invocation(&Question { prompt, model, program, folder })?
            }
            None => Invocation {
                arguments: self.arguments.clone(),
                input: prompt.whole(),
                ..Invocation::default()
            },
        };
        place(&invocation, folder).map_err(|error| format!("cannot create its files: {error}"))?;
        let mut command = Command::new(&self.program);
        command
            .args(&invocation.arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some((preset, _)) = &self.preset {
            command.env_clear().envs(variables(preset.prefixes()));
        }
        command.envs(invocation.variables.iter().map(|(name, path)| (name, path)));
        let ran = run(command, &invocation.input, self.time)?;
        match (&self.preset, ran.status.success()) {
            (Some((preset, _)), true) => preset.reply(&ran.output, folder),
            (None, true) => Ok(ran.output),
            (preset, false) => {
                let last = || ran.errors.lines().last().unwrap_or_default().to_owned();
                let preset = preset.as_ref().map(|(preset, _)| preset);
                let why = preset.map_or_else(last, |p| p.reason(&ran.output, &ran.errors));
                let why: String = why.chars().take(200).collect();
                Err(format!("failed with {}: {why}", ran.status))
            }
        }
    }
}

impl Judge for ProgramJudge {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&self, prompt: &Prompt) -> Result<Reply, String> {
        let folder =
            Folder::new().map_err(|error| format!("cannot create a temporary folder: {error}"))?;
        let reply = self.reply_to(prompt, &folder.0);
        let text = reply.map_err(|why| format!("`{}`: {why}", self.name))?;
        Ok(Reply { text, tokens: 0 })
    }
}

fn variables(prefixes: &[&str]) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let kept = |name: &str| {
        SHARED.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(kept)).collect()
}

/// Creates the files and links that a program needs.
fn place(invocation: &Invocation, folder: &Path) -> io::Result<()> {
    let ready = |name: &str| {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all).map(|()| path)
    };
    for (name, text) in &invocation.files {
        fs::write(ready(name)?, text)?;
    }
    for (name, original) in &invocation.links {
        #[cfg(unix)]
        std::os::unix::fs::symlink(original, ready(name)?)?;
        #[cfg(not(unix))]
        fs::copy(original, ready(name)?).map(drop)?;
    }
    Ok(())
}

/// The output and exit status of a program.
struct RanProgram {
    status: std::process::ExitStatus,
    output: String,
    errors: String,
}

/// Runs a program until it ends.
fn run(mut command: Command, input: &str, time: Duration) -> Result<RanProgram, String> {
    own_group(&mut command);
    let mut child =
        command.spawn().map_err(|error| format!("cannot start the program: {error}"))?;
    let stdin = child.stdin.take();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            // A program may stop reading early; its reply shows whether that matters.
            stdin.map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()))
        });
        let reading = scope.spawn(move || whole(out));
        let complaining = scope.spawn(move || whole(err));
        let ended = wait(&mut child, time);
        let output = reading.join().unwrap_or_default();
        let errors = complaining.join().unwrap_or_default();
        _ = writing.join();
        match ended {
            Ok(Some(status)) => Ok(RanProgram { status, output, errors }),
            Ok(None) => Err(format!("no reply within {} s", time.as_secs())),
            Err(error) => Err(format!("cannot wait for the program: {error}")),
        }
    })
}

/// Reads a pipe as text, up to the maximum length of a reply.
fn whole(pipe: Option<impl io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        _ = pipe.take(LONGEST).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for the program; returns its status, or `None` if it was killed at the time limit.
fn wait(child: &mut Child, time: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            stop_group(child);
            return Ok(Some(status));
        }
        if begun.elapsed() >= time {
            stop_group(child);
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Kills the processes that the program left behind, because they may hold the pipes open.
#[cfg(unix)]
fn stop_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Fails if there are none.
        _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn stop_group(_: &Child) {}

/// An empty folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let mut bytes = [0_u8; 8];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let name = u64::from_ne_bytes(bytes);
        let path = env::temp_dir().join(format!("counterfoil-judge-{name:016x}"));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}
