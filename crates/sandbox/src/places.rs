//! Determines what a command may reach, from what exists.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::DirEntry;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::real_paths::{RealPaths, Trees};
use super::{Gap, Profile, SandboxSettings};
use crate::secret_places::{AT_HOME, OF_THE_SYSTEM, PERHAPS, holds_a_secret};

/// System paths: programs, libraries, and their configuration.
const SYSTEM: &[&str] = &[
    "/bin",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/proc",
    "/run/current-system",
    "/sbin",
    "/snap",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/usr",
    "/var/cache/fontconfig",
    "/var/lib/dpkg",
    "/var/lib/rpm",
];

/// Paths in the home folder: toolchains, their packages and caches, and the configuration of git.
const TOOLS_AT_HOME: &[&str] = &[
    ".asdf",
    ".bun",
    ".bundle",
    ".cabal",
    ".cache",
    ".cargo",
    ".composer",
    ".conda",
    ".config/git",
    ".deno",
    ".dotnet",
    ".gem",
    ".ghcup",
    ".gitconfig",
    ".goenv",
    ".gradle",
    ".ivy2",
    ".jenv",
    ".julia",
    ".local/bin",
    ".local/lib",
    ".local/share/gem",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2",
    ".nodenv",
    ".npm",
    ".nuget",
    ".nvm",
    ".opam",
    ".pnpm-store",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sbt",
    ".sdkman",
    ".stack",
    ".volta",
    ".yarn",
    "anaconda3",
    "go",
    "miniconda3",
];

/// Variables with the location of a toolchain.
const TOOL_VARIABLES: &[&str] =
    &["CARGO_HOME", "GOPATH", "GOROOT", "JAVA_HOME", "NVM_DIR", "RUSTUP_HOME", "VIRTUAL_ENV"];

/// Harmless devices.
const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/random",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Named shared memory.
const SHARED_MEMORY: &str = "/dev/shm";

/// The maximum number of entries of a folder that is granted piece by piece.
const MOST_PIECES: usize = 2_000;

/// The environment of one command.
#[derive(Debug, Clone)]
pub struct Room<'r> {
    /// The project's root, as a canonical path.
    pub workspace: &'r Path,
    /// Other folders in which a command may start.
    pub directories: &'r [PathBuf],
    /// The folder in which the command starts.
    pub directory: &'r Path,
    /// The environment variables of the command.
    pub environment: &'r BTreeMap<String, String>,
    /// The command's own temporary folder.
    pub temporary: &'r Path,
}

/// What a command may reach. Every path exists and is canonical.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Places {
    pub(super) read: Vec<PathBuf>,
    pub(super) list: Vec<PathBuf>,
    pub(super) write: Vec<PathBuf>,
    pub(super) devices: Vec<PathBuf>,
    /// Denied paths that are inside granted places.
    pub(super) denied_inside: Vec<PathBuf>,
    pub(super) gaps: Vec<Gap>,
}

/// Determines the places. `hidden` are paths that are never granted, in addition to the usual
/// secrets. `stays_root` means that file modes do not protect system files, because the command
/// owns them.
pub(super) fn places(
    settings: &SandboxSettings,
    room: &Room<'_>,
    hidden: &[PathBuf],
    stays_root: bool,
) -> Places {
    let mut real = RealPaths::default();
    let home = room.environment.get("HOME").map(Path::new).filter(|home| home.is_absolute());
    let secrets = denied(settings, hidden, home, &mut real);
    let carving = Carving::new(&secrets);
    let mut places = Places {
        write: write_roots(settings, room, home, &carving, &mut real),
        ..Places::default()
    };
    let mut granted = Trees::default();
    granted.add(&places.write);
    for root in read_roots(settings, room, home, &mut real) {
        if granted.hold(&root) || carving.denied.hold(&root) {
            continue;
        }
        let before = places.read.len();
        carving.grant(&root, stays_root && root == Path::new("/etc"), &mut places);
        granted.add(places.read.iter().skip(before));
    }
    places.denied_inside = secrets.into_iter().filter(|secret| granted.hold(secret)).collect();
    places.devices = existing(DEVICES.iter().map(PathBuf::from), &mut real);
    places
}

/// Every existing path that must not be read, outermost first.
fn denied(
    settings: &SandboxSettings,
    hidden: &[PathBuf],
    home: Option<&Path>,
    real: &mut RealPaths,
) -> Vec<PathBuf> {
    let at_home = home.into_iter().flat_map(|home| AT_HOME.iter().map(|path| home.join(path)));
    let configured = settings.deny_read.iter().filter_map(|path| expanded(path, home));
    let system = OF_THE_SYSTEM.iter().map(PathBuf::from);
    let perhaps = home.into_iter().flat_map(settings_with_secrets);
    let all = at_home.chain(perhaps).chain(configured).chain(system);
    existing(all.chain(hidden.iter().cloned()), real)
}

/// Settings files in the home folder that contain a secret.
fn settings_with_secrets(home: &Path) -> Vec<PathBuf> {
    let named = PERHAPS.iter().map(|path| home.join(path));
    let files = named.flat_map(|path| match path.read_dir() {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![path],
    });
    files.filter(|file| holds_a_secret(file)).collect()
}

fn write_roots(
    settings: &SandboxSettings,
    room: &Room<'_>,
    home: Option<&Path>,
    carving: &Carving,
    real: &mut RealPaths,
) -> Vec<PathBuf> {
    let workspace = (settings.profile != Profile::ReadOnly).then(|| {
        let configured = settings.write_paths.iter().filter_map(|path| expanded(path, home));
        configured
            .chain([room.workspace.to_owned(), PathBuf::from(SHARED_MEMORY)])
            .collect::<Vec<_>>()
    });
    let temporary = std::iter::once(room.temporary.to_owned());
    let roots = existing(temporary.chain(workspace.into_iter().flatten()), real);
    outermost(roots.into_iter().filter(|root| !carving.denied.hold(root)).collect())
}

fn read_roots(
    settings: &SandboxSettings,
    room: &Room<'_>,
    home: Option<&Path>,
    real: &mut RealPaths,
) -> Vec<PathBuf> {
    let named = |name: &&str| room.environment.get(*name).map(PathBuf::from);
    let programs = room.environment.get("PATH").map(String::as_str).unwrap_or_default();
    let above_home = |path: &PathBuf| home.is_some_and(|home| home.starts_with(path));
    let tools =
        TOOL_VARIABLES.iter().filter_map(named).chain(programs.split(':').map(PathBuf::from));
    let tools = tools.filter(|path| path.is_absolute() && !above_home(path));
    let at_home =
        home.into_iter().flat_map(|home| TOOLS_AT_HOME.iter().map(|path| home.join(path)));
    let configured = settings.read_paths.iter().filter_map(|path| expanded(path, home));
    let own = room.directories.iter().cloned().chain([room.workspace.to_owned()]);
    let system = SYSTEM.iter().map(PathBuf::from);
    existing(system.chain(tools).chain(at_home).chain(configured).chain(own), real)
}

struct Carving {
    denied: Trees,
    /// Folders that contain something denied, or are denied themselves.
    around: HashSet<OsString>,
}

impl Carving {
    fn new(secrets: &[PathBuf]) -> Self {
        let mut denied = Trees::default();
        denied.add(secrets);
        let around = secrets.iter().flat_map(|secret| secret.ancestors());
        Self { denied, around: around.map(|path| path.as_os_str().to_owned()).collect() }
    }

    /// Grants a tree, piece by piece if something in it is denied. `by_mode` leaves out what others
    /// may not read.
    fn grant(&self, root: &Path, by_mode: bool, places: &mut Places) {
        if !by_mode && !self.around.contains(root.as_os_str()) {
            places.read.push(root.to_owned());
            return;
        }
        let Ok(entries) = root.read_dir() else { return };
        places.list.push(root.to_owned());
        for (at, entry) in entries.flatten().enumerate() {
            if at == MOST_PIECES {
                let text = format!(
                    "`{}` has too many entries: commands cannot read all of them",
                    root.display()
                );
                places.gaps.push(Gap::remainder(text));
                return;
            }
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            // The target of a link is granted at its own path, or not at all.
            let kept =
                kind.is_symlink() || self.denied.hold(&path) || by_mode && !others_read(&entry);
            if !kept {
                self.grant(&path, false, places);
            }
        }
    }
}

fn others_read(entry: &DirEntry) -> bool {
    entry.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

/// The paths that exist, canonical and without duplicates.
fn existing(paths: impl Iterator<Item = PathBuf>, real: &mut RealPaths) -> Vec<PathBuf> {
    let there: BTreeSet<PathBuf> = paths.filter_map(|path| real.resolve(&path)).collect();
    there.into_iter().collect()
}

/// Removes paths inside others. Expects sorted paths, so that a folder precedes its content.
fn outermost(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !outer.iter().any(|root| path.starts_with(root)) {
            outer.push(path);
        }
    }
    outer
}

/// Replaces `~` with the home folder; `None` if there is no home folder.
fn expanded(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => home.map(|home| home.join(rest)),
        None => Some(PathBuf::from(path)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, create_dir_all};
    use std::io::Write as _;

    use super::super::SandboxOptions;
    use super::*;

    fn made(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in paths {
            let path = root.path().join(path);
            create_dir_all(path.parent().unwrap()).unwrap();
            if path.to_string_lossy().ends_with('/') {
                create_dir_all(path).unwrap();
            } else {
                File::create(path).unwrap();
            }
        }
        root
    }

    fn write(path: &Path, text: &str) {
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The places beneath the folder, relative to it.
    fn found(root: &Path, options: SandboxOptions, workspace: &str) -> [Vec<String>; 4] {
        let root = root.canonicalize().unwrap();
        let environment =
            [("HOME".to_owned(), root.join("home").to_string_lossy().into_owned())].into();
        let (workspace, temporary) = (root.join(workspace), root.join("tmp"));
        let room = Room {
            workspace: &workspace,
            directories: &[],
            directory: &workspace,
            environment: &environment,
            temporary: &temporary,
        };
        let places = places(&options.resolve().unwrap(), &room, &[], false);
        [places.read, places.list, places.write, places.denied_inside].map(|paths| {
            let inside = paths.iter().filter_map(|path| path.strip_prefix(&root).ok());
            inside.map(|path| path.to_string_lossy().into_owned()).collect()
        })
    }

    #[test]
    fn secrets_are_carved_out_of_what_is_granted() {
        let root = made(&[
            "home/.cargo/credentials.toml",
            "home/.cargo/registry/index",
            "home/.cargo/bin/cargo",
            "home/.ssh/id_ed25519",
            "home/.rustup/toolchains/x",
            "home/notes",
            "w/src/main.rs",
            "tmp/x",
        ]);
        let mut all = found(root.path(), SandboxOptions::default(), "w");
        all[0].sort();
        assert_eq!(all[0], ["home/.cargo/bin", "home/.cargo/registry", "home/.rustup"]);
        assert_eq!(all[1], ["home/.cargo"]);
        assert_eq!(all[2], ["tmp", "w"]);
        assert_eq!(all[3], Vec::<String>::new());
    }

    #[test]
    fn settings_are_granted_until_they_contain_a_secret() {
        let root = made(&["home/.cargo/bin/cargo", "home/.gitconfig", "w/x", "tmp/x"]);
        let config = root.path().join("home/.cargo/config.toml");
        write(&config, "[build]\njobs = 2\n");
        let read = || found(root.path(), SandboxOptions::default(), "w")[0].clone();
        assert_eq!(read(), ["home/.cargo", "home/.gitconfig"]);
        write(&config, "[registries.own]\ntoken = \"Q7w8e9r0t1y2u3i4o5p6\"\n");
        assert_eq!(read(), ["home/.cargo/bin", "home/.gitconfig"]);
        let url = "[url \"https://ada:Q7w8e9r0t1@git.example/\"]\n";
        write(&root.path().join("home/.gitconfig"), url);
        assert_eq!(read(), ["home/.cargo/bin"]);
    }

    #[test]
    fn what_is_denied_wins_over_what_is_granted() {
        let root = made(&["home/.ssh/id", "home/a/b/c", "home/a/d", "w/x", "tmp/x"]);
        let options = SandboxOptions {
            read_paths: vec!["~/.ssh".to_owned(), "~/a".to_owned()],
            deny_read: vec!["~/a/b".to_owned()],
            ..SandboxOptions::default()
        };
        let [read, list, write, _] = found(root.path(), options, "w");
        assert_eq!((read, list), (vec!["home/a/d".to_owned()], vec!["home/a".to_owned()]));
        assert_eq!(write, ["tmp", "w"]);
    }

    #[test]
    fn a_secret_in_the_workspace_is_named() {
        let root = made(&["home/.ssh/id", "home/project/x", "tmp/x"]);
        let [_, _, write, inside] = found(root.path(), SandboxOptions::default(), "home");
        assert_eq!(
            (write, inside),
            (vec!["home".to_owned(), "tmp".to_owned()], vec!["home/.ssh".to_owned()])
        );
    }

    #[test]
    fn the_read_only_profile_writes_nothing_of_the_workspace() {
        let root = made(&["home/x", "w/x", "tmp/x"]);
        let options = SandboxOptions {
            profile: Profile::ReadOnly,
            write_paths: vec!["~/x".to_owned()],
            ..SandboxOptions::default()
        };
        let [read, _, write, _] = found(root.path(), options, "w");
        assert_eq!((read, write), (vec!["w".to_owned()], vec!["tmp".to_owned()]));
    }
}
