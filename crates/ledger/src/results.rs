//! The result store: texts and results by digest, compressed.

use std::sync::Arc;

use counterfoil_model::Digest;
use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use super::read::ReadLedgerError;

/// Bytes on their way into the store.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) digest: Digest,
    /// The size before compression, in bytes.
    pub(super) size: usize,
    pub(super) packed: bool,
    /// Shared, because a group may be sealed more than once.
    pub(super) bytes: Arc<Vec<u8>>,
}

/// Shorter content is stored uncompressed.
const WORTH_PACKING: usize = 256;

impl Stored {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let (digest, size) = (Digest::of_bytes(&bytes), bytes.len());
        if size >= WORTH_PACKING {
            let packed = lz4_flex::block::compress(&bytes);
            if packed.len() < size {
                return Self { digest, size, packed: true, bytes: Arc::new(packed) };
            }
        }
        Self { digest, size, packed: false, bytes: Arc::new(bytes) }
    }

    /// Stores the bytes under an id of the event; if they are stored already, moves them to this
    /// id.
    pub(super) fn put(&self, insert: &mut Statement<'_>, id: u64) -> rusqlite::Result<()> {
        insert
            .execute(params![id, self.digest.as_bytes(), self.size, self.packed, *self.bytes])
            .map(|_| ())
    }

    /// The uncompressed bytes, if they still match their digest.
    pub(super) fn whole(&self) -> Option<Vec<u8>> {
        let bytes = unpack(self.size, self.packed, &self.bytes).ok()?;
        (Digest::of_bytes(&bytes) == self.digest).then_some(bytes)
    }
}

/// Inserts a stored result.
pub(super) const INSERT: &str = "
    INSERT INTO results (id, digest, size, packed, bytes) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (digest) DO UPDATE SET id = excluded.id";

/// The content stored under a digest, if it is unchanged. The empty text is never stored.
pub(super) fn as_it_was(
    digest: &Digest,
    find: impl FnOnce() -> Result<Option<Result<Vec<u8>, UnpackError>>, ReadLedgerError>,
) -> Result<Option<Vec<u8>>, ReadLedgerError> {
    if *digest == Digest::of_bytes(b"") {
        return Ok(Some(Vec::new()));
    }
    let Some(bytes) = find()? else { return Ok(None) };
    match bytes {
        Ok(bytes) if Digest::of_bytes(&bytes) == *digest => Ok(Some(bytes)),
        _ => Err(ReadLedgerError::Broken {
            what: format!("the stored result {digest} was changed or damaged"),
        }),
    }
}

/// The number of ids for stored results per event.
pub(super) const PER_EVENT: u64 = 256;

/// Records that an event refers to stored bytes.
pub(super) fn refer(connection: &Connection, digest: &Digest, id: u64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE results SET id = ?2 WHERE digest = ?1")?
        .execute(params![digest.as_bytes(), id])
        .map(|_| ())
}

/// The bytes with this digest.
pub(super) fn get(
    connection: &Connection,
    digest: &Digest,
) -> rusqlite::Result<Option<Result<Vec<u8>, UnpackError>>> {
    connection
        .prepare_cached("SELECT size, packed, bytes FROM results WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| {
            let packed: bool = row.get(1)?;
            Ok(unpack(row.get(0)?, packed, row.get_ref(2)?.as_blob()?))
        })
        .optional()
}

/// Stored bytes are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a stored result cannot be decompressed")]
pub(super) struct UnpackError;

/// The uncompressed bytes.
pub(super) fn unpack(size: usize, packed: bool, bytes: &[u8]) -> Result<Vec<u8>, UnpackError> {
    // LZ4 compresses by a factor of at most 255: a larger claimed size would waste memory.
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
