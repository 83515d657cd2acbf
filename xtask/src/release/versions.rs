//! What is written in several places is the same in all of them.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::{REPOSITORY, VERSION};

/// Files beside the crates that name the version or the repository, and how.
fn places() -> [(&'static str, String); 8] {
    let owner = REPOSITORY.trim_start_matches("https://github.com/");
    [
        ("packages/install.sh", format!("repository={REPOSITORY}\n")),
        ("packages/install.sh", format!("version=${{COUNTERFOIL_VERSION:-{VERSION}}}\n")),
        ("packages/install.sh", format!("--repo {owner}\n")),
        ("packages/pre-commit.sh", format!("version={VERSION}\n")),
        ("packages/docker/Dockerfile", format!("image.source=\"{REPOSITORY}\"")),
        ("packages/npm/counterfoil/package.json", format!("\"version\": \"{VERSION}\"")),
        ("docs/install.md", format!("{REPOSITORY}/releases/latest/download/install.sh")),
        ("docs/install.md", format!("uses: {owner}@v{VERSION}\n")),
    ]
}

/// # Errors
/// The first place that says something else than `Cargo.toml`.
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
