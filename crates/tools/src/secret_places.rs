//! Recognises paths where secrets are kept: a person is asked before an agent reads them.

use counterfoil_sandbox::{AT_HOME, OF_THE_SYSTEM};

use crate::blocklist::tidy;
use crate::homes;
use crate::overlap::may_mean;

/// Paths among them that are not secret.
const PUBLIC: &[&str] = &[
    ".aws/config",
    ".ssh/authorized_keys",
    ".ssh/config",
    ".ssh/known_hosts",
    "/etc/docker/daemon.json",
];

/// Places in home folders that projects never contain: recognised in any folder.
const ANYWHERE: &[&str] = &[
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".password-store",
    ".pgpass",
    ".ssh",
    ".vault-token",
];

/// Whether a path, as written in a command or call, is one of these places or in one of them.
pub(crate) fn is_secret(path: &str) -> bool {
    let path = tidy(path);
    let (place, known) = match (homes::inside(&path), elsewhere(&path)) {
        (Some(inside), _) if is_in(inside, AT_HOME) => (inside, AT_HOME),
        (_, Some(inside)) => (inside, ANYWHERE),
        (Some(inside), None) => (inside, AT_HOME),
        (None, None) => (path.as_str(), OF_THE_SYSTEM),
    };
    is_in(place, known)
        && !PUBLIC.contains(&place)
        && !(place.starts_with(".ssh/") && place.ends_with(".pub"))
}

fn is_in(place: &str, known: &[&str]) -> bool {
    let wild = place.contains(['*', '?', '[']);
    known.iter().any(|folder| {
        place.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            || wild && may_mean(place, folder)
            || wild && may_mean(place, &format!("{folder}/**"))
    })
}

/// The part of an absolute path from such a place on. For homes that are not on this machine, as in
/// backups, mounts and test folders.
fn elsewhere(path: &str) -> Option<&str> {
    let mut starts =
        path.match_indices("/.").map(|(at, _)| at + 1).filter(|_| path.starts_with('/'));
    starts.find_map(|at| path.get(at..).filter(|inside| is_in(inside, ANYWHERE)))
}
