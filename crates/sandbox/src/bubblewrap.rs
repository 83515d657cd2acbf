//! Builds the command line of bubblewrap: a mount namespace that is read-only except for writable
//! places, with denied places covered.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::places::{Places, Room};
use super::{Gap, Profile, SandboxSettings};
use crate::settings::Bubblewrap;

/// The usual paths of the program.
const USUAL: [&str; 4] =
    ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// The maximum number of workspace entries checked for what has to be covered.
const MOST_ENTRIES: usize = 50_000;

/// The path of the program, if it is wanted and present.
pub(super) fn program(wanted: &Bubblewrap) -> Option<PathBuf> {
    match wanted {
        Bubblewrap::Never => None,
        Bubblewrap::At(path) => path.is_file().then(|| path.clone()),
        Bubblewrap::Auto => USUAL.iter().map(PathBuf::from).find(|path| path.is_file()),
    }
}

/// The arguments before those of the helper.
pub(super) fn words(
    program: &Path,
    settings: &SandboxSettings,
    room: &Room<'_>,
    places: &Places,
    covered: &[PathBuf],
    helper: &[String],
) -> Vec<String> {
    let mut words: Vec<String> = vec![shown(program)];
    let mut add = |some: &[&str]| words.extend(some.iter().map(|word| (*word).to_owned()));
    add(&["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
    if settings.profile != Profile::Network {
        add(&["--unshare-net"]);
    }
    add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    // Hides sockets of other programs, and other users' temporary files.
    if Path::new("/run").is_dir() {
        add(&["--tmpfs", "/run"]);
    }
    add(&["--bind", &shown(room.temporary), "/tmp"]);
    let under = |path: &Path| ["/run", "/tmp"].iter().any(|folder| path.starts_with(folder));
    for path in places.read.iter().filter(|path| under(path)) {
        add(&["--ro-bind", &shown(path), &shown(path)]);
    }
    for path in places.write.iter().filter(|path| !path.starts_with("/dev")) {
        add(&["--bind", &shown(path), &shown(path)]);
    }
    for path in covered {
        let path = &shown(path);
        if Path::new(path).is_dir() {
            add(&["--tmpfs", path]);
        } else {
            add(&["--ro-bind", "/dev/null", path]);
        }
    }
    if let Some(program) = helper.first().filter(|program| under(Path::new(program))) {
        add(&["--ro-bind", program, program]);
    }
    add(&["--chdir", &shown(room.directory), "--"]);
    words.extend(helper.iter().cloned());
    words
}

/// The paths in writable folders that match a denied pattern, except links. The gap reports that
/// not everything was checked.
pub(super) fn matching(settings: &SandboxSettings, root: &Path) -> (Vec<PathBuf>, Option<Gap>) {
    let mut found = Vec::new();
    if settings.patterns.is_empty() {
        return (found, None);
    }
    let mut seen = 0;
    let mut folders: VecDeque<PathBuf> = VecDeque::from([root.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = folder.read_dir() else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                let text = "the workspace is too large to hide every file that must not be read";
                return (found, Some(Gap::remainder(text)));
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let relative = path.strip_prefix(root).unwrap_or(&path);
            // `**/secrets/**` matches what is in the folder, so the folder is covered.
            let matches = settings.matcher.is_match(relative)
                || kind.is_dir() && settings.matcher.is_match(relative.join("x"));
            if matches && !kind.is_symlink() {
                found.push(path);
            } else if kind.is_dir() {
                folders.push_back(path);
            }
        }
    }
    (found, None)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
