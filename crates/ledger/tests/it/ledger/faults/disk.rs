use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_ledger::{LogFile, SystemLogFile};

/// The changes to the files of a folder, in order, as the file system received them.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) operations: Vec<Operation>,
    /// The number of writes and syncs until one fails; `None` for a disk that never fails.
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
    /// The ledger acknowledged this event.
    Acknowledged {
        seq: u64,
    },
}

/// How a disk fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Failure {
    /// Writes fail.
    #[default]
    Write,
    /// Syncs fail.
    Sync,
    /// The disk is full.
    Full,
}

pub(super) fn lock(disk: &SharedDisk) -> MutexGuard<'_, Disk> {
    disk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    /// Counts down, and returns whether the disk fails now in one of these ways.
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

    /// The files after a power failure following this many operations: synced data is there; of the
    /// rest, any sectors may be.
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
                // SQLite syncs the folder as well.
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

/// The ledger's log on such a disk.
#[derive(Debug)]
pub(super) struct WatchedLog {
    disk: SharedDisk,
    name: String,
    file: SystemLogFile,
}

impl WatchedLog {
    pub(super) fn open(disk: &SharedDisk, path: &Path) -> Box<Self> {
        let file = SystemLogFile::open(path).unwrap();
        Box::new(Self { disk: disk.clone(), name: name(path), file })
    }
}

impl LogFile for WatchedLog {
    fn lock(&self) -> Result<()> {
        self.file.lock()
    }

    fn unlock(&self) {
        self.file.unlock();
    }

    fn length(&self) -> Result<u64> {
        self.file.length()
    }

    fn read_at(&self, bytes: &mut [u8], place: u64) -> Result<usize> {
        self.file.read_at(bytes, place)
    }

    fn write_at(&self, bytes: &[u8], place: u64) -> Result<()> {
        let mut disk = lock(&self.disk);
        if disk.fails(&[Failure::Write, Failure::Full]) {
            // A full disk accepts what still fits.
            let half = bytes.get(..bytes.len() / 2).filter(|_| disk.failure == Failure::Full);
            self.file.write_at(half.unwrap_or_default(), place)?;
            return Err(Error::from(ErrorKind::StorageFull));
        }
        let (file, bytes_written) = (self.name.clone(), bytes.to_vec());
        disk.operations.push(Operation::Write { file, offset: place, bytes: bytes_written });
        self.file.write_at(bytes, place)
    }

    fn cut(&self, length: u64) -> Result<()> {
        let mut disk = lock(&self.disk);
        disk.operations.push(Operation::Truncate { file: self.name.clone(), size: length });
        self.file.cut(length)
    }

    fn sync(&self) -> Result<()> {
        let mut disk = lock(&self.disk);
        if disk.fails(&[Failure::Sync]) {
            return Err(Error::other("not synced"));
        }
        disk.operations.push(Operation::Sync { file: self.name.clone() });
        self.file.sync()
    }
}
