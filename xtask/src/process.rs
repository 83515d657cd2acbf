//! Processes that are started for a measurement or a test.

use std::path::{Path, PathBuf};
use std::process::Child;

use anyhow::{Context as _, Result};

/// A process that is ended with us.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Returns the absolute path of the binary to test; it must be built.
pub(crate) fn built(binary: &Path) -> Result<PathBuf> {
    binary.canonicalize().with_context(|| {
        format!("{} is missing: build it with `cargo build --release`", binary.display())
    })
}
