//! Caches restrictions for later commands.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use seccompiler::BpfProgram;

use super::super::{Plan, Profile};
use super::files::Ruleset;
use super::step::{Step, Stopped};
use super::syscalls;

/// The last ruleset and filters, reused if they would be created identically.
#[derive(Debug, Clone, Default)]
pub struct Kept(Arc<Mutex<Last>>);

#[derive(Debug, Default)]
struct Last {
    ruleset: Option<(Arc<Ruleset>, Mounts)>,
    filters: Option<(Profile, bool, Arc<[BpfProgram]>)>,
}

impl Kept {
    pub(super) fn ruleset(&self, plan: &Plan) -> Result<Arc<Ruleset>, Stopped> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((ruleset, mounts)) = last.ruleset.take()
            && mounts.are_the_same()
            && ruleset.is_still(plan)
        {
            last.ruleset = Some((Arc::clone(&ruleset), mounts));
            return Ok(ruleset);
        }
        // Before the places are examined: a later mount is noticed the next time.
        let mounts = Mounts::now();
        let ruleset =
            Ruleset::new(plan).map_err(|error| Step::Landlock.stopped(io::Error::other(error)))?;
        let ruleset = Arc::new(ruleset);
        last.ruleset = mounts.ok().map(|mounts| (Arc::clone(&ruleset), mounts));
        Ok(ruleset)
    }

    pub(super) fn filters(&self, plan: &Plan) -> Result<Arc<[BpfProgram]>, Stopped> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((profile, unix_sockets, filters)) = &last.filters
            && (*profile, *unix_sockets) == (plan.profile, plan.unix_sockets)
        {
            return Ok(Arc::clone(filters));
        }
        let filters = syscalls::filters(plan).map_err(|error| Step::Seccomp.stopped(error))?;
        let filters: Arc<[BpfProgram]> = filters.into();
        last.filters = Some((plan.profile, plan.unix_sockets, Arc::clone(&filters)));
        Ok(filters)
    }
}

/// The mounts of this process at one moment.
#[derive(Debug)]
struct Mounts(OwnedFd);

impl Mounts {
    fn now() -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(Self(open("/proc/self/mountinfo", flags, Mode::empty())?))
    }

    /// Whether nothing was mounted since. The kernel reports a change only once, and this is called
    /// only until then.
    fn are_the_same(&self) -> bool {
        let mut polled = [PollFd::new(&self.0, PollFlags::PRI)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut polled, Some(&now)), Ok(0))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn plan(profile: Profile, read: &[&Path]) -> Plan {
        Plan::to_read(profile, read.iter().map(PathBuf::from).collect())
    }

    /// Another file with the same name was not granted.
    #[test]
    fn a_ruleset_is_used_again_only_where_it_would_be_made_the_same() {
        let root = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| root.path().join(name));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&other).unwrap();
        let kept = Kept::default();
        let one_only = plan(Profile::Workspace, &[&one]);
        let first = kept.ruleset(&one_only).unwrap();
        let again = |plan: &Plan| {
            let (before, now) = (kept.ruleset(&one_only).unwrap(), kept.ruleset(plan).unwrap());
            Arc::ptr_eq(&before, &now)
        };
        fs::File::create(one.join("file")).unwrap();
        assert!(Arc::ptr_eq(&first, &kept.ruleset(&one_only).unwrap()), "nothing changed");
        assert!(!again(&plan(Profile::Workspace, &[&one, &other])), "one more place");
        assert!(!again(&plan(Profile::Workspace, &[&other])), "another place");
        assert!(!again(&plan(Profile::Network, &[&one])), "another profile");
        let written = Plan { write: vec![one.clone()], ..plan(Profile::Workspace, &[]) };
        assert!(!again(&written), "another right");

        let before = kept.ruleset(&one_only).unwrap();
        fs::rename(&one, root.path().join("moved")).unwrap();
        fs::rename(&other, &one).unwrap();
        assert!(!Arc::ptr_eq(&before, &kept.ruleset(&one_only).unwrap()), "moved away");
        let before = kept.ruleset(&one_only).unwrap();
        fs::remove_dir(&one).unwrap();
        fs::create_dir(&one).unwrap();
        assert!(!Arc::ptr_eq(&before, &kept.ruleset(&one_only).unwrap()), "made anew");
        let before = kept.ruleset(&one_only).unwrap();
        fs::remove_dir(&one).unwrap();
        assert!(!Arc::ptr_eq(&before, &kept.ruleset(&one_only).unwrap()), "gone");
    }

    #[test]
    fn filters_are_used_again_for_the_same_profile() {
        let kept = Kept::default();
        let of = |profile| kept.filters(&plan(profile, &[])).unwrap();
        let first = of(Profile::Workspace);
        assert!(Arc::ptr_eq(&first, &of(Profile::Workspace)));
        assert_ne!(first, of(Profile::ReadOnly));
        assert_ne!(first, of(Profile::Network));
        assert_eq!(first, of(Profile::Workspace));
    }
}
