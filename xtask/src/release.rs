//! `cargo xtask release`: builds the files of a release. The same program yields the same bytes.

mod archive;
mod versions;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use counterfoil_model::Digest;

use crate::process::built;

/// Flags of `cargo xtask release`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The output folder. Files already in it are kept, and get a checksum.
    #[arg(long, default_value = "target/release-files")]
    out: PathBuf,
    /// The program's platform; without it, only the checksums and the formula are rebuilt.
    #[arg(long, requires = "binary")]
    target: Option<String>,
    /// The program for that platform.
    #[arg(long, requires = "target")]
    binary: Option<PathBuf>,
    /// A program that runs on this machine, to print the completions and manual pages.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Require every platform.
    #[arg(long)]
    whole: bool,
}

/// The platforms of a release.
const TARGETS: [&str; 6] = [
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
];

/// Files that are released unchanged: the installer, and the verifier of bundles of receipts.
const AS_THEY_ARE: [&str; 2] =
    ["packages/install.sh", "crates/cli/src/command/guarded/audit/bundle/verify.py"];

const SUMS: &str = "SHA256SUMS";
const FORMULA: &str = "counterfoil.rb";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    versions::agree(root)?;
    let out = root.join(&options.out);
    std::fs::create_dir_all(&out)?;
    if let (Some(target), Some(binary)) = (&options.target, &options.binary) {
        ensure!(TARGETS.contains(&target.as_str()), "no release has a program for `{target}`");
        let binary = built(&root.join(binary))?;
        let program =
            options.program.as_ref().map_or(Ok(binary.clone()), |p| built(&root.join(p)))?;
        archive::write(root, &out, target, &binary, &program)?;
    }
    for path in AS_THEY_ARE {
        let name = Path::new(path).file_name().context("a path without a name")?;
        std::fs::copy(root.join(path), out.join(name)).with_context(|| path.to_owned())?;
    }
    let sums = sums(&out)?;
    let text: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    std::fs::write(out.join(SUMS), text)?;
    let missing: Vec<&str> =
        TARGETS.into_iter().filter(|target| !sums.contains_key(&archive::name(target))).collect();
    if options.whole && !missing.is_empty() {
        bail!("these platforms are missing: {}", missing.join(", "));
    }
    let template = std::fs::read_to_string(root.join("packages/homebrew").join(FORMULA))?;
    match formula(&template, &sums) {
        Ok(formula) => std::fs::write(out.join(FORMULA), formula)?,
        Err(error) if options.whole => return Err(error),
        Err(error) => println!("no formula: {error}"),
    }
    println!("{}", out.display());
    Ok(())
}

/// Returns the SHA-256 of every file, by name, except the checksums and the formula, which are
/// derived from them.
fn sums(out: &Path) -> Result<BTreeMap<String, Digest>> {
    let mut sums = BTreeMap::new();
    for entry in std::fs::read_dir(out)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("a name is no text")?;
        if path.is_file() && ![SUMS, FORMULA].contains(&name) {
            sums.insert(name.to_owned(), Digest::of_bytes(&std::fs::read(&path)?));
        }
    }
    Ok(sums)
}

/// Fills in the template of the formula.
fn formula(template: &str, sums: &BTreeMap<String, Digest>) -> Result<String> {
    let mut text = template.replace("@VERSION@", VERSION).replace("@REPOSITORY@", REPOSITORY);
    for target in TARGETS {
        let place = format!("@SHA256:{target}@");
        if text.contains(&place) {
            let sum = sums.get(&archive::name(target));
            let sum = sum.with_context(|| format!("there is no archive for {target}"))?;
            text = text.replace(&place, &sum.to_string());
        }
    }
    ensure!(!text.contains('@'), "the formula's template has a place that nothing fills");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_names_the_sum_of_each_archive() {
        let template =
            std::fs::read_to_string(crate::root().join("packages/homebrew").join(FORMULA)).unwrap();
        let all: BTreeMap<String, Digest> = TARGETS
            .iter()
            .map(|target| (archive::name(target), Digest::of_bytes(target.as_bytes())))
            .collect();
        let text = formula(&template, &all).unwrap();
        for target in TARGETS.into_iter().filter(|target| !target.ends_with("musl")) {
            let sum = Digest::of_bytes(target.as_bytes());
            let (_, after) = text.split_once(&format!("{}\"\n", archive::name(target))).unwrap();
            assert!(after.trim_start().starts_with(&format!("sha256 \"{sum}\"")), "{target}");
        }
        let mut fewer = all;
        fewer.remove(&archive::name("aarch64-apple-darwin"));
        assert!(formula(&template, &fewer).is_err());
    }
}
