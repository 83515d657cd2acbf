//! The process group of one command: started entirely or not at all, killed as a whole, reaped
//! last.

use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_model::ToolErrorCategory;
use counterfoil_sandbox::{
    Before, Gap, Holding, Process, Program, Started, Stopped, launch, start,
};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::receipt::refused;
use super::run::{Run, Start};
use crate::ToolError;

/// A handle for killing the process group of a command while it exists.
#[derive(Debug, Clone, Default)]
pub(super) struct Group(Arc<Mutex<GroupState>>);

#[derive(Debug, Default)]
struct GroupState {
    /// The leader, from its start until it is reaped.
    leader: Option<Pid>,
    /// Whether the caller has abandoned the command.
    cancelled: bool,
}

impl Group {
    fn state(&self) -> MutexGuard<'_, GroupState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the leader. On failure, nothing was run.
    pub(super) fn start(&self, run: &Run) -> Result<Leader, ToolError> {
        // Outside the lock, because it looks at many files.
        let ready = Ready::new(run)?;
        let mut state = self.state();
        if state.cancelled {
            return Err(ToolError::new(ToolErrorCategory::Cancelled, "the command was cancelled"));
        }
        let leader = ready.start(run)?;
        state.leader = Some(leader.process.pid());
        Ok(leader)
    }

    /// Kills every process of the group. Does nothing before the start and after the end.
    pub(super) fn kill(&self) {
        if let Some(leader) = self.state().leader {
            // These fail if all processes are gone already, or there is no group yet.
            let _gone = kill_process_group(leader, Signal::KILL);
            let _gone = kill_process(leader, Signal::KILL);
        }
    }

    /// Abandons the command: it does not start, or it is killed.
    pub(super) fn cancel(&self) {
        self.state().cancelled = true;
        self.kill();
    }

    /// Disables killing, so that the leader may be reaped.
    pub(super) fn close(&self) {
        self.state().leader = None;
    }
}

/// The first process of a group.
pub(super) struct Leader {
    pub(super) process: Process,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) held: HeldTo,
}

/// What the leader is confined to, as far as known at its start.
pub(super) enum HeldTo {
    /// Everything but these gaps.
    AllBut(Vec<Gap>),
    /// The leader asks for its plan on this socket, then reports its gaps.
    Asks(UnixStream),
}

/// Everything needed to start a leader.
enum Ready<'r> {
    Bare(&'r [String]),
    Held(Holding, &'r [String]),
    /// Inside bubblewrap.
    InBubblewrap(&'r [String]),
}

impl<'r> Ready<'r> {
    fn new(run: &'r Run) -> Result<Self, ToolError> {
        let held = match &run.start {
            Start::Bare(words) => return Ok(Self::Bare(words)),
            Start::Held(held) => held,
        };
        if let Some(words) = &held.bubblewrap {
            return Ok(Self::InBubblewrap(words));
        }
        let holding = Holding::new(&held.plan, &held.kept).map_err(|stopped| unheld(&stopped))?;
        if held.plan.strict && holding.gaps.iter().any(|gap| gap.essential) {
            return Err(refused(&holding.gaps));
        }
        Ok(Self::Held(holding, &held.plan.program))
    }

    fn start(self, run: &Run) -> Result<Leader, ToolError> {
        let program =
            |words| Program { words, directory: &run.directory, environment: &run.environment };
        let (Started { process, stdout, stderr }, held) = match self {
            Self::Bare(words) => {
                let started = start(program(words), None, &Before::Limited(run.limits));
                let started =
                    started.map_err(|stopped| failed("it could not be started", &stopped))?;
                (started, HeldTo::AllBut(Vec::new()))
            }
            Self::Held(holding, words) => {
                let started = start(program(words), None, &Before::Held(&holding));
                let started = started.map_err(|stopped| unheld(&stopped))?;
                (started, HeldTo::AllBut(holding.gaps))
            }
            Self::InBubblewrap(words) => {
                let (started, socket) =
                    launch(program(words)).map_err(|stopped| unheld(&stopped))?;
                (started, HeldTo::Asks(socket))
            }
        };
        Ok(Leader { process, stdout, stderr, held })
    }
}

fn unheld(stopped: &Stopped) -> ToolError {
    failed("it could not be sandboxed", stopped)
}

/// Abandons the command when dropped.
pub(super) struct KillOnDrop(pub(super) Group);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The machine failed to run a command.
pub(super) fn failed(what: &str, error: &dyn Display) -> ToolError {
    let message = format!("the command failed to run: {what}: {error}");
    ToolError::new(ToolErrorCategory::PermanentFailure, message)
}
