//! What holds a process, made ready before the process is there.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use seccompiler::{BpfProgram, apply_filter};

use super::super::{Gap, Limits, Plan, Profile};
use super::step::{Step, Stopped};
use super::{files, privileges, raw, syscalls};

/// Everything that holds a process to a plan.
#[derive(Debug)]
pub(crate) struct Holding {
    identity: Option<(u32, u32)>,
    limits: Limits,
    /// `None` where the kernel has no Landlock.
    ruleset: Option<OwnedFd>,
    /// None where the kernel filters no system calls.
    filters: Vec<BpfProgram>,
    /// What this machine cannot hold.
    pub(crate) gaps: Vec<Gap>,
    /// The version of Landlock; 0 when there is none.
    pub(crate) landlock: u32,
}

impl Holding {
    pub(crate) fn of(plan: &Plan) -> Result<Self, Stopped> {
        let (ruleset, landlock) = files::ruleset(plan)
            .map_err(|error| Step::Landlock.stopped(io::Error::other(error)))?;
        let mut gaps = files::gaps(landlock, plan);
        gaps.extend(remainders(plan));
        let filters = match raw::can_filter() {
            Ok(()) => syscalls::filters(plan).map_err(|error| Step::Seccomp.stopped(error))?,
            Err(error) => {
                let what =
                    "the network, other processes and the kernel's interfaces can be reached";
                let why = format!("{what}: system calls cannot be filtered: {error}");
                gaps.push(Gap::essential(why));
                Vec::new()
            }
        };
        let (identity, limits) = (plan.identity, plan.limits);
        Ok(Self { identity, limits, ruleset, filters, gaps, landlock })
    }

    /// Whether system calls are filtered.
    pub(crate) fn filters(&self) -> bool {
        !self.filters.is_empty()
    }

    /// Holds this process, which `parent` started, from here on.
    ///
    /// INVARIANT: system calls and nothing else, for the process may live in somebody else's
    /// memory. What is not an error holds.
    pub(super) fn enter(&self, parent: Option<Pid>) -> Result<(), Stopped> {
        raw::close_on_exec().map_err(|error| Step::Files.stopped(error))?;
        privileges::drop(self.identity).map_err(|error| Step::Privileges.stopped(error))?;
        self.limits.apply().map_err(|error| Step::Limits.stopped(error))?;
        end_with(parent).map_err(|error| Step::Parent.stopped(error))?;
        if let Some(ruleset) = &self.ruleset {
            raw::restrict_to(ruleset.as_fd()).map_err(|error| Step::Landlock.stopped(error))?;
        }
        for filter in &self.filters {
            // What it says itself would have to be put into words, which takes memory.
            apply_filter(filter).map_err(|_| Step::Seccomp.stopped(io::Error::last_os_error()))?;
        }
        Ok(())
    }
}

/// Ends with whoever started it. Forgotten when the user changes, so it comes afterwards.
fn end_with(parent: Option<Pid>) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may be gone already.
    if parent.is_some() && getppid() != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// What no part of this can hold.
fn remainders(plan: &Plan) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !plan.own_namespaces {
        if plan.profile != Profile::ReadOnly {
            gaps.push(Gap::remainder(
                "modes, owners and times of files outside the workspace can be changed, where \
                 their owner runs it",
            ));
        }
        if plan.profile == Profile::Network || plan.unix_sockets {
            gaps.push(Gap::remainder(
                "sockets of other programs on this machine can be reached by their paths",
            ));
        }
    }
    gaps
}
