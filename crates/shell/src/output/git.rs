use super::line::lines;
use super::tally::{After, Tally};

/// The abbreviated hash in `[branch abc1234] message`, which Git prints after a commit. If there
/// are several, the last one.
#[must_use]
pub fn commit_of(output: &str) -> Option<&str> {
    lines(output).filter_map(|line| hash_of(output.get(line.range)?)).last()
}

fn hash_of(line: &str) -> Option<&str> {
    let (head, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let is_hash = (4..=40).contains(&hash.len())
        && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (is_hash && !branch.is_empty() && !branch.starts_with(' ')).then_some(hash)
}

pub(super) fn commit(line: &str, tally: &mut Tally) -> bool {
    if hash_of(line).is_some() {
        return tally.passed();
    }
    // Errors after a successful commit belong to the next command, such as a push.
    let stops =
        || (line.starts_with("fatal: ") || line.starts_with("error: ")) && !is_of_remote(line);
    // In `git commit … && git status`, such lines after the commit describe the remaining changes.
    let nothing = ["nothing to commit", "no changes added to commit", "nothing added to commit"];
    let failed = (!tally.has_passed() && nothing.iter().any(|opening| line.starts_with(opening)))
        || (!tally.has_passed() && stops())
        || line.starts_with("Aborting commit")
        || line.starts_with("error Command failed");
    failed && tally.failed()
}

/// Whether only a command that contacts a remote prints such a line.
pub(super) fn is_of_remote(line: &str) -> bool {
    let text = line.trim_start();
    let begins = ["remote: ", "! [", "error: failed to push", "Everything up-to-date", "To "];
    let holds = [
        "unable to access",
        "Could not read from remote",
        "could not read Username",
        "Authentication failed",
    ];
    begins.iter().any(|begin| text.starts_with(begin))
        || (text.starts_with("fatal: ")
            && (holds.iter().any(|part| text.contains(part)) || text.contains(" upstream")))
}

/// Whether only a command that opens a pull request prints such a line.
pub(super) fn is_of_pull_request(line: &str) -> bool {
    let holds = [
        "gh auth login",
        "GH_TOKEN",
        "pull request create failed",
        "Creating pull request",
        "/pull/",
    ];
    holds.iter().any(|part| line.contains(part))
}

pub(super) fn push(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim_start();
    if text.starts_with("! [")
        || text.starts_with("error: failed to push")
        || text.starts_with("fatal: ")
        || text.starts_with("error: src refspec")
        || text.starts_with("ERROR: ")
        || text.starts_with("remote: error:")
    {
        return tally.failed();
    }
    if line.starts_with("To ") {
        tally.after = After::PushTarget;
        return true;
    }
    if line.starts_with("Everything up-to-date") {
        return tally.passed();
    }
    tally.after == After::PushTarget && text.contains(" -> ") && tally.passed()
}

pub(super) fn other(line: &str, tally: &mut Tally) -> bool {
    if line.starts_with("CONFLICT (")
        || line.starts_with("Automatic merge failed")
        || line.starts_with("fatal: ")
        || line.starts_with("error: ")
        || line.starts_with("pull request create failed")
    {
        return tally.failed();
    }
    let passed = line.starts_with("Already up to date.")
        || line.starts_with("Fast-forward")
        || line.starts_with("Merge made by ")
        || line.starts_with("Successfully rebased ")
        || line.starts_with("Switched to ")
        || line.starts_with("Saved working directory ")
        || (line.starts_with("https://")
            && (line.contains("/pull/") || line.contains("/merge_requests/")))
        || hash_of(line).is_some();
    passed && tally.passed()
}
