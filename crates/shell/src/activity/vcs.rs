//! Version control, where the operands decide.

use super::call::{Call, Found, whole};
use super::kind::ActivityKind::VersionControl;
use super::kind::Git;
use super::runners::global;

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    if call.program != "git" {
        return None;
    }
    let at = call.sub(global("git"));
    let rest = call.after(at + 1);
    let operands = rest.operands(&["-m", "-F", "-u", "--message", "--format", "--sort", "-n"]);
    let what = match call.arg(at) {
        "tag" if operands.is_empty() || rest.has(&["-l", "--list"]) => Git::Inspect,
        "tag" => Git::Tag,
        "branch" => branch(&rest, &operands),
        _ => return None,
    };
    Some(whole(VersionControl(what), "git"))
}

/// The effect of `git branch` on branches.
fn branch(rest: &Call<'_>, names: &[&str]) -> Git {
    const CHANGES: &[&str] = &["-d", "-D", "-m", "-M", "--delete", "--move"];
    const LISTS: &[&str] = &[
        "-l",
        "--list",
        "-a",
        "-r",
        "-v",
        "-vv",
        "--contains",
        "--merged",
        "--no-merged",
        "--show-current",
        "--points-at",
        "--all",
    ];
    if rest.has(CHANGES) {
        Git::BranchChange
    } else if names.is_empty() || rest.has(LISTS) {
        Git::Inspect
    } else {
        Git::BranchCreate
    }
}
