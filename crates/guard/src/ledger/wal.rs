//! What SQLite's write-ahead log ends with, before SQLite cuts it: recovery says what it did.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use super::settings::Durability;

/// The end of a log that belongs to no finished transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Torn {
    bytes: u64,
}

impl Torn {
    pub(super) fn notice(self, durability: Durability) -> String {
        let bytes = self.bytes;
        let lost = match durability {
            Durability::Full | Durability::Batch => "nothing acknowledged was in it",
            Durability::Os => {
                "if the machine stopped, and not only the process, acknowledged events may be lost"
            }
        };
        format!("the last {bytes} bytes of the log were an unfinished write and are cut: {lost}")
    }
}

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Looks for an unfinished end; `None` where there is none, or no log.
pub(super) fn torn(path: &Path) -> std::io::Result<Option<Torn>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    unfinished(BufReader::with_capacity(1 << 16, file), length)
}

/// The log begins with a header; frames follow, each with the salts of the header and a running
/// checksum; the last frame of a transaction says how large the database is now. Frames with other
/// salts are left over from before the log began anew.
fn unfinished(mut log: impl Read, length: u64) -> std::io::Result<Option<Torn>> {
    let mut header = [0; HEADER];
    if !read_whole(&mut log, &mut header)? {
        return Ok((length > 0).then_some(Torn { bytes: length }));
    }
    let big_endian = match word(&header, 0) {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return Ok(None),
    };
    let page = usize::try_from(word(&header, 8)).unwrap_or(0);
    let salts = header.get(16..24).map(<[u8]>::to_vec).unwrap_or_default();
    let mut sums = (0, 0);
    add(&mut sums, header.get(..24).unwrap_or_default(), big_endian);
    if sums != (word(&header, 24), word(&header, 28)) || !(512..=65536).contains(&page) {
        // Not even the header was whole: no transaction can have followed it.
        return Ok(Some(Torn { bytes: length }));
    }
    let mut frame = vec![0; FRAME_HEADER + page];
    let mut unfinished = 0;
    let mut whole = true;
    loop {
        let got = read_up_to(&mut log, &mut frame)?;
        let ours = frame.get(8..16) == Some(&salts) && got >= 16;
        if !ours {
            break;
        }
        unfinished += u64::try_from(got).unwrap_or(0);
        if got < frame.len() {
            break;
        }
        add(&mut sums, frame.get(..8).unwrap_or_default(), big_endian);
        add(&mut sums, frame.get(FRAME_HEADER..).unwrap_or_default(), big_endian);
        whole &= sums == (word(&frame, 16), word(&frame, 20));
        if whole && word(&frame, 4) != 0 {
            unfinished = 0;
        }
    }
    Ok((unfinished > 0).then_some(Torn { bytes: unfinished }))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    u32::from_be_bytes(four.unwrap_or_default())
}

/// Adds to SQLite's checksum.
fn add(sums: &mut (u32, u32), bytes: &[u8], big_endian: bool) {
    let read = |four: &[u8]| {
        let four = four.try_into().unwrap_or_default();
        if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    for eight in bytes.chunks_exact(8) {
        let (first, second) = eight.split_at(4);
        sums.0 = sums.0.wrapping_add(read(first)).wrapping_add(sums.1);
        sums.1 = sums.1.wrapping_add(read(second)).wrapping_add(sums.0);
    }
}

fn read_whole(log: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<bool> {
    let wanted = bytes.len();
    Ok(read_up_to(log, bytes)? == wanted)
}

fn read_up_to(log: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while let Some(rest) = bytes.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match log.read(rest) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}
