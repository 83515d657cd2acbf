//! What users of the crate see.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

mod find;
mod front_matter;
mod inline_tools;
mod scan;
mod trust;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder for a test, gone afterwards.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    /// Writes a file, with its folders.
    fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(&path).unwrap().write_all(bytes.as_ref()).unwrap();
        path
    }

    /// A skill with a body; its folder.
    fn skill(&self, name: &str, body: &str) -> PathBuf {
        let text = format!("---\nname: {name}\ndescription: Does it.\n---\n{body}");
        self.write(&format!("{name}/SKILL.md"), text).parent().map(Path::to_owned).unwrap()
    }

    /// A text in which this folder is called `.`.
    fn shown(&self, text: &str) -> String {
        text.replace(&self.0.path().display().to_string(), ".")
    }
}

/// The bytes of a file.
fn bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}
