//! The log: events stand there from when they are acknowledged until they move into the tables.
//!
//! The file begins with 8 bytes that say what it is, and the number of its round, which grows
//! whenever another process must read the tables anew. Records follow: their length, the SHA-256
//! of the rest, a letter, and an event with what it stores, or a checkpoint. Numbers are
//! big-endian. What follows the last whole record is an unfinished write.

use std::io::Result;

use countersign_model::Digest;

use super::log_file::LogFile;
use super::results::Stored;

/// What the file begins with.
const MAGIC: [u8; 8] = *b"CSGLLOG\x01";
/// Where the records begin.
const START: u64 = 16;

/// A log, and where it ends.
#[derive(Debug)]
pub(super) struct Log {
    file: Box<dyn LogFile>,
    /// What a failed write may have left behind is to be cut here.
    unfinished: Option<u64>,
}

/// What a process knows of a log: when it is the same, nobody else wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) round: u64,
    pub(super) end: u64,
}

/// Something that was written.
#[derive(Debug)]
pub(super) enum Record {
    /// An event's bytes, and what it brought into the result store.
    Event(Vec<u8>, Vec<Stored>),
    /// A signed checkpoint.
    Checkpoint(String),
}

/// The records from some place on.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) records: Vec<Record>,
    /// The bytes behind the last whole record.
    pub(super) unfinished: u64,
}

impl Log {
    pub(super) fn new(file: Box<dyn LogFile>) -> Self {
        Self { file, unfinished: None }
    }

    pub(super) fn lock(&self) -> Result<()> {
        self.file.lock()
    }

    pub(super) fn unlock(&self) {
        self.file.unlock();
    }

    /// Where the log ends now; begins it when there is none.
    pub(super) fn extent(&mut self) -> Result<Extent> {
        if let Some(end) = self.unfinished {
            self.file.cut(end)?;
            self.unfinished = None;
        }
        let mut header = [0; 16];
        let end = self.file.length()?;
        if end >= START {
            self.file.read_at(&mut header, 0)?;
        }
        match round(&header) {
            Some(round) => Ok(Extent { round, end }),
            // A header that is not whole was never followed by anything that was acknowledged.
            None => self.begin(1),
        }
    }

    /// Begins the log anew: what was there has moved.
    pub(super) fn begin(&mut self, round: u64) -> Result<Extent> {
        let mut header = [0; 16];
        let (magic, number) = header.split_at_mut(8);
        magic.copy_from_slice(&MAGIC);
        number.copy_from_slice(&round.to_be_bytes());
        // First the number: others must not take what follows for what they know.
        self.file.write_at(&header, 0)?;
        self.file.cut(START)?;
        Ok(Extent { round, end: START })
    }

    /// Writes records; all of them, or none.
    pub(super) fn append(&mut self, bytes: &[u8], at: &mut Extent, sync: Sync) -> Result<()> {
        let written = self.file.write_at(bytes, at.end).and_then(|()| match sync {
            Sync::Now => self.file.sync(),
            Sync::Never => Ok(()),
        });
        match written {
            Ok(()) => at.end += u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Err(_) if self.file.cut(at.end).is_ok() => {}
            Err(_) => self.unfinished = Some(at.end),
        }
        written
    }

    /// Reads what stands between two places; what is unfinished there is cut off.
    pub(super) fn follow(&mut self, from: u64, extent: &mut Extent) -> Result<Read> {
        let read = read(&*self.file, from.max(START), extent.end)?;
        if read.unfinished > 0 {
            extent.end -= read.unfinished;
            self.file.cut(extent.end)?;
        }
        Ok(read)
    }
}

/// Whether a write must survive the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    Now,
    Never,
}

/// Reads a whole log, and changes nothing.
pub(super) fn read_all(file: &dyn LogFile) -> Result<Read> {
    let end = file.length()?;
    let mut header = [0; 16];
    if end >= START {
        file.read_at(&mut header, 0)?;
    }
    match round(&header) {
        Some(_) => read(file, START, end),
        None => Ok(Read { records: Vec::new(), unfinished: end }),
    }
}

fn round(header: &[u8; 16]) -> Option<u64> {
    let (magic, number) = header.split_at(8);
    let number = number.try_into().ok().filter(|_| magic == MAGIC)?;
    Some(u64::from_be_bytes(number))
}

fn read(file: &dyn LogFile, from: u64, to: u64) -> Result<Read> {
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)];
    file.read_at(&mut bytes, from)?;
    let mut rest = Bytes(&bytes);
    let mut records = Vec::new();
    loop {
        let before = rest.0.len();
        match rest.record() {
            Some(record) => records.push(record),
            None => {
                let unfinished = u64::try_from(before).unwrap_or(u64::MAX);
                return Ok(Read { records, unfinished });
            }
        }
    }
}

/// Adds an event to bytes that are to be written.
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

/// Adds a checkpoint.
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
    sum.copy_from_slice(Digest::of_bytes(content).as_bytes());
}

/// The length of a record, and its digest.
const HEADER: usize = 8 + 32;

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// What is left to be read.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn record(&mut self) -> Option<Record> {
        let mut rest = Bytes(self.0);
        let length = usize::try_from(rest.number()?).ok()?;
        let sum = rest.digest()?;
        let content = rest.take(length)?;
        if Digest::of_bytes(content) != sum {
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
                        bytes: self.bytes()?,
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
