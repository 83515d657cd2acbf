use counterfoil_model::Digest;
use serde::{Deserialize, Serialize};

use super::body;
use super::event::Event;
use super::key::PublicKey;
use super::note::Checkpoint;
use super::read::ReadLedgerError;
use super::receipt::Receipt;
use super::tables::{StoredTree, Tables};
use super::tree::{InclusionProof, inclusion};

/// A receipt with everything needed to verify it without the ledger.
///
/// The receipt is for reading; the proofs are for its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedReceipt {
    /// The version of this format: 1.
    pub version: u32,
    /// The sum of the events.
    pub receipt: Receipt,
    /// The events, beginning with the one that added the execution.
    pub events: Vec<ExportedEvent>,
    /// The signed head of the tree that contains them, in the C2SP checkpoint form.
    pub checkpoint: Checkpoint,
    /// The key that signed it, as PEM. Compare it with one obtained elsewhere.
    pub public_key: PublicKey,
}

/// One event and its place in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedEvent {
    /// Its leaf.
    pub seq: u64,
    /// Its canonical bytes, as text.
    pub body: String,
    /// The sibling hashes along its path, from the leaf upward.
    pub proof: InclusionProof,
}

/// Why an exported receipt proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The checkpoint is not signed by the key.
    #[error("the checkpoint is not signed by this key")]
    Signature,
    /// An event is not in the tree.
    #[error("event {seq} is not in the tree")]
    Inclusion {
        /// The event.
        seq: u64,
    },
    /// The receipt is not the sum of its events.
    #[error("the receipt does not match its events")]
    Receipt,
}

impl ExportedReceipt {
    /// Verifies signature, proofs and the sum of the events, with a key obtained elsewhere.
    ///
    /// # Errors
    /// The first check that fails.
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
        match Receipt::from_events(&events) {
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
    Ok(Receipt::from_events(&events).map(|receipt| ExportedReceipt {
        version: 1,
        receipt,
        events: exported,
        checkpoint,
        public_key,
    }))
}

/// The events that the checkpoint covers, with their proofs in its tree.
fn with_proofs(
    tables: &impl Tables,
    events: &mut Vec<(Event, Vec<u8>)>,
    checkpoint: &Checkpoint,
) -> Result<Vec<ExportedEvent>, ReadLedgerError> {
    let size = checkpoint.size().min(tables.extent()?);
    // The checkpoint does not prove what was added after it.
    events.retain(|(event, _)| event.seq < size);
    let mut exported = Vec::new();
    for (event, bytes) in events {
        let proof = inclusion(&mut StoredTree(tables), event.seq, size)?;
        let body = String::from_utf8_lossy(bytes).into_owned();
        exported.push(ExportedEvent { seq: event.seq, body, proof });
    }
    Ok(exported)
}

/// Which events to prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provable {
    /// The events of a session, or only those written since a time in milliseconds since the Unix
    /// epoch.
    Session {
        /// Its name.
        name: String,
        /// The time.
        since: Option<i64>,
    },
    /// The events of these executions.
    Executions(Vec<String>),
}

/// Events, each with its proof in the tree of one checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proved {
    /// The signed head of that tree.
    pub checkpoint: Checkpoint,
    /// The notes that certify the keys, up to the key that signed.
    pub keys: Vec<String>,
    /// The events in ledger order.
    pub events: Vec<ExportedEvent>,
}

/// The wanted events that exist, with their proofs in the tree of a checkpoint.
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
    // A key that was added since signed nothing here.
    keys.truncate(signer.map_or(0, |signer| signer + 1));
    let events = with_proofs(tables, &mut events, &checkpoint)?;
    Ok(Proved { checkpoint, keys: keys.into_iter().map(|key| key.note).collect(), events })
}
