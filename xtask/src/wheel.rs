//! `cargo xtask wheel`: builds the Python package with the command line in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Flags of `cargo xtask wheel`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A Python with maturin, and for `--portable` with cargo-zigbuild and ziglang.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// The output folder.
    #[arg(long, default_value = "target/wheels")]
    out: PathBuf,
    /// The cargo profile to build with.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Build for every Linux with glibc 2.17 or newer, not only for this machine.
    #[arg(long)]
    portable: bool,
    /// Also build the source distribution.
    #[arg(long)]
    sdist: bool,
}

/// The oldest glibc that a portable wheel runs on, for the linker and for the wheel's tag.
const GLIBC: (u32, u32) = (2, 17);
const TAG: &str = "manylinux2014";

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    // Fail before the build, which takes ten minutes.
    needs(&options.python, options.portable)?;
    let (folder, profile) = (root.join("crates/python"), options.profile.as_str());
    let scripts = folder.join("counterfoil.data/scripts");
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    // Tools installed with this Python are in its folder.
    let python = std::env::current_dir()?.join(&options.python);
    let tools = python.parent().context("`--python` names no file in a folder")?;
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let binary = if options.portable {
        let (major, minor) = GLIBC;
        let mut build = Command::new("cargo");
        build.args(["zigbuild", "--profile", profile, "--locked", "-p", "counterfoil", "--target"]);
        build.arg(format!("{target}.{major}.{minor}"));
        done(build.env("PATH", &path).current_dir(root))?;
        root.join("target").join(&target).join(profile).join("counterfoil")
    } else {
        let mut build = Command::new("cargo");
        build.args(["build", "--profile", profile, "--locked", "-p", "counterfoil"]);
        done(build.current_dir(root))?;
        root.join("target").join(profile).join("counterfoil")
    };
    std::fs::create_dir_all(&scripts)?;
    let placed = scripts.join("counterfoil");
    std::fs::copy(&binary, &placed).with_context(|| binary.display().to_string())?;
    let mut strip = Command::new("strip");
    // Stripping only makes the wheel smaller, so it may fail.
    let _ = strip.arg(&placed).status();
    let out = root.join(&options.out);
    let mut wheel = Command::new(&options.python);
    wheel.args(["-m", "maturin", "build", "--profile", profile, "--locked", "--out"]).arg(&out);
    match options.portable {
        true => {
            wheel.env("PATH", &path).args(["--zig", "--compatibility", TAG, "--target", &target])
        }
        false => wheel.args(["--compatibility", "linux"]),
    };
    wheel.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    let made = done(&mut wheel);
    std::fs::remove_dir_all(&scripts)?;
    made?;
    if options.sdist {
        let mut sdist = Command::new(&options.python);
        sdist.args(["-m", "maturin", "sdist", "--out"]).arg(&out);
        done(sdist.arg("--manifest-path").arg(folder.join("Cargo.toml")))?;
    }
    if options.portable {
        // maturin checks only the extension module.
        let newest = newest_glibc(&binary)?;
        ensure!(newest <= GLIBC, "the command line needs glibc {}.{}", newest.0, newest.1);
    }
    println!("{}", out.display());
    Ok(())
}

/// Checks that the Python has what the build needs.
fn needs(python: &Path, portable: bool) -> Result<()> {
    let modules: &[(&str, &str)] = &[("maturin", "maturin"), ("ziglang", "ziglang")];
    for (module, package) in modules.iter().take(if portable { 2 } else { 1 }) {
        let code =
            format!("import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)");
        let ran = Command::new(python).args(["-c", &code]).output();
        let ran = ran.with_context(|| format!("cannot run `{}`", python.display()))?;
        ensure!(
            ran.status.success(),
            "`{python}` has no module `{module}`; install it with `{python} -m pip install {package}`, \
             or name a Python that has it with `--python`",
            python = python.display(),
        );
    }
    Ok(())
}

fn done(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Returns the newest version of glibc that a program requires.
fn newest_glibc(binary: &Path) -> Result<(u32, u32)> {
    let bytes = std::fs::read(binary)?;
    let text = String::from_utf8_lossy(&bytes);
    let versions = text.split("GLIBC_").skip(1).filter_map(|rest| {
        let version: String =
            rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let (major, minor) = version.split_once('.')?;
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    versions.max().context("it names no glibc")
}
