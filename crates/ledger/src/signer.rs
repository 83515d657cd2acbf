//! Signs the heads of a ledger.

use std::path::PathBuf;

use counterfoil_model::Digest;

use super::append::AppendError;
use super::key::{self, SigningKey};
use super::note::Checkpoint;
use super::seal::Trouble;
use super::tables::Tables;

/// The name of a ledger and the key that signs for it.
#[derive(Debug)]
pub(super) struct Signer {
    pub(super) origin: String,
    pub(super) key: SigningKey,
    /// The number of this key among the ledger's keys.
    pub(super) number: u64,
    /// The file of the key; `None` for a ledger in memory.
    pub(super) path: Option<PathBuf>,
}

impl Signer {
    /// The signed head of a tree.
    pub(super) fn checkpoint(&self, size: u64, root: Digest) -> Checkpoint {
        Checkpoint::sign(&self.origin, size, root, &self.key)
    }

    /// Picks up the current key, if another process has replaced it.
    pub(super) fn follow_rotation(&mut self, tables: &impl Tables) -> Result<(), Trouble> {
        let last = tables.keys()?.pop();
        let replaced = |why: String| Trouble(AppendError::KeyReplaced(why));
        let last = last.ok_or_else(|| replaced("the ledger has no key".to_owned()))?;
        if last.number == self.number {
            return Ok(());
        }
        let path = self.path.as_deref();
        let path =
            path.ok_or_else(|| replaced("an in-memory ledger has no key file".to_owned()))?;
        let found = key::read(path).map_err(|error| replaced(error.to_string()))?;
        let found = match found.filter(|key| key.public() == last.public) {
            Some(found) => Some(found),
            // The other process has not moved the file into place yet.
            None => key::finish_rotation(path, |key| key.public() == last.public)
                .map_err(|error| replaced(error.to_string()))?,
        };
        self.key = found.ok_or_else(|| replaced("the key file has a different key".to_owned()))?;
        self.number = last.number;
        Ok(())
    }
}
