//! The archive of one platform: sorted, with fixed times, owners and modes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::VERSION;

/// The file name for a platform.
pub(super) fn name(target: &str) -> String {
    format!("{}.tar.gz", folder(target))
}

fn folder(target: &str) -> String {
    format!("counterfoil-{VERSION}-{target}")
}

const DOCUMENTS: [&str; 4] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
const VERIFIER: &str = "verify.py";
/// The shells, with the file names that they expect for completions.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "counterfoil.bash"),
    ("elvish", "counterfoil.elv"),
    ("fish", "counterfoil.fish"),
    ("powershell", "_counterfoil.ps1"),
    ("zsh", "_counterfoil"),
];

/// Writes the archive: the program, its licences and documents, completions, manual pages, and
/// the verifier of bundles of receipts.
pub(super) fn write(
    root: &Path,
    out: &Path,
    target: &str,
    binary: &Path,
    program: &Path,
) -> Result<()> {
    let mut entries: BTreeMap<String, (Vec<u8>, u32)> = BTreeMap::new();
    entries.insert("counterfoil".to_owned(), (std::fs::read(binary)?, 0o755));
    for document in DOCUMENTS {
        let text = std::fs::read(root.join(document)).with_context(|| document.to_owned())?;
        entries.insert(document.to_owned(), (text, 0o644));
    }
    let verifier = root.join("crates/cli/src/command/guarded/audit/bundle").join(VERIFIER);
    entries.insert(format!("verify/{VERIFIER}"), (std::fs::read(verifier)?, 0o644));
    for (shell, file) in SHELLS {
        let script = printed(Command::new(program).args(["completions", shell]))?;
        entries.insert(format!("completions/{file}"), (script, 0o644));
    }
    let pages = tempfile::tempdir()?;
    printed(Command::new(program).args(["man", "--directory"]).arg(pages.path()))?;
    for page in std::fs::read_dir(pages.path())? {
        let path = page?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("a name is no text")?;
        entries.insert(format!("man/{name}"), (std::fs::read(&path)?, 0o644));
    }
    let packed = packed(&folder(target), &entries, time()?)?;
    // Written to a temporary file and renamed, so that a partial archive never gets a checksum.
    let mut file = tempfile::NamedTempFile::new_in(out)?;
    std::io::Write::write_all(&mut file, &packed)?;
    file.persist(out.join(name(target)))?;
    Ok(())
}

/// The time of every file: that of the commit, if the build sets it.
fn time() -> Result<u64> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(time) => time.parse().context("SOURCE_DATE_EPOCH is no number of seconds"),
        Err(_) => Ok(0),
    }
}

fn printed(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(output.stdout)
}

/// Returns the bytes of the archive.
fn packed(folder: &str, entries: &BTreeMap<String, (Vec<u8>, u32)>, time: u64) -> Result<Vec<u8>> {
    let gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut tar = Builder::new(gzip);
    for (name, (bytes, mode)) in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(*mode);
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, format!("{folder}/{name}"), bytes.as_slice())?;
    }
    Ok(tar.into_inner()?.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_bytes() {
        let entries: BTreeMap<_, _> = [("b", 0o644), ("a/c", 0o755)]
            .map(|(name, mode)| (name.to_owned(), (name.as_bytes().to_vec(), mode)))
            .into();
        let bytes = packed("f", &entries, 7).unwrap();
        assert_eq!(bytes, packed("f", &entries, 7).unwrap());
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let seen: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = entry.path().unwrap().display().to_string();
                (path, header.mode().unwrap(), header.mtime().unwrap(), header.uid().unwrap())
            })
            .collect();
        let expected = [("f/a/c", 0o755), ("f/b", 0o644)];
        let expected = expected.map(|(name, mode)| (name.to_owned(), mode, 7, 0));
        assert_eq!(seen, expected);
    }
}
