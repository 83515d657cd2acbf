//! Landlock: restricts files and folders, TCP, signals.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset as Builder,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope,
};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use super::super::{Gap, Plan, Profile};
use super::raw;

/// The newest version whose rights are requested; older kernels enforce what they support.
const NEWEST: ABI = ABI::V9;

/// What a process may reach, as a Landlock ruleset. Can be applied to many processes.
#[derive(Debug)]
pub(super) struct Ruleset {
    /// `None` if the kernel has no Landlock.
    pub(super) file: Option<OwnedFd>,
    /// The version of Landlock in use; 0 if there is none.
    pub(super) version: u32,
    network: bool,
    granted: Vec<Granted>,
}

/// A place that may be reached.
#[derive(Debug)]
struct Granted {
    path: PathBuf,
    access: BitFlags<AccessFs>,
    /// The file found there; `None` if there was none.
    found: Option<Identity>,
}

/// The identity of a file or folder: another one with the same name has another identity.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    device: (u32, u32),
    inode: u64,
    /// The time of creation, if the file system records it.
    born: (i64, u32),
}

impl Identity {
    fn at(folder: impl AsFd, path: &Path) -> io::Result<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = statx(folder, path, AtFlags::EMPTY_PATH, wanted)?;
        Ok(Self {
            device: (found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            born: (found.stx_btime.tv_sec, found.stx_btime.tv_nsec),
        })
    }
}

impl Ruleset {
    pub(super) fn new(plan: &Plan) -> Result<Self, RulesetError> {
        let network = plan.profile == Profile::Network;
        let mut handled = Builder::default()
            .handle_access(AccessFs::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?;
        if !network {
            handled = handled.handle_access(AccessNet::from_all(NEWEST))?;
        }
        let mut ruleset = handled.create()?;
        let mut granted = Vec::new();
        for (path, access) in grants(plan) {
            let mut found = None;
            // A path that cannot be opened is not granted.
            if let Ok(file) = PathFd::new(path) {
                found = Identity::at(&file, Path::new("")).ok();
                ruleset = ruleset.add_rule(PathBeneath::new(file, access))?;
            }
            granted.push(Granted { path: path.to_owned(), access, found });
        }
        let file: Option<OwnedFd> = ruleset.into();
        let version = file.as_ref().map_or(0, |_| raw::landlock_version()).min(NEWEST as u32);
        Ok(Self { file, version, network, granted })
    }

    /// Whether this plan would produce the same ruleset now, provided nothing was mounted since.
    /// The ruleset keeps the granted files alive, so their identities cannot be reused.
    pub(super) fn is_still(&self, plan: &Plan) -> bool {
        let same = self.granted.iter().map(|granted| (granted.path.as_path(), granted.access));
        self.network == (plan.profile == Profile::Network)
            && same.eq(grants(plan))
            && self.granted.iter().all(|granted| {
                let now = Identity::at(CWD, &granted.path).ok();
                now.is_some() && now == granted.found
            })
    }
}

/// The places, and the access granted there.
fn grants(plan: &Plan) -> impl Iterator<Item = (&Path, BitFlags<AccessFs>)> {
    let read = AccessFs::from_read(NEWEST);
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let write = AccessFs::from_all(NEWEST) & !devices;
    let use_device = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::IoctlDev;
    let places = [
        (&plan.read, read),
        (&plan.list, AccessFs::ReadDir.into()),
        (&plan.write, write),
        (&plan.devices, use_device),
    ];
    // Name services are reached through a socket.
    let services: &[&str] =
        if plan.profile == Profile::Network { &["/run", "/var/run"] } else { &[] };
    let services = services.iter().map(|path| (Path::new(path), AccessFs::ResolveUnix.into()));
    let places = places
        .into_iter()
        .flat_map(|(paths, access)| paths.iter().map(move |path| (path.as_path(), access)));
    places.chain(services)
}

/// The gaps of versions before the newest.
pub(super) fn gaps(version: u32, plan: &Plan) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if version < 1 {
        gaps.push(Gap::essential(
            "files outside the workspace can be read and written, because the kernel has no \
             Landlock",
        ));
    } else if version < 3 {
        gaps.push(Gap::essential("files outside the workspace can be truncated to zero length"));
    }
    if version < 6 && !plan.own_namespaces {
        gaps.push(Gap::remainder("the command can send signals to the user's other processes"));
    }
    gaps
}
