//! Logs in a zip archive, such as those of Inspect.

use std::borrow::Cow;
use std::io::{self, BufRead, Cursor, Read};

use zip::ZipArchive;

use crate::lines::LARGEST;

/// Magic bytes of a zip archive.
pub(crate) const ZIP: [u8; 4] = *b"PK\x03\x04";
/// Magic bytes of a Zstandard frame.
pub(crate) const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Concatenates the JSON files of an archive. If there is a `samples` folder, only its files are
/// read: the others are summaries of the same data.
pub(crate) fn json_of(input: impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    let damaged = |error: &dyn std::fmt::Display| {
        io::Error::new(io::ErrorKind::InvalidData, format!("the archive is damaged: {error}"))
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    let samples = archive.file_names().flatten().any(|name| is_sample(&name));
    let mut all = Vec::new();
    for at in 0..archive.len() {
        let mut file = archive.by_index_raw(at).map_err(|error| damaged(&error))?;
        let Ok(name) = file.name().map(Cow::into_owned) else { continue };
        let json = [".json", ".jsonl"].iter().any(|ending| name.ends_with(ending));
        if !json || samples && !is_sample(&name) {
            continue;
        }
        let (packed, whole) = (file.compressed_size(), file.size());
        let mut raw = Vec::new();
        file.read_to_end(&mut raw)?;
        let left = LARGEST.saturating_sub(all.len() as u64);
        let mut limited = unpacked(&raw, packed == whole).map_err(|e| damaged(&e))?.take(left + 1);
        limited.read_to_end(&mut all).map_err(|error| damaged(&error))?;
        if all.len() as u64 > LARGEST {
            return Err(too_large());
        }
        all.push(b'\n');
    }
    Ok(all)
}

fn is_sample(name: &str) -> bool {
    name.starts_with("samples/")
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "the archive contains more than 512 MiB")
}

/// Unpacks an entry; its first bytes tell whether it is Zstandard.
fn unpacked(raw: &[u8], stored: bool) -> io::Result<Box<dyn Read + '_>> {
    if raw.starts_with(&ZSTD) {
        let decoder = ruzstd::decoding::StreamingDecoder::new(raw);
        let decoder = decoder
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        return Ok(Box::new(decoder));
    }
    Ok(if stored { Box::new(raw) } else { Box::new(flate2::read::DeflateDecoder::new(raw)) })
}
