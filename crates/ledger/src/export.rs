use counterfoil_model::Digest;
use serde::{Deserialize, Serialize};

use super::body;
use super::event::Event;
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
    let mut events = tables.execution(execution_id)?;
    let exported = with_proofs(tables, &mut events, &checkpoint)?;
    let events: Vec<_> = events.into_iter().map(|(event, _)| event).collect();
    Ok(Receipt::of(&events).map(|receipt| ExportedReceipt {
        version: 1,
        receipt,
        events: exported,
        checkpoint,
        public_key,
    }))
}

/// Those of the events that the checkpoint covers, with their proofs in its tree.
fn with_proofs(
    tables: &impl Tables,
    events: &mut Vec<(Event, Vec<u8>)>,
    checkpoint: &Checkpoint,
) -> Result<Vec<ExportedEvent>, ReadLedgerError> {
    let size = checkpoint.size().min(tables.extent()?);
    // What was added after the checkpoint is not proved by it.
    events.retain(|(event, _)| event.seq < size);
    let mut exported = Vec::new();
    for (event, bytes) in events {
        let proof = inclusion(&mut StoredTree(tables), event.seq, size)?;
        let body = String::from_utf8_lossy(bytes).into_owned();
        exported.push(ExportedEvent { seq: event.seq, body, proof });
    }
    Ok(exported)
}

/// Which events somebody wants to have proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provable {
    /// Those of a session, or those of it that were written since this time: milliseconds since the
    /// Unix epoch.
    Session {
        /// Its name.
        name: String,
        /// The time.
        since: Option<i64>,
    },
    /// Those of these executions.
    Executions(Vec<String>),
}

/// Events, each with its place in the tree of one checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proved {
    /// The signed head of that tree.
    pub checkpoint: Checkpoint,
    /// The notes in which keys are vouched for, up to that of the key that signed.
    pub keys: Vec<String>,
    /// In their order.
    pub events: Vec<ExportedEvent>,
}

/// The events that are wanted, as far as they are there, with their proofs in the tree of a
/// checkpoint.
pub(super) fn prove(
    tables: &impl Tables,
    wanted: &Provable,
    checkpoint: Checkpoint,
) -> Result<Proved, ReadLedgerError> {
    let mut events = match wanted {
        Provable::Session { name, since } => {
            let mut events = tables.session_events(name, 0, u64::MAX)?;
            let first = events.iter().position(|(event, _)| since.is_none_or(|at| event.at >= at));
            events.split_off(first.unwrap_or(events.len()))
        }
        Provable::Executions(ids) => {
            let mut events = Vec::new();
            for id in ids {
                events.extend(tables.execution(id)?);
            }
            events.sort_by_key(|(event, _)| event.seq);
            events.dedup_by_key(|(event, _)| event.seq);
            events
        }
    };
    let mut keys = tables.keys()?;
    let signer = keys.iter().position(|key| checkpoint.is_signed_by(&key.public));
    // A key that came meanwhile signed nothing here.
    keys.truncate(signer.map_or(0, |signer| signer + 1));
    let events = with_proofs(tables, &mut events, &checkpoint)?;
    Ok(Proved { checkpoint, keys: keys.into_iter().map(|key| key.note).collect(), events })
}
