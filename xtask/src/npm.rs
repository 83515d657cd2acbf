//! `cargo xtask npm`: builds the npm package, and the one with a platform's binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::process::built;

/// Flags of `cargo xtask npm`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The platform's binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// The platform's name in Node.
    #[arg(long, default_value = "linux-x64")]
    platform: String,
    /// The output folder.
    #[arg(long, default_value = "target/npm")]
    out: PathBuf,
}

const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let template = root.join("packages/npm/counterfoil");
    let text = std::fs::read_to_string(template.join("package.json"))?;
    let manifest: Value = serde_json::from_str(&text)?;
    let version = text_at(&manifest, "/version")?;
    ensure!(
        version == env!("CARGO_PKG_VERSION"),
        "packages/npm/counterfoil/package.json says {version}, and the crates {}",
        env!("CARGO_PKG_VERSION")
    );
    let name = format!("@counterfoil/{}", options.platform);
    ensure!(
        text_at(&manifest, &format!("/optionalDependencies/{}", name.replace('/', "~1")))?
            == version,
        "packages/npm/counterfoil/package.json does not depend on {name} {version}"
    );
    let repository = manifest.get("repository").context("package.json names no `repository`")?;
    let (os, cpu) = options.platform.split_once('-').context("a platform is OS-CPU")?;
    let out = root.join(&options.out);
    let folders = [out.join("counterfoil"), out.join(&options.platform)];
    for folder in &folders {
        std::fs::create_dir_all(folder.join("bin"))?;
        for licence in LICENCES {
            std::fs::copy(root.join(licence), folder.join(licence))?;
        }
    }
    let [whole, platform] = &folders;
    for file in ["package.json", "README.md", "bin/counterfoil.js"] {
        std::fs::copy(template.join(file), whole.join(file)).with_context(|| file.to_owned())?;
    }
    std::fs::copy(built(&options.binary)?, platform.join("bin/counterfoil"))?;
    let own = json!({
        "name": name,
        "version": version,
        "description": format!("The program of counterfoil for {os} on {cpu}"),
        "license": text_at(&manifest, "/license")?,
        "repository": repository,
        "os": [os],
        "cpu": [cpu],
        "files": ["bin", "LICENSE-MIT", "LICENSE-APACHE"],
    });
    std::fs::write(platform.join("package.json"), format!("{own:#}\n"))?;
    for folder in &folders {
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent", "--pack-destination"]).arg(&out).current_dir(folder);
        let status = pack.status().context("npm is not installed")?;
        ensure!(status.success(), "{pack:?}: {status}");
    }
    println!("{}", out.display());
    Ok(())
}

fn text_at<'m>(manifest: &'m Value, pointer: &str) -> Result<&'m str> {
    let text = manifest.pointer(pointer).and_then(Value::as_str);
    text.with_context(|| format!("packages/npm/counterfoil/package.json has no `{pointer}`"))
}
