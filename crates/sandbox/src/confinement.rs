use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::bubblewrap;
use super::identity::identity;
use super::places::{Places, places};
use super::{Gap, Limits, Plan, Profile, SandboxSettings};

pub use super::places::Room;

/// Confines commands, and keeps some paths from them in any case.
///
/// Inside bubblewrap, a helper confines the command. The helper is a program that first calls
/// [`run_confined`](crate::run_confined), usually the same binary with a special argument. Without
/// a helper nothing is confined, and every receipt says so.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// The helper program and its arguments.
    helper: Vec<String>,
    hidden: Vec<PathBuf>,
    tried: Arc<OnceLock<Abilities>>,
    #[cfg(target_os = "linux")]
    kept: super::Kept,
}

/// What this machine can enforce, found out by trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// What the profile `workspace` cannot enforce here.
    pub gaps: Vec<Gap>,
    /// The version of Landlock; 0 if there is none.
    pub landlock: u32,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// The path of bubblewrap, if it works here.
    pub bubblewrap: Option<PathBuf>,
    /// Why bubblewrap does not work, if it was found.
    pub bubblewrap_fails: Option<String>,
}

impl Abilities {
    /// Whether the essential restrictions of the profile are enforced.
    #[must_use]
    pub fn confines(&self) -> bool {
        !self.gaps.iter().any(|gap| gap.essential)
    }

    fn none(why: &str) -> Self {
        let gaps = vec![Gap::essential(why)];
        Self { gaps, landlock: 0, seccomp: false, bubblewrap: None, bubblewrap_fails: None }
    }
}

/// A command ready to be confined.
#[derive(Debug)]
pub struct Held {
    /// The arguments for bubblewrap and the helper, if bubblewrap is used.
    pub bubblewrap: Option<Vec<String>>,
    /// The restrictions.
    pub plan: Plan,
    /// Gaps that are known in advance.
    pub gaps: Vec<Gap>,
    /// What confined earlier commands, for reuse.
    #[cfg(target_os = "linux")]
    pub kept: super::Kept,
}

impl Sandbox {
    /// A sandbox that uses this helper program with these arguments. `/proc/self/exe` is this
    /// program itself.
    #[must_use]
    pub fn by_helper(program: &str, arguments: &[&str]) -> Self {
        let words = std::iter::once(program).chain(arguments.iter().copied());
        Self { helper: words.map(str::to_owned).collect(), ..Self::default() }
    }

    /// Denies commands this file or folder, such as the state folder, whatever is granted.
    #[must_use]
    pub fn hiding(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// What this machine can enforce. Tried once; later calls return the same.
    #[must_use]
    pub fn abilities(&self, settings: &SandboxSettings) -> &Abilities {
        self.tried.get_or_init(|| self.attempt(settings))
    }

    /// Whether commands are confined at all: a helper is named, and the profile is not `off`.
    #[must_use]
    pub fn can_hold(&self, settings: &SandboxSettings) -> bool {
        !self.helper.is_empty() && settings.profile != Profile::Off
    }

    /// Prepares the command for confinement.
    #[must_use]
    pub fn hold(
        &self,
        settings: &SandboxSettings,
        room: &Room<'_>,
        limits: Limits,
        program: Vec<String>,
    ) -> Held {
        // Trying costs a process, so it is skipped if there is nothing to try.
        let outer = bubblewrap::program(&settings.bubblewrap)
            .and_then(|_| self.abilities(settings).bubblewrap.clone());
        let is_root = rustix::process::geteuid().is_root();
        let (identity, root_gap) = identity(settings.run_as, room.workspace, is_root);
        let stays_root = is_root && identity.is_none();
        let mut places = places(settings, room, &self.hidden, stays_root);
        let mut gaps: Vec<Gap> = places.gaps.drain(..).chain(root_gap).collect();
        let bubblewrap = match &outer {
            Some(outer) => {
                let (matching, unseen) = bubblewrap::matching(settings, room.workspace);
                gaps.extend(unseen);
                let covered: Vec<PathBuf> =
                    places.denied_inside.iter().cloned().chain(matching).collect();
                let helper = self.helper_in_there();
                Some(bubblewrap::words(outer, settings, room, &places, &covered, &helper))
            }
            None => {
                gaps.extend(uncovered(settings, &places));
                None
            }
        };
        let plan = Plan {
            profile: settings.profile,
            read: places.read,
            list: places.list,
            write: places.write,
            devices: places.devices,
            unix_sockets: settings.unix_sockets,
            identity,
            limits,
            own_namespaces: bubblewrap.is_some(),
            strict: settings.strict,
            program,
        };
        Held {
            bubblewrap,
            plan,
            gaps,
            #[cfg(target_os = "linux")]
            kept: self.kept.clone(),
        }
    }

    /// The helper with its real path: `/proc/self` is another process inside bubblewrap.
    pub(super) fn helper_in_there(&self) -> Vec<String> {
        let mut words = self.helper.clone();
        if let Some(program) = words.first_mut()
            && program == "/proc/self/exe"
            && let Ok(real) = Path::new("/proc/self/exe").read_link()
        {
            *program = real.to_string_lossy().into_owned();
        }
        words
    }

    #[cfg(target_os = "linux")]
    fn attempt(&self, settings: &SandboxSettings) -> Abilities {
        if self.helper.is_empty() {
            return Abilities::none("no helper program is configured to sandbox commands");
        }
        let plan = Plan::to_read(Profile::Workspace, vec![PathBuf::from("/usr")]);
        let held = super::linux::Holding::new(&plan, &super::Kept::default())
            .and_then(|holding| super::linux::attempt(&holding).map(|()| holding));
        let holding = match held {
            Ok(holding) => holding,
            Err(stopped) => {
                return Abilities::none(&format!("cannot sandbox a process: {stopped}"));
            }
        };
        let mut abilities = Abilities {
            landlock: holding.landlock(),
            seccomp: holding.filters(),
            gaps: holding.gaps,
            bubblewrap: None,
            bubblewrap_fails: None,
        };
        if let Some(program) = bubblewrap::program(&settings.bubblewrap) {
            let root = Path::new("/");
            let environment = std::collections::BTreeMap::new();
            let room = Room {
                workspace: root,
                directories: &[],
                directory: root,
                environment: &environment,
                temporary: Path::new("/tmp"),
            };
            let places = Places::default();
            let helper = self.helper_in_there();
            let words = bubblewrap::words(&program, settings, &room, &places, &[], &helper);
            let plan = Plan { own_namespaces: true, ..plan };
            let why = match super::linux::attempt_in_bubblewrap(&words, &plan) {
                Ok(super::Reply::Held { gaps } | super::Reply::Refused { gaps }) => {
                    abilities.gaps = gaps;
                    abilities.bubblewrap = Some(program);
                    return abilities;
                }
                Ok(super::Reply::Failed { reason }) => reason,
                Err(error) => error.to_string(),
            };
            abilities.bubblewrap_fails = Some(why);
        }
        abilities
    }

    #[cfg(not(target_os = "linux"))]
    fn attempt(&self, _: &SandboxSettings) -> Abilities {
        Abilities::none("commands are only sandboxed on Linux")
    }
}

/// Gaps for denied places that only a mount namespace could cover.
fn uncovered(settings: &SandboxSettings, places: &Places) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !places.denied_inside.is_empty() {
        let named: Vec<String> = places
            .denied_inside
            .iter()
            .take(5)
            .map(|path| format!("`{}`", path.display()))
            .collect();
        let more = if places.denied_inside.len() > named.len() { " and more" } else { "" };
        let text =
            format!("{}{more} can be read: access to a parent folder is allowed", named.join(", "));
        gaps.push(Gap::essential(text));
    }
    if !settings.patterns.is_empty() {
        let named: Vec<String> =
            settings.patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
        let text = format!("workspace files that match {} can be read", named.join(", "));
        gaps.push(Gap::remainder(text));
    }
    gaps
}
