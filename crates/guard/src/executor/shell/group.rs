//! The process group of one command: started without doing anything, killed as a whole, reaped
//! last.
#![expect(clippy::disallowed_methods, reason = "this is where commands are started")]

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_model::ToolErrorCategory;
use rustix::process::{Pid, Signal, kill_process_group};

use super::run::Run;
use super::session::own_session;
use crate::executor::ToolError;

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
    pub(super) fn start(&self, run: &Run) -> Result<Child, ToolError> {
        let mut state = self.state();
        if state.cancelled {
            return Err(ToolError::of(ToolErrorCategory::Cancelled, "the command was given up"));
        }
        let mut command = Command::new("/bin/sh");
        own_session(&mut command);
        let mut child = command
            .args(["-c", STARTER, "sh"])
            .args(&run.program)
            .current_dir(&run.directory)
            .env_clear()
            .envs(&run.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed("no shell can be started", &error))?;
        match pid_of(&child) {
            Ok(pid) => state.leader = Some(pid),
            Err(error) => {
                // It waits for a line that never comes, and ends.
                drop(child.stdin.take());
                let _ended = child.wait();
                return Err(error);
            }
        }
        Ok(child)
    }

    /// Kills every process of the group. Does nothing before the start and after the end.
    pub(super) fn kill(&self) {
        if let Some(leader) = self.state().leader {
            // It fails when all of them are gone already.
            let _gone = kill_process_group(leader, Signal::KILL);
        }
    }

    /// Nothing is killed any more from here on: the leader may be reaped.
    pub(super) fn close(&self) {
        self.state().leader = None;
    }
}

/// Nobody waits for the command any more: it ends.
pub(super) struct KillOnDrop(pub(super) Group);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.state().cancelled = true;
        self.0.kill();
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
