use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What became of a folder's files: every change in its order, as the files below saw it.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) operations: Vec<Operation>,
    /// Writes and syncs until one fails; `None` for a disk that never does.
    pub(super) until_failure: Option<u64>,
    pub(super) failure: Failure,
}

pub(super) type SharedDisk = Arc<Mutex<Disk>>;

#[derive(Debug, Clone)]
pub(super) enum Operation {
    Write {
        file: String,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: String,
        size: u64,
    },
    Sync {
        file: String,
    },
    Delete {
        file: String,
    },
    /// The ledger said that this event is written.
    Acknowledged {
        seq: u64,
    },
}

/// How a disk fails, from some moment on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Failure {
    /// Nothing can be written.
    #[default]
    Write,
    /// What is written cannot be made to last.
    Sync,
    /// There is no room.
    Full,
}

pub(super) fn lock(disk: &SharedDisk) -> MutexGuard<'_, Disk> {
    disk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    /// Counts down; whether the disk fails now, in this way.
    pub(super) fn fails(&mut self, ways: &[Failure]) -> bool {
        match &mut self.until_failure {
            None => false,
            Some(0) => ways.contains(&self.failure),
            Some(left) => {
                *left -= 1;
                false
            }
        }
    }

    /// The files as a machine may find them that stopped after so many operations: what was synced
    /// is there; of what was not, any sectors may be.
    pub(super) fn after_power_loss(
        &self,
        operations: usize,
        mut chance: impl FnMut() -> bool,
    ) -> BTreeMap<String, Vec<u8>> {
        let happened = &self.operations[..operations];
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut last_syncs = BTreeMap::new();
        for (at, operation) in happened.iter().enumerate() {
            if let Operation::Sync { file } = operation {
                last_syncs.insert(file, at);
            }
        }
        for (at, operation) in happened.iter().enumerate() {
            let synced = |file: &String| last_syncs.get(file).is_some_and(|last| at < *last);
            match operation {
                Operation::Write { file, offset, bytes } => {
                    let synced = synced(file);
                    let content = files.entry(file.clone()).or_default();
                    for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                        if synced || chance() {
                            let start = usize::try_from(*offset).unwrap() + number * SECTOR;
                            let end = start + sector.len();
                            content.resize(content.len().max(end), 0);
                            content[start..end].copy_from_slice(sector);
                        }
                    }
                }
                Operation::Truncate { file, size } => {
                    if synced(file) || chance() {
                        let content = files.entry(file.clone()).or_default();
                        content.resize(usize::try_from(*size).unwrap(), 0);
                    }
                }
                // SQLite syncs the folder with it.
                Operation::Delete { file } => drop(files.remove(file)),
                Operation::Sync { .. } | Operation::Acknowledged { .. } => {}
            }
        }
        files
    }
}

const SECTOR: usize = 512;

pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
