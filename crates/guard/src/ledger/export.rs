use counterfoil_model::Digest;
use serde::{Deserialize, Serialize};

use super::body;
use super::key::PublicKey;
use super::note::Checkpoint;
use super::read::{ReadLedgerError, StoredTree};
use super::receipt::Receipt;
use super::tables::Tables;
use super::tree::{InclusionProof, inclusion};

/// A receipt with all that somebody needs to verify it without the ledger.
///
/// The receipt is for reading: what is proved are the events that it adds up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedReceipt {
    /// Of this form: 1.
    pub version: u32,
    /// What the events add up to.
    pub receipt: Receipt,
    /// The events, the one that brought the execution first.
    pub events: Vec<ExportedEvent>,
    /// The signed head of the tree in which they stand, in the C2SP checkpoint form.
    pub checkpoint: Checkpoint,
    /// The key that signed it, as PEM. Compare it with the one that you have from elsewhere.
    pub public_key: PublicKey,
}

/// One event and its place in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedEvent {
    /// The leaf.
    pub seq: u64,
    /// Its canonical bytes, as text.
    pub body: String,
    /// The hashes beside its path, from the leaf upward.
    pub proof: InclusionProof,
}

/// Why an exported receipt proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// Somebody else signed the checkpoint, or nobody.
    #[error("the checkpoint is not signed by this key")]
    Signature,
    /// An event is not what stood in the tree.
    #[error("event {seq} is not in the tree")]
    Inclusion {
        /// The event.
        seq: u64,
    },
    /// The receipt says something else than its events.
    #[error("the receipt is not what its events add up to")]
    Receipt,
}

impl ExportedReceipt {
    /// Verifies signature, proofs and the sum of the events, against a key from elsewhere.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn verify(&self, key: &PublicKey) -> Result<(), ExportError> {
        if !self.checkpoint.is_signed_by(key) {
            return Err(ExportError::Signature);
        }
        let (size, root) = (self.checkpoint.size(), self.checkpoint.root());
        let mut events = Vec::new();
        for ExportedEvent { seq, body, proof } in &self.events {
            let digest = Digest::of_bytes(body.as_bytes());
            let event = body::read(body.as_bytes()).ok().filter(|event| event.seq == *seq);
            match event.filter(|_| proof.holds(&digest, *seq, size, &root)) {
                Some(event) => events.push(event),
                None => return Err(ExportError::Inclusion { seq: *seq }),
            }
        }
        match Receipt::of(&events) {
            Some(receipt) if receipt == self.receipt => Ok(()),
            _ => Err(ExportError::Receipt),
        }
    }
}

/// The receipt of an execution, with its proofs in the tree of a checkpoint.
pub(super) fn export(
    tables: &impl Tables,
    execution_id: &str,
    checkpoint: Checkpoint,
    public_key: PublicKey,
) -> Result<Option<ExportedReceipt>, ReadLedgerError> {
    let size = checkpoint.size().min(tables.extent()?);
    let mut events = tables.execution(execution_id)?;
    // What was added after the checkpoint is not proved by it.
    events.retain(|(event, _)| event.seq < size);
    let mut exported = Vec::new();
    for (event, bytes) in &events {
        let proof = inclusion(&mut StoredTree(tables), event.seq, size)?;
        let body = String::from_utf8_lossy(bytes).into_owned();
        exported.push(ExportedEvent { seq: event.seq, body, proof });
    }
    let events: Vec<_> = events.into_iter().map(|(event, _)| event).collect();
    Ok(Receipt::of(&events).map(|receipt| ExportedReceipt {
        version: 1,
        receipt,
        events: exported,
        checkpoint,
        public_key,
    }))
}
