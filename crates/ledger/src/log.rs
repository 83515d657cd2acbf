//! The log holds events from their acknowledgement until they move into the tables.
//!
//! The file begins with 8 magic bytes and the number of its round, which grows whenever other
//! processes must read the tables again. Records follow: their length, the CRC-32 of the rest, a
//! letter, and either an event with the content it stores or a checkpoint. Numbers are big-endian.
//! The CRC shows whether a record was written completely; the digests show whether it was changed.
//! Zeros after the last complete record are preallocated space: a sync is cheaper if the file does
//! not grow. Anything else there is an unfinished write.

use std::io::Result;
use std::sync::Arc;

use counterfoil_model::Digest;

use super::log_file::LogFile;
use super::results::Stored;

/// The first bytes of the file.
const MAGIC: [u8; 8] = *b"CSGLLOG\x02";
/// The offset of the first record.
const START: u64 = 16;

/// The minimum and maximum size of the preallocated space in bytes.
const ROOM: std::ops::RangeInclusive<u64> = PAGE..=256 * 1024;
const PAGE: u64 = 4096;

/// A log.
#[derive(Debug)]
pub(super) struct Log {
    file: Box<dyn LogFile>,
    /// The offset at which to cut off what a failed write may have left.
    unfinished: Option<u64>,
    /// The length of the file, as far as this process knows.
    length: u64,
}

/// What a process knows of a log: if it is unchanged, no other process has written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) round: u64,
    pub(super) end: u64,
}

/// A record of the log.
#[derive(Debug)]
pub(super) enum Record {
    /// The bytes of an event, and the content it adds to the result store.
    Event(Vec<u8>, Vec<Stored>),
    /// A signed checkpoint.
    Checkpoint(String),
}

/// The records from an offset on.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) records: Vec<Record>,
    /// The offset at which the last complete record ends.
    end: u64,
    /// The number of bytes after it that are not preallocated space.
    pub(super) unfinished: u64,
}

/// What follows the offset at which the log ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Following {
    Nothing,
    Something,
    /// Even bytes before the offset are missing.
    Cut,
}

impl Log {
    pub(super) fn new(file: Box<dyn LogFile>) -> Self {
        Self { file, unfinished: None, length: 0 }
    }

    pub(super) fn lock(&self) -> Result<()> {
        self.file.lock()
    }

    pub(super) fn unlock(&self) {
        self.file.unlock();
    }

    /// The current round of the log. Starts a log if there is none.
    pub(super) fn round(&mut self) -> Result<u64> {
        if let Some(end) = self.unfinished {
            self.cut(end)?;
            self.unfinished = None;
        }
        let mut header = [0; 16];
        let whole = self.file.read_at(&mut header, 0)? == header.len();
        match round(&header).filter(|_| whole) {
            Some(round) => Ok(round),
            // An incomplete header was never followed by an acknowledged event.
            None => Ok(self.begin(1)?.round),
        }
    }

    /// Whether other processes wrote after this offset.
    pub(super) fn following(&self, end: u64) -> Result<Following> {
        // Reads the last byte before the offset, and the length of the next record.
        let mut bytes = [0; 9];
        let count = self.file.read_at(&mut bytes, end.saturating_sub(1))?;
        Ok(match bytes.get(..count) {
            None | Some([]) => Following::Cut,
            Some([_, length @ ..]) if length.iter().all(|byte| *byte == 0) => Following::Nothing,
            Some(_) => Following::Something,
        })
    }

    /// Empties the log, whose events are now in the tables, and sets the round.
    pub(super) fn begin(&mut self, round: u64) -> Result<Extent> {
        let mut header = [0; 16];
        let (magic, number) = header.split_at_mut(8);
        magic.copy_from_slice(&MAGIC);
        number.copy_from_slice(&round.to_be_bytes());
        // The round first: other processes must not mistake later records for those that they know.
        self.file.write_at(&header, 0)?;
        self.cut(START)?;
        Ok(Extent { round, end: START })
    }

    fn cut(&mut self, end: u64) -> Result<()> {
        self.file.cut(end)?;
        self.length = end;
        Ok(())
    }

    /// Writes all of the records or none. If the file must grow, some space is preallocated.
    pub(super) fn append(&mut self, mut bytes: Vec<u8>, at: &mut Extent, sync: Sync) -> Result<()> {
        let size = bytes.len();
        let end = at.end + u64::try_from(size).unwrap_or(u64::MAX);
        if end > self.length {
            let room = end.clamp(*ROOM.start(), *ROOM.end());
            let length = (end + room).next_multiple_of(PAGE);
            bytes.resize(usize::try_from(length - at.end).unwrap_or(size), 0);
        }
        let mut written = self.file.write_at(&bytes, at.end);
        if written.is_err() && bytes.len() > size {
            // The records may fit without the preallocated space.
            bytes.truncate(size);
            written = self.cut(at.end).and_then(|()| self.file.write_at(&bytes, at.end));
        }
        let written = written.and_then(|()| match sync {
            Sync::Now => self.file.sync(),
            Sync::Never => Ok(()),
        });
        match written {
            Ok(()) => {
                let length = at.end + u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                self.length = self.length.max(length);
                at.end = end;
            }
            Err(_) if self.cut(at.end).is_ok() => {}
            Err(_) => self.unfinished = Some(at.end),
        }
        written
    }

    /// Reads what follows `at`, and moves `at` to its end. Cuts off an unfinished write.
    pub(super) fn follow(&mut self, at: &mut Extent) -> Result<Read> {
        self.length = self.file.length()?;
        let read = read(&*self.file, at.end.max(START), self.length)?;
        at.end = read.end;
        if read.unfinished > 0 {
            self.cut(read.end)?;
        }
        Ok(read)
    }
}

/// Whether a write has to be synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    Now,
    Never,
}

/// Reads a whole log without changing it.
pub(super) fn read_all(file: &dyn LogFile) -> Result<Read> {
    let length = file.length()?;
    let mut header = [0; 16];
    let whole = file.read_at(&mut header, 0)? == header.len();
    match round(&header).filter(|_| whole) {
        Some(_) => read(file, START, length),
        None => Ok(Read { unfinished: length, ..Read::default() }),
    }
}

fn round(header: &[u8; 16]) -> Option<u64> {
    let (magic, number) = header.split_at(8);
    let number = number.try_into().ok().filter(|_| magic == MAGIC)?;
    Some(u64::from_be_bytes(number))
}

fn read(file: &dyn LogFile, from: u64, to: u64) -> Result<Read> {
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)];
    let count = file.read_at(&mut bytes, from)?;
    bytes.truncate(count);
    let mut rest = Bytes(&bytes);
    let mut records = Vec::new();
    while let Some(record) = rest.record() {
        records.push(record);
    }
    let read = bytes.len() - rest.0.len();
    let unfinished = rest.0.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Ok(Read { records, end: from + number(read), unfinished: number(unfinished) })
}

/// Appends an event record to `out`.
pub(super) fn put_event(out: &mut Vec<u8>, body: &[u8], stored: &[Stored]) {
    put(out, b'e', |out| {
        put_bytes(out, body);
        for Stored { digest, size, packed, bytes } in stored {
            out.extend_from_slice(digest.as_bytes());
            out.extend_from_slice(&u64::try_from(*size).unwrap_or(u64::MAX).to_be_bytes());
            out.push(u8::from(*packed));
            put_bytes(out, bytes);
        }
    });
}

/// Appends a checkpoint record to `out`.
pub(super) fn put_checkpoint(out: &mut Vec<u8>, note: &str) {
    put(out, b'c', |out| out.extend_from_slice(note.as_bytes()));
}

fn put(out: &mut Vec<u8>, kind: u8, content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    out.push(kind);
    content(out);
    let Some((header, content)) =
        out.get_mut(start..).and_then(|record| record.split_at_mut_checked(HEADER))
    else {
        return;
    };
    let (length, sum) = header.split_at_mut(8);
    length.copy_from_slice(&u64::try_from(content.len()).unwrap_or(u64::MAX).to_be_bytes());
    sum.copy_from_slice(&crc32fast::hash(content).to_be_bytes());
}

/// The size in bytes of a record's length and CRC.
const HEADER: usize = 8 + 4;

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// The bytes still to be read.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn record(&mut self) -> Option<Record> {
        let mut rest = Bytes(self.0);
        let length = usize::try_from(rest.number()?).ok()?;
        let sum = rest.take(4)?;
        let content = rest.take(length)?;
        if crc32fast::hash(content).to_be_bytes() != sum {
            return None;
        }
        let record = Bytes(content).content()?;
        *self = rest;
        Some(record)
    }

    fn content(&mut self) -> Option<Record> {
        match self.take(1)? {
            b"e" => {
                let body = self.bytes()?;
                let mut stored = Vec::new();
                while !self.0.is_empty() {
                    stored.push(Stored {
                        digest: self.digest()?,
                        size: usize::try_from(self.number()?).ok()?,
                        packed: self.take(1)? == [1],
                        bytes: Arc::new(self.bytes()?),
                    });
                }
                Some(Record::Event(body, stored))
            }
            b"c" => Some(Record::Checkpoint(str::from_utf8(self.0).ok()?.to_owned())),
            _ => None,
        }
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    fn digest(&mut self) -> Option<Digest> {
        Some(Digest::from_bytes(self.take(32)?.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count).map(<[u8]>::to_vec)
    }
}
