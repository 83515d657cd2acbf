//! Limits the number of crates in a build, because every build waits for each of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::complaint::Complaint;

/// Builds, each with its arguments for `cargo tree` and the maximum number of crates, ours
/// included.
const CEILINGS: [(&str, &[&str], usize); 4] = [
    ("the linter alone", &["-p", "counterfoil", "--no-default-features", "-e", "no-dev"], 170),
    ("the program", &["-p", "counterfoil", "-e", "no-dev"], 328),
    (
        "the program with all features",
        &["-p", "counterfoil", "--all-features", "-e", "no-dev"],
        366,
    ),
    ("the workspace with its tests", &["--workspace"], 382),
];

#[expect(clippy::print_stderr, reason = "a developer reads it")]
pub(super) fn check(root: &Path) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for (what, arguments, ceiling) in CEILINGS {
        let Some(count) = crates(root, arguments)? else {
            eprintln!("not checked: how many crates are built; `cargo fetch --locked` first");
            return Ok(complaints);
        };
        if count > ceiling {
            complaints.push(Complaint::new(
                "Cargo.lock",
                0,
                format!("{what} takes {count} crates, {ceiling} are the most"),
                "look at `cargo tree`: leave a dependency out, turn its features off, or say in \
                 the commit why the ceiling in crate_ceilings.rs rises",
            ));
        }
    }
    Ok(complaints)
}

/// The number of different crates in a build on Linux; `None` if cargo has not downloaded all that
/// the workspace names, for other systems too.
#[expect(clippy::disallowed_methods, reason = "cargo is asked what it would build")]
fn crates(root: &Path, arguments: &[&str]) -> Result<Option<usize>> {
    let mut tree = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    tree.args(["tree", "--locked", "--offline", "--prefix=none", "--format={p}"]);
    tree.args(["--target", "x86_64-unknown-linux-gnu"]).args(arguments).current_dir(root);
    let ran = tree.output().context("cargo tree")?;
    let error = String::from_utf8_lossy(&ran.stderr);
    if error.contains("failed to download") {
        return Ok(None);
    }
    ensure!(ran.status.success(), "cargo tree: {error}");
    let text = String::from_utf8_lossy(&ran.stdout);
    // `cargo tree` marks a repeated crate with `(*)` and a procedural macro with `(proc-macro)`;
    // name and version identify the crate.
    let names: BTreeSet<Vec<&str>> =
        text.lines().map(|line| line.split(' ').take(2).collect()).collect();
    Ok(Some(names.len()))
}
