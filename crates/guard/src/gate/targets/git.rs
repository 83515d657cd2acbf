//! `git`: what its commands change in the working tree, and what they configure it to run later.

use counterfoil_shell::{Command, Word};

use super::arguments::Arguments;
use super::target::{Change, Target};

const VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "-s",
    "--source",
    "-b",
    "-B",
    "-m",
    "--message",
    "--directory",
];

/// Commands that change files of the working tree whose names the command does not show.
const FILLS: &[&str] = &[
    "checkout",
    "switch",
    "restore",
    "reset",
    "apply",
    "am",
    "merge",
    "pull",
    "rebase",
    "cherry-pick",
    "revert",
    "stash",
    "clean",
    "sparse-checkout",
    "submodule",
    "read-tree",
];

pub(super) fn targets(command: &Command, found: &mut Vec<Target>) {
    let arguments = Arguments::new(&command.args, VALUED);
    let Some((sub, paths)) = arguments.operands.split_first() else { return };
    let folder = arguments.values(&["-C", "--work-tree"]).pop();
    let directory = match (&folder, &command.directory) {
        (Some(folder), Some(from))
            if !from.is_empty() && !folder.text.starts_with(['/', '~', '$']) =>
        {
            Some(format!("{from}/{}", folder.text))
        }
        (Some(folder), _) => Some(folder.text.clone()),
        (None, from) => from.clone(),
    };
    let elsewhere = directory.as_deref() != Some("");
    let mut add = |word: &Word, change: Change| {
        found.push(Target { word: word.clone(), change, directory: directory.clone() });
    };
    match sub.text.as_str() {
        "rm" if arguments.has("--cached") => {}
        "rm" => paths.iter().for_each(|path| add(path, Change::Replaces)),
        "mv" => paths.iter().for_each(|path| add(path, Change::Replaces)),
        "clone" => paths.iter().skip(1).for_each(|path| add(path, Change::Replaces)),
        "worktree"
            if paths
                .first()
                .is_some_and(|word| matches!(word.text.as_str(), "add" | "move" | "remove")) =>
        {
            paths.iter().skip(1).for_each(|path| add(path, Change::Replaces));
        }
        "config" if sets_what_it_runs(&command.args) => {
            add(&Word::fixed(".git/config"), Change::Writes)
        }
        sub if FILLS.contains(&sub) => {
            // A path may be a folder, and anything in it may change.
            let named =
                paths.iter().filter(|path| !matches!(path.text.as_str(), "." | "./" | ":/"));
            named.for_each(|path| add(path, Change::Fills));
            let into = arguments.values(&["--directory"]);
            into.iter().for_each(|folder| add(folder, Change::Fills));
            // In the project itself, tracked files may appear and disappear.
            if elsewhere {
                add(&Word::fixed("."), Change::Fills);
            }
        }
        _ => {}
    }
}

/// Whether this configures what git runs later: `git config core.hooksPath x`.
fn sets_what_it_runs(args: &[Word]) -> bool {
    const KEYS: [&str; 5] =
        ["core.hookspath", "core.fsmonitor", "core.sshcommand", "core.editor", "core.pager"];
    const STARTS: [&str; 7] =
        ["alias.", "filter.", "credential.", "include", "url.", "gpg.", "init.template"];
    const READS: [&str; 6] = ["--get", "--list", "-l", "--get-all", "get", "list"];
    let runs = |key: &str| {
        let key = key.to_ascii_lowercase();
        KEYS.contains(&key.as_str())
            || STARTS.iter().any(|start| key.starts_with(start))
            || key.starts_with("diff.") && key.ends_with(".command")
    };
    let args = || args.iter().map(|word| word.text.as_str());
    !args().any(|arg| READS.contains(&arg)) && args().any(runs)
}
