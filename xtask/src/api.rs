//! The public API of the library crates as last agreed: `crates/NAME/api.txt`, one item per line.
//! Removing or changing a line breaks dependent code.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

/// The library crates, which other programs depend on.
const CRATES: [&str; 20] = [
    "model",
    "shell",
    "formats",
    "record",
    "redact",
    "admission",
    "rules",
    "judge",
    "judges",
    "report",
    "ledger",
    "sandbox",
    "tools",
    "guard",
    "providers",
    "hooks",
    "serve",
    "proxy",
    "agent",
    "sdk",
];

/// Features that must be enabled for their items to appear.
const FEATURES: [(&str, &str); 7] = [
    ("ledger", "postgres"),
    ("sandbox", "kernel"),
    ("tools", "shell"),
    ("tools", "file"),
    ("tools", "web"),
    ("serve", "otel"),
    ("proxy", "otel"),
];

/// The compiler that wrote the records; another one may describe the same API differently.
const RUSTC: &str = "rustc 1.95.";

#[derive(Args)]
pub(crate) struct Options {
    /// Write the records instead of comparing with them
    #[arg(long)]
    write: bool,
    /// Compare only these crates
    #[arg(value_name = "CRATE")]
    only: Vec<String>,
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let version = Command::new("rustc").arg("--version").output().context("rustc")?.stdout;
    let version = String::from_utf8_lossy(&version);
    if !version.starts_with(RUSTC) {
        println!("not checked: the records were made with {RUSTC}x, and this is {version}");
        return Ok(());
    }
    let chosen = |name: &&str| options.only.is_empty() || options.only.iter().any(|n| n == name);
    let crates: Vec<&str> = CRATES.into_iter().filter(chosen).collect();
    ensure!(!crates.is_empty(), "there is no such crate; there are {}", CRATES.join(", "));
    describe(root, &crates)?;
    let (mut broken, mut added) = (0, 0);
    for name in crates {
        let api = items(root, name)?;
        let record = root.join("crates").join(name).join("api.txt");
        if options.write {
            fs::write(&record, &api).with_context(|| record.display().to_string())?;
            continue;
        }
        let recorded = fs::read_to_string(&record)
            .with_context(|| format!("{}: `cargo xtask api --write` makes it", record.display()))?;
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let (before, now) = (lines(&recorded), lines(&api));
        for line in before.difference(&now) {
            println!("{name}: - {line}");
            broken += 1;
        }
        for line in now.difference(&before) {
            println!("{name}: + {line}");
            added += 1;
        }
    }
    ensure!(
        broken + added == 0,
        "the public API is not the recorded one: {broken} lines are gone, which breaks whoever uses \
         them, and {added} are new; where that is meant, run `cargo xtask api --write`, and say in \
         CHANGELOG.md what broke"
    );
    Ok(())
}

/// Has rustdoc describe these crates in JSON, in one run, which reuses earlier output.
fn describe(root: &Path, crates: &[&str]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .env("RUSTDOC", rustdoc(folder.path())?)
        .env("RUSTDOCFLAGS", "-Zunstable-options --output-format=json --cap-lints=allow")
        .args(["doc", "--quiet", "--locked", "--lib", "--no-deps"]);
    for name in crates {
        command.args(["-p", &format!("counterfoil-{name}")]);
    }
    for (name, feature) in FEATURES {
        if crates.contains(&name) {
            command.args(["--features", &format!("counterfoil-{name}/{feature}")]);
        }
    }
    ensure!(command.status().context("cargo doc")?.success(), "the crates cannot be described");
    Ok(())
}

/// Returns the public items of a described crate, one per line.
fn items(root: &Path, name: &str) -> Result<String> {
    let described = target(root).join("doc").join(format!("counterfoil_{name}.json"));
    let api = public_api::Builder::from_rustdoc_json(&described)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .with_context(|| described.display().to_string())?;
    Ok(api.items().map(|item| format!("{item}\n")).collect())
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Writes a wrapper for the stable rustdoc that enables JSON output. The compiler is not wrapped,
/// so nothing is rebuilt.
fn rustdoc(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("rustdoc");
    fs::write(&path, "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
    let mut permissions = fs::metadata(&path)?.permissions();
    permissions.set_mode(0o755);
    fs::set_permissions(&path, permissions)?;
    Ok(path)
}
