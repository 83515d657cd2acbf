//! How a command was confined, for its receipt.

use counterfoil_model::{Confinement, ToolErrorCategory};
use counterfoil_sandbox::{Gap, Profile};

use super::run::Left;
use crate::ToolError;

/// The confinement of a confined command. `left` says which processes may still run; `None` if its
/// namespace ended with it.
pub(super) fn confinement(profile: Profile, gaps: Vec<Gap>, left: Option<Left>) -> Confinement {
    let mut not_held: Vec<String> = gaps.into_iter().map(|gap| gap.text).collect();
    not_held.extend(left.and_then(survivors));
    not_held.dedup();
    Confinement { profile: profile.name().to_owned(), not_held }
}

/// The confinement of an unconfined command.
pub(super) fn unconfined(wanted: Profile, left: Left) -> Confinement {
    let mut not_held = Vec::new();
    if wanted != Profile::Off {
        not_held.push(format!(
            "the profile `{}` is not enforced: no sandbox helper program is configured",
            wanted.name()
        ));
    }
    not_held.extend(
        [
            "files outside the workspace can be read and written",
            "the network is reachable",
            "the user's other processes are reachable",
        ]
        .map(str::to_owned),
    );
    if rustix::process::geteuid().is_root() {
        not_held.push(
            "the number of processes is not limited, because the command ran as root".to_owned(),
        );
    }
    // Nothing stops a process from removing its mark.
    let left = if left == Left::NoProcess { Left::Unknown } else { left };
    not_held.extend(survivors(left));
    Confinement { profile: Profile::Off.name().to_owned(), not_held }
}

/// The error if `strict` does not allow a command to run.
pub(super) fn refused(gaps: &[Gap]) -> ToolError {
    let named: Vec<&str> =
        gaps.iter().filter(|gap| gap.essential).map(|gap| gap.text.as_str()).collect();
    let message = format!("the command cannot be sandboxed here: {}", named.join("; "));
    ToolError::new(ToolErrorCategory::PolicyBlocked, message)
}

fn survivors(left: Left) -> Option<String> {
    let note = match left {
        Left::NoProcess => return None,
        Left::Somebody => "a process of the command could not be killed and may still be running",
        Left::Unknown => {
            "a process that leaves the command's process group may outlive the command"
        }
    };
    Some(note.to_owned())
}
