//! What a witness keeps of one ledger: a file to which notes are added.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use counterfoil_model::Digest;
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::ledger::note::Checkpoint;

/// The notes of one ledger, locked for as long as this is there.
pub(super) struct History {
    file: File,
    contradictions: PathBuf,
}

/// Makes the folder where it is missing, readable by its owner alone.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

impl History {
    pub(super) fn open(folder: &Path, origin: &str) -> io::Result<Self> {
        let stem = Digest::of_bytes(origin.as_bytes()).to_string();
        let file = open(&folder.join(format!("{stem}.checkpoints")))?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(Self { file, contradictions: folder.join(format!("{stem}.contradictions")) })
    }

    /// The last note that was written whole.
    pub(super) fn latest(&self) -> io::Result<Option<String>> {
        let text = self.whole()?;
        let mut start = 0;
        let mut before = "";
        for (at, line) in lines(&text) {
            // A note begins after the signatures of the one before.
            if before.starts_with('\u{2014}') && !line.starts_with('\u{2014}') {
                start = at;
            }
            before = line;
        }
        let last = text.get(start..).unwrap_or_default();
        Ok((!last.is_empty()).then(|| last.to_owned()))
    }

    /// Adds a note. It is on the disk when this returns.
    pub(super) fn add(&mut self, checkpoint: &Checkpoint, cosignature: &str) -> io::Result<()> {
        // What a crash left unfinished was never acknowledged.
        let end = self.whole()?.len() as u64;
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(format!("{checkpoint}{cosignature}").as_bytes())?;
        self.file.sync_all()
    }

    /// Keeps, once, what a ledger signed against what it signed before.
    pub(super) fn keep_contradiction(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let mut file = open(&self.contradictions)?;
        let mut kept = String::new();
        file.read_to_string(&mut kept)?;
        if kept.contains(checkpoint.text()) {
            return Ok(());
        }
        file.seek(SeekFrom::End(0))?;
        file.write_all(checkpoint.to_string().as_bytes())?;
        file.sync_all()
    }

    /// The notes up to the last cosignature: each has two lines of signatures at least, the last of
    /// which was written last.
    fn whole(&self) -> io::Result<String> {
        let mut file = &self.file;
        let mut text = String::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_string(&mut text)?;
        let (mut end, mut before) = (0, "");
        for (at, line) in lines(&text) {
            let signed = |line: &str| line.starts_with('\u{2014}') && line.ends_with('\n');
            if signed(before) && signed(line) {
                end = at + line.len();
            }
            before = line;
        }
        text.truncate(end);
        Ok(text)
    }
}

/// The lines with their places, each with its end.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

fn open(path: &Path) -> io::Result<File> {
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(no_follow).open(path)
}
