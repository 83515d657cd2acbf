//! The history of one ledger that a witness stores: a file to which notes are added.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use counterfoil_model::Digest;
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::kept::{KeptNotes, is_cut};
use crate::key::sync_folder;
use crate::note::Checkpoint;

/// The maximum size in bytes of a history, and of its contradictions. A longer history loses its
/// older half: new checkpoints are compared only with the latest note.
const LARGEST: u64 = 1024 * 1024;

/// The signatures of a stored note: that of the ledger, and that of the witness, which is written
/// last.
const SIGNATURES: usize = 2;

/// The notes of one ledger, locked while this value exists.
pub(super) struct History {
    origin: String,
    path: PathBuf,
    file: File,
    contradictions: PathBuf,
}

/// Creates the folder if it is missing, accessible to its owner only.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    sync_folder(folder)
}

impl History {
    pub(super) fn open(folder: &Path, origin: &str) -> io::Result<Self> {
        let stem = Digest::of_bytes(origin.as_bytes()).to_string();
        let path = folder.join(format!("{stem}.checkpoints"));
        let contradictions = folder.join(format!("{stem}.contradictions"));
        loop {
            let file = open(&path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            // The file may have been replaced while this process waited for the lock.
            let (locked, there) = (file.metadata()?, std::fs::metadata(&path)?);
            if (locked.dev(), locked.ino()) == (there.dev(), there.ino()) {
                return Ok(Self { origin: origin.to_owned(), path, file, contradictions });
            }
        }
    }

    /// The last complete note.
    pub(super) fn latest(&self) -> io::Result<Option<String>> {
        Ok(self.kept()?.notes.pop())
    }

    /// Adds a note. It is synced when this returns.
    pub(super) fn add(&mut self, checkpoint: &Checkpoint, cosignature: &str) -> io::Result<()> {
        let kept = self.kept()?;
        let note = format!("{checkpoint}{cosignature}");
        if (kept.end + note.len()) as u64 > LARGEST {
            return self.begin_anew(&kept.notes, &note);
        }
        // A note that a crash left unfinished was never acknowledged.
        if kept.torn > 0 {
            let (bytes, origin) = (kept.torn, &self.origin);
            tracing::warn!(
                "dropping {bytes} bytes of an incomplete checkpoint of `{origin}`, left by a crash"
            );
        }
        self.file.set_len(kept.end as u64)?;
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(note.as_bytes())?;
        self.file.sync_all()
    }

    /// Writes the newer half of the notes and this one to a new file, and replaces the old one.
    fn begin_anew(&mut self, notes: &[String], note: &str) -> io::Result<()> {
        let mut room = (LARGEST / 2) as usize;
        let newer = notes.iter().rev().take_while(|note| {
            let fits = room >= note.len();
            room = room.saturating_sub(note.len());
            fits
        });
        let newer = notes.get(notes.len() - newer.count()..).unwrap_or_default();
        let beside = self.path.with_extension("writing");
        let mut file = open(&beside)?;
        file.set_len(0)?;
        flock(&file, FlockOperation::LockExclusive)?;
        file.write_all(newer.concat().as_bytes())?;
        file.write_all(note.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, &self.path)?;
        sync_folder(&self.path)?;
        self.file = file;
        Ok(())
    }

    /// Stores, once, a checkpoint that contradicts what the ledger signed before.
    pub(super) fn keep_contradiction(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let mut file = open(&self.contradictions)?;
        let kept = self.read(&file, &self.contradictions, 1)?;
        let note = checkpoint.to_string();
        if kept.notes.iter().any(|kept| kept.starts_with(checkpoint.text())) {
            return Ok(());
        }
        // One is enough; someone with the key could sign any number.
        if (kept.end + note.len()) as u64 > LARGEST {
            return Ok(());
        }
        file.set_len(kept.end as u64)?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(note.as_bytes())?;
        file.sync_all()
    }

    fn kept(&self) -> io::Result<KeptNotes> {
        self.read(&self.file, &self.path, SIGNATURES)
    }

    /// Reads the notes of a file that may be incomplete only at its end. After any other change,
    /// the latest checkpoint is not known.
    fn read(&self, mut file: &File, path: &Path, signatures: usize) -> io::Result<KeptNotes> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        let kept = KeptNotes::read(&bytes, signatures);
        let rest = bytes.get(kept.end..).unwrap_or_default();
        // Two notes whose separator was removed would read as one: the first, older one.
        let whole = |note: &String| {
            let text = note.split_once("\n\n").map_or("", |(text, _)| text);
            text.lines().next() == Some(&*self.origin) && !text.contains("\n\u{2014} ")
        };
        let notes_hold = kept.notes.iter().all(whole);
        if notes_hold && rest.len() == kept.torn && is_cut(rest, &self.origin, signatures) {
            return Ok(kept);
        }
        let name = path.file_name().unwrap_or_default().display();
        let origin = &self.origin;
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "`{name}` was changed: it contains something other than checkpoints of `{origin}`"
            ),
        ))
    }
}

/// Opens a file, or creates it and syncs the folder.
fn open(path: &Path) -> io::Result<File> {
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false).mode(0o600).custom_flags(no_follow);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = options.create(true).open(path)?;
            sync_folder(path)?;
            Ok(file)
        }
        opened => opened,
    }
}
