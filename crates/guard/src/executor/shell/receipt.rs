//! What a receipt says about how a command was confined.

use countersign_model::ToolErrorCategory;

use crate::executor::{Confinement, ToolError};
use crate::sandbox::{Gap, Profile};

/// Of a command that was held. `escaped`: whether somebody left its process group; `None` where
/// that changes nothing.
pub(super) fn confinement(profile: Profile, gaps: Vec<Gap>, escaped: Option<bool>) -> Confinement {
    let mut not_held: Vec<String> = gaps.into_iter().map(|gap| gap.text).collect();
    not_held.extend(escaped.map(group));
    not_held.dedup();
    Confinement { profile: profile.name().to_owned(), not_held }
}

/// Of a command that nothing held.
pub(super) fn unconfined(wanted: Profile, escaped: bool) -> Confinement {
    let mut not_held = Vec::new();
    if wanted != Profile::Off {
        not_held.push(format!(
            "the profile `{}`: no helper program is named that could confine commands",
            wanted.name()
        ));
    }
    not_held.extend(
        [
            "files outside the workspace can be read and written",
            "the network can be reached",
            "other processes of the user can be reached",
        ]
        .map(str::to_owned),
    );
    if rustix::process::geteuid().is_root() {
        not_held.push("the number of processes is not limited, because it ran as root".to_owned());
    }
    not_held.push(group(escaped));
    Confinement { profile: Profile::Off.name().to_owned(), not_held }
}

/// A command does not run, because `strict` does not let it.
pub(super) fn refused(gaps: &[Gap]) -> ToolError {
    let named: Vec<&str> =
        gaps.iter().filter(|gap| gap.essential).map(|gap| gap.text.as_str()).collect();
    let message = format!("the command cannot be confined here: {}", named.join("; "));
    ToolError::of(ToolErrorCategory::PolicyBlocked, message)
}

fn group(escaped: bool) -> String {
    if escaped {
        "a process left the group of the command and may still run".to_owned()
    } else {
        "a process that leaves the group of the command is not ended with it".to_owned()
    }
}
