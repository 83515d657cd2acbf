use super::ActivityKind::{Commit, Fetch, Publish, Push, Read, VersionControl};
use super::Git;
use super::call::{Call, Found, whole};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        "git" => Some(git(call)),
        "gh" | "glab" | "hub" => Some(forge(call)),
        "jj" => Some(match call.arg(0) {
            "commit" | "describe" => whole(Commit, "jj commit"),
            "git" if call.arg(1) == "push" => whole(Push, "jj git push"),
            _ => Vec::new(),
        }),
        _ => None,
    }
}

fn git(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-C", "-c", "--git-dir", "--work-tree", "--namespace"]);
    let rest = call.after(at + 1);
    let operands = rest.operands(&["-m", "-F", "-u", "--message", "--format", "--sort", "-n"]);
    let other = |what: Git| whole(VersionControl(what), "git");
    match call.arg(at) {
        "commit" if rest.has(&["--dry-run"]) => other(Git::Inspect),
        "commit" => whole(Commit, "git commit"),
        "push" if rest.has(&["--dry-run", "-n"]) => other(Git::Inspect),
        "push" => whole(Push, "git push"),
        "add" | "stage" if rest.has(&["-n", "--dry-run"]) => other(Git::Inspect),
        "add" | "stage" => other(Git::Add),
        "merge" => other(Git::Merge),
        "rebase" => other(Git::Rebase),
        "tag" if operands.is_empty() || rest.has(&["-l", "--list"]) => other(Git::Inspect),
        "tag" => other(Git::Tag),
        "branch" => other(branch(&rest, &operands)),
        "checkout" if rest.has(&["-b", "-B", "--orphan"]) => other(Git::BranchCreate),
        "switch" if rest.has(&["-c", "-C", "--create", "--orphan"]) => other(Git::BranchCreate),
        "worktree" if rest.arg(0) == "add" => other(Git::Checkout),
        "checkout" | "switch" | "restore" => other(Git::Checkout),
        "stash" if matches!(rest.arg(0), "list" | "show") => other(Git::Inspect),
        "stash" => other(Git::Stash),
        "pull" => other(Git::Pull),
        "reset" => other(Git::Reset),
        "clean" if rest.has(&["-n", "--dry-run"]) => other(Git::Inspect),
        "clean" => other(Git::Clean),
        "cherry-pick" => other(Git::CherryPick),
        "revert" => other(Git::Revert),
        "fetch" | "clone" => whole(Fetch, "git fetch"),
        "status" | "log" | "diff" | "show" | "blame" | "ls-files" | "grep" | "rev-parse"
        | "describe" | "shortlog" | "reflog" | "remote" | "rev-list" | "ls-tree" | "ls-remote"
        | "cat-file" | "merge-base" | "name-rev" | "for-each-ref" | "check-ignore"
        | "whatchanged" | "diff-tree" | "symbolic-ref" | "count-objects" | "show-ref" => {
            other(Git::Inspect)
        }
        "" => Vec::new(),
        _ => other(Git::Other),
    }
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

fn forge(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-R", "--repo"]);
    match (call.arg(at), call.arg(at + 1)) {
        ("pr" | "mr", "create" | "new") => whole(VersionControl(Git::PullRequest), "gh pr create"),
        ("pull-request", _) => whole(VersionControl(Git::PullRequest), "gh pr create"),
        ("pr" | "mr", "merge") => whole(VersionControl(Git::Merge), "gh pr merge"),
        ("pr" | "mr", "checkout") => whole(VersionControl(Git::Checkout), "gh pr checkout"),
        ("release", "create" | "upload") => whole(Publish, "gh release create"),
        ("repo", "clone") | ("run" | "release", "download") => whole(Fetch, "gh repo clone"),
        (_, "view" | "list" | "diff" | "checks" | "status" | "watch" | "ls")
        | ("api" | "search" | "status", _) => whole(Read, "gh"),
        _ => Vec::new(),
    }
}
