//! Processes that are started to be measured or tried.

use std::path::{Path, PathBuf};
use std::process::Child;

use anyhow::{Context as _, Result};

/// A process that ends with us.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The binary that is tried, where it is built.
pub(crate) fn built(binary: &Path) -> Result<PathBuf> {
    binary.canonicalize().with_context(|| {
        format!("{} is missing: build it with `cargo build --release`", binary.display())
    })
}
