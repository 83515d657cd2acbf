//! The result store: texts and results by their digest, compressed.

use countersign_model::Digest;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::recent::Recent;

/// Bytes on their way into the store.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) digest: Digest,
    size: usize,
    packed: bool,
    bytes: Vec<u8>,
}

/// Shorter bytes are stored as they are.
const WORTH_PACKING: usize = 256;

impl Stored {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let (digest, size) = (Digest::of_bytes(&bytes), bytes.len());
        if size >= WORTH_PACKING {
            let packed = lz4_flex::block::compress(&bytes);
            if packed.len() < size {
                return Self { digest, size, packed: true, bytes: packed };
            }
        }
        Self { digest, size, packed: false, bytes }
    }

    /// Stores the bytes under the number of an event, or says that this event refers to them, too.
    pub(super) fn put(
        &self,
        connection: &Connection,
        recent: &Recent,
        place: Table,
        event: u64,
        number: usize,
    ) -> rusqlite::Result<()> {
        let id = event * PER_EVENT + u64::try_from(number).unwrap_or(u64::MAX);
        if refer(connection, recent, &self.digest, id)? {
            return Ok(());
        }
        connection
            .prepare_cached(match place {
                Table::Indexed => {
                    "INSERT INTO results (id, digest, size, packed, bytes)
                     VALUES (?1, ?2, ?3, ?4, ?5)"
                }
                Table::Recent => {
                    "INSERT INTO recent_results (id, digest, size, packed, bytes)
                     VALUES (?1, ?2, ?3, ?4, ?5)"
                }
            })?
            .execute(params![id, self.digest.as_bytes(), self.size, self.packed, self.bytes])
            .map(|_| ())
    }
}

/// Where new rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Recent,
    Indexed,
}

/// Ids of stored results belong to events: so many to each.
pub(super) const PER_EVENT: u64 = 256;

/// Says that an event refers to bytes that are stored already; whether they are.
pub(super) fn refer(
    connection: &Connection,
    recent: &Recent,
    digest: &Digest,
    id: u64,
) -> rusqlite::Result<bool> {
    let mut changed = 0;
    if recent.has_result(digest) {
        changed = connection
            .prepare_cached("UPDATE recent_results SET id = ?2 WHERE digest = ?1")?
            .execute(params![digest.as_bytes(), id])?;
    }
    if changed == 0 {
        changed = connection
            .prepare_cached("UPDATE results SET id = ?2 WHERE digest = ?1")?
            .execute(params![digest.as_bytes(), id])?;
    }
    Ok(changed > 0)
}

/// The bytes with this digest.
pub(super) fn get(
    connection: &Connection,
    digest: &Digest,
) -> rusqlite::Result<Option<Result<Vec<u8>, UnpackError>>> {
    connection
        .prepare_cached("SELECT size, packed, bytes FROM stored WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| {
            let packed: bool = row.get(1)?;
            Ok(unpack(row.get(0)?, packed, row.get_ref(2)?.as_blob()?))
        })
        .optional()
}

/// Stored bytes are not what they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a stored result cannot be unpacked")]
pub(super) struct UnpackError;

/// The bytes as they were before they were packed.
pub(super) fn unpack(size: usize, packed: bool, bytes: &[u8]) -> Result<Vec<u8>, UnpackError> {
    // LZ4 makes nothing more than 255 times smaller: a larger size is a lie that costs memory.
    let plausible = if packed { size <= bytes.len() * 256 } else { size == bytes.len() };
    match (plausible, packed) {
        (false, _) => Err(UnpackError),
        (true, false) => Ok(bytes.to_vec()),
        (true, true) => lz4_flex::block::decompress(bytes, size)
            .ok()
            .filter(|bytes| bytes.len() == size)
            .ok_or(UnpackError),
    }
}
