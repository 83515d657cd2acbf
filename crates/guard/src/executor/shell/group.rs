//! The process group of one command: started without doing anything, killed as a whole, reaped
//! last.
#![expect(clippy::disallowed_methods, reason = "this is where commands are started")]

use std::io;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_model::ToolErrorCategory;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::run::{Run, Start};
use super::session::own_session;
use crate::executor::ToolError;
use crate::sandbox::launch;

/// Waits until it may start, gives up its standard input, and becomes the command.
const STARTER: &str = "IFS= read -r _ || exit 125; exec \"$@\" </dev/null";

/// The process group of a command: who may kill it, and until when.
#[derive(Debug, Clone, Default)]
pub(super) struct Group(Arc<Mutex<GroupState>>);

#[derive(Debug, Default)]
struct GroupState {
    /// The leader, from its start until it is reaped.
    leader: Option<Pid>,
    /// Nobody waits for it any more.
    cancelled: bool,
}

impl Group {
    fn state(&self) -> MutexGuard<'_, GroupState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the leader. It does nothing before it is told to.
    pub(super) fn start(&self, run: &Run) -> Result<(Child, Cue), ToolError> {
        let mut state = self.state();
        if state.cancelled {
            return Err(ToolError::of(ToolErrorCategory::Cancelled, "the command was given up"));
        }
        let (mut command, socket) = match &run.start {
            Start::Bare(program) => {
                let mut command = Command::new("/bin/sh");
                own_session(&mut command);
                command.args(["-c", STARTER, "sh"]).args(program).env_clear().stdin(Stdio::piped());
                (command, None)
            }
            Start::Held(held) => {
                let (command, socket) = launch(&held.words, held.own_group)
                    .map_err(|error| failed("it cannot be confined", &error))?;
                (command, Some(socket))
            }
        };
        let mut child = command
            .current_dir(&run.directory)
            .envs(&run.environment)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed("no shell can be started", &error))?;
        // INVARIANT: until it has been told to, it only waits for a cue on its input.
        let cue = match (socket, child.stdin.take()) {
            (Some(socket), _) => Cue::Plan(socket),
            (None, Some(pipe)) => Cue::Line(pipe),
            (None, None) => Cue::Nothing,
        };
        match pid_of(&child) {
            Ok(pid) => state.leader = Some(pid),
            Err(error) => {
                // It waits for a line that never comes, and ends.
                drop(cue);
                let _ended = child.wait();
                return Err(error);
            }
        }
        Ok((child, cue))
    }

    /// Kills every process of the group. Does nothing before the start and after the end.
    pub(super) fn kill(&self) {
        if let Some(leader) = self.state().leader {
            // They fail when all of them are gone already, or there is no group yet.
            let _gone = kill_process_group(leader, Signal::KILL);
            let _gone = kill_process(leader, Signal::KILL);
        }
    }

    /// Nobody waits for it any more: it does not start, or it ends.
    pub(super) fn cancel(&self) {
        self.state().cancelled = true;
        self.kill();
    }

    /// Nothing is killed any more from here on: the leader may be reaped.
    pub(super) fn close(&self) {
        self.state().leader = None;
    }
}

/// The way to tell a leader that it may start.
pub(super) enum Cue {
    /// A line.
    Line(ChildStdin),
    /// A plan, which is answered.
    Plan(UnixStream),
    /// There is none.
    Nothing,
}

/// Nobody waits for the command any more: it ends.
pub(super) struct KillOnDrop(pub(super) Group);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The id of a child that is not reaped yet.
pub(super) fn pid_of(child: &Child) -> Result<Pid, ToolError> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| {
        ToolError::of(ToolErrorCategory::PermanentFailure, "the command has no process id")
    })
}

/// The machine failed to run a command.
pub(super) fn failed(what: &str, error: &io::Error) -> ToolError {
    let message = format!("the command failed to run: {what}: {error}");
    ToolError::of(ToolErrorCategory::PermanentFailure, message)
}
