//! Checks that values written in several files agree.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::{REPOSITORY, VERSION};

/// Files outside the crates that name the version, the repository or the oldest Rust, and the text
/// they must contain.
fn places() -> [(&'static str, String); 12] {
    let owner = REPOSITORY.trim_start_matches("https://github.com/");
    let rust = env!("CARGO_PKG_RUST_VERSION");
    [
        ("packages/install.sh", format!("repository={REPOSITORY}\n")),
        ("packages/install.sh", format!("version=${{COUNTERFOIL_VERSION:-{VERSION}}}\n")),
        ("packages/install.sh", format!("--repo {owner}\n")),
        ("packages/pre-commit.sh", format!("version={VERSION}\n")),
        ("packages/docker/Dockerfile", format!("image.source=\"{REPOSITORY}\"")),
        ("packages/npm/counterfoil/package.json", format!("\"version\": \"{VERSION}\"")),
        ("packages/npm/counterfoil/package.json", format!("\"url\": \"git+{REPOSITORY}.git\"")),
        ("packages/docker/Dockerfile", format!("FROM rust:{rust}-")),
        (".github/workflows/ci.yml", format!("RUSTUP_TOOLCHAIN: \"{rust}.")),
        (".github/workflows/release.yml", format!("RUSTUP_TOOLCHAIN: \"{rust}.")),
        ("docs/install.md", format!("{REPOSITORY}/releases/latest/download/install.sh")),
        ("docs/install.md", format!("uses: {owner}@v{VERSION}\n")),
    ]
}

/// # Errors
/// Returns an error for the first file that disagrees with `Cargo.toml`.
pub(super) fn agree(root: &Path) -> Result<()> {
    for (path, expected) in places() {
        let text = std::fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
        let expected_line = expected.trim_end();
        ensure!(
            text.contains(&expected),
            "{path} does not say `{expected_line}`, as Cargo.toml does"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_and_repository_are_the_same_everywhere() {
        super::agree(&crate::root()).unwrap();
    }
}
