//! The user as which a command runs if root starts it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::Gap;
use crate::settings::RunAs;

/// The user and group for the command; `None` keeps the current ones. The gap says why root stays
/// root.
pub(super) fn identity(
    run_as: RunAs,
    workspace: &Path,
    is_root: bool,
) -> (Option<(u32, u32)>, Option<Gap>) {
    if !is_root {
        return (None, None);
    }
    let stays = |why: &str| {
        let text = format!(
            "the command runs as root without capabilities, {why}, so the number of its processes \
             is not limited"
        );
        (None, Some(Gap::remainder(text)))
    };
    match run_as {
        RunAs::Id { user, group } => (Some((user, group)), None),
        RunAs::Never => stays("because `run_as` is `never`"),
        RunAs::Owner => match workspace.metadata() {
            Ok(metadata) if metadata.uid() == 0 => stays("because the workspace belongs to root"),
            Ok(metadata) if !reaches(workspace, &metadata) => {
                stays("because the owner of the workspace cannot access it")
            }
            Ok(metadata) => (Some((metadata.uid(), metadata.gid())), None),
            Err(_) => stays("because the owner of the workspace is unknown"),
        },
    }
}

/// Whether the owner may traverse every parent folder.
fn reaches(workspace: &Path, owned: &Metadata) -> bool {
    workspace.ancestors().skip(1).all(|folder| {
        folder.metadata().is_ok_and(|folder| {
            let through = match () {
                () if folder.uid() == owned.uid() => 0o100,
                () if folder.gid() == owned.gid() => 0o010,
                () => 0o001,
            };
            folder.mode() & through != 0
        })
    })
}
