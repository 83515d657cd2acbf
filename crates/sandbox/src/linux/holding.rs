//! Prepares the restrictions of a process before it is created.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use seccompiler::{BpfProgram, apply_filter};

use super::super::{Gap, Limits, Plan, Profile};
use super::files::{self, Ruleset};
use super::kept::Kept;
use super::step::{Step, Stopped};
use super::{privileges, raw};

/// The restrictions of a plan, ready to apply.
#[derive(Debug)]
pub struct Holding {
    identity: Option<(u32, u32)>,
    limits: Limits,
    ruleset: Arc<Ruleset>,
    /// Empty if the kernel cannot filter system calls.
    filters: Arc<[BpfProgram]>,
    /// What this machine cannot enforce.
    pub gaps: Vec<Gap>,
}

impl Holding {
    /// Prepares the restrictions of this plan; keeps what later commands can reuse.
    ///
    /// # Errors
    /// When this machine fails to prepare them; the error names the step.
    pub fn new(plan: &Plan, kept: &Kept) -> Result<Self, Stopped> {
        let ruleset = kept.ruleset(plan)?;
        let mut gaps = files::gaps(ruleset.version, plan);
        gaps.extend(remainders(plan));
        let filters = match raw::can_filter() {
            Ok(()) => kept.filters(plan)?,
            Err(error) => {
                let what = "the network, other processes and kernel interfaces are accessible";
                let why = format!("{what}, because system calls cannot be filtered: {error}");
                gaps.push(Gap::essential(why));
                Arc::default()
            }
        };
        Ok(Self { identity: plan.identity, limits: plan.limits, ruleset, filters, gaps })
    }

    /// The version of Landlock in use; 0 if there is none.
    pub(crate) fn landlock(&self) -> u32 {
        self.ruleset.version
    }

    /// Whether system calls are filtered.
    pub(crate) fn filters(&self) -> bool {
        !self.filters.is_empty()
    }

    /// Applies the restrictions to this process, which `parent` started.
    ///
    /// INVARIANT: makes only system calls, because the process may run in another process's memory.
    /// If it returns no error, the restrictions are in force.
    pub(super) fn enter(&self, parent: Option<Pid>) -> Result<(), Stopped> {
        raw::close_on_exec().map_err(|error| Step::Files.stopped(error))?;
        privileges::drop(self.identity).map_err(|error| Step::Privileges.stopped(error))?;
        self.limits.apply().map_err(|error| Step::Limits.stopped(error))?;
        end_with(parent).map_err(|error| Step::Parent.stopped(error))?;
        if let Some(ruleset) = &self.ruleset.file {
            raw::restrict_to(ruleset.as_fd()).map_err(|error| Step::Landlock.stopped(error))?;
        }
        for filter in self.filters.iter() {
            // Formatting the filter's own error would allocate.
            apply_filter(filter).map_err(|_| Step::Seccomp.stopped(io::Error::last_os_error()))?;
        }
        Ok(())
    }
}

/// Makes this process end with its parent. A change of user resets this, so it comes later.
fn end_with(parent: Option<Pid>) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may be gone already.
    if parent.is_some() && getppid() != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Gaps that remain even with every restriction in force.
fn remainders(plan: &Plan) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !plan.own_namespaces {
        if plan.profile != Profile::ReadOnly {
            gaps.push(Gap::remainder(
                "if the user that the command runs as owns files outside the workspace, the \
                 command can change their modes, owners, times and extended attributes",
            ));
        }
        if plan.profile == Profile::Network || plan.unix_sockets {
            gaps.push(Gap::remainder(
                "Unix sockets of other programs on this machine can be reached by path",
            ));
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::path::PathBuf;

    use super::super::start::{Before, Program, attempt, run, start};
    use super::*;

    fn plan() -> Plan {
        let plan = Plan::to_read(Profile::Workspace, vec![PathBuf::from("/")]);
        Plan { write: vec![std::env::temp_dir()], ..plan }
    }

    fn holding() -> Holding {
        Holding::new(&plan(), &Kept::default()).unwrap()
    }

    #[test]
    fn a_step_that_fails_leaves_the_program_unstarted() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["/bin/sh", "-c", "echo > ran"].map(str::to_owned);
        let environment = BTreeMap::new();
        let program =
            Program { words: &words, directory: folder.path(), environment: &environment };
        let ran = |holding: &Holding| {
            let started = start(program, None, &Before::Held(holding));
            let ended = started.map(|started| started.process.wait().unwrap());
            (ended.map_err(|stopped| stopped.step), folder.path().join("ran").exists())
        };
        let no_filter = Holding { filters: Arc::from([Vec::new()]), ..holding() };
        assert_eq!(ran(&no_filter), (Err(Step::Seccomp), false));
        let mut no_ruleset = Ruleset::new(&plan()).unwrap();
        no_ruleset.file = Some(File::open("/dev/null").unwrap().into());
        let no_ruleset = Holding { ruleset: Arc::new(no_ruleset), ..holding() };
        assert_eq!(ran(&no_ruleset), (Err(Step::Landlock), false));
        if !rustix::process::geteuid().is_root() {
            let somebody = Holding { identity: Some((0, 0)), ..holding() };
            assert_eq!(ran(&somebody), (Err(Step::Privileges), false));
        }
        assert_eq!(ran(&holding()), (Ok(0), true));
    }

    #[test]
    fn a_process_whose_guard_is_gone_does_not_begin() {
        let holding = holding();
        attempt(&holding).unwrap();
        let somebody = Pid::from_raw(1);
        let process = run(&mut || holding.enter(somebody));
        assert_eq!(process.map_err(|stopped| stopped.step).err(), Some(Step::Parent));
    }
}
