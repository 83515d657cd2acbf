use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use counterfoil_model::Digest;

use super::append::AppendError;
use super::changes::Changes;
use super::event::{Approved, Declined, Draft, Event, Opened};
use super::export::{ExportedReceipt, Provable, Proved};
use super::key::PublicKey;
use super::note::Checkpoint;
use super::pending::Pending;
use super::read::ReadLedgerError;
use super::receipt::Receipt;
use super::tree::ConsistencyProof;
use super::verify::{Expected, Verification};
use crate::audit::AuditHead;

/// How many of the latest events to search for an open call, in widening steps: it is usually among
/// the last.
const WINDOWS: [u64; 3] = [64, 1024, u64::MAX];

/// Stores the events of a ledger in order: written once, never changed, chained by digests and
/// signed.
///
/// INVARIANT: an acknowledged event survives a crash of the process; of two events that exclude
/// each other (the same execution id, the last call of a quota, the same approval) exactly one is
/// written, whichever processes write them.
///
/// [`SqliteLedger`](crate::SqliteLedger) is the embedded ledger; with the feature `postgres`,
/// `PostgresLedger` is the one that several replicas share. The code that seals events and signs
/// heads is private.
pub trait LedgerStore: Send + Sync + std::fmt::Debug {
    /// Writes an event and its content for the result store in one transaction.
    ///
    /// The write is under way when this returns. Content that a `closed`, `said` or `judged` event
    /// refers to must be in `stored`, or in the store already.
    fn append(&self, session: &str, draft: Draft, stored: Vec<Vec<u8>>) -> Pending<Event>;

    /// Writes a person's decision on a call (`approved`, `declined`), unless the same call was
    /// decided on after the place `seen` of the session. The check is part of the transaction.
    fn append_decision(&self, session: &str, draft: Draft, seen: u64) -> Pending<Event>;

    /// Opens an execution, if the session has not used up its quota of first attempts. The count is
    /// part of the transaction. Retries are free.
    fn open_execution(&self, session: &str, opened: Opened, quota: Option<u64>) -> Pending<Event>;

    /// The prior approval that is valid for a call now: its place in the session, and the approval.
    fn standing_approval(
        &self,
        session: &str,
        digest: Digest,
        now: i64,
    ) -> Result<Option<(u64, Approved)>, ReadLedgerError>;

    /// The decision that declines a call of a session, unless it was approved later.
    ///
    /// # Errors
    /// When the storage cannot be read, or an event was changed.
    fn standing_refusal(
        &self,
        session: &str,
        digest: Digest,
    ) -> Result<Option<Declined>, ReadLedgerError>;

    /// The number of first attempts of a session.
    ///
    /// # Errors
    /// When the storage cannot be read.
    fn calls_made(&self, session: &str) -> Result<u64, ReadLedgerError>;

    /// The receipt of an execution.
    ///
    /// # Errors
    /// When the storage cannot be read, or an event was changed.
    fn receipt(&self, execution_id: &str) -> Result<Option<Receipt>, ReadLedgerError>;

    /// Execution ids of the latest receipts, newest first: of one session or of all.
    ///
    /// # Errors
    /// When the storage cannot be read.
    fn recent(&self, session: Option<&str>, limit: usize) -> Result<Vec<String>, ReadLedgerError>;

    /// A stored text or result. `None` if it was never there, or retention dropped it.
    ///
    /// # Errors
    /// When the storage cannot be read, or the bytes were changed.
    fn result(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ReadLedgerError>;

    /// The remaining events of a session after the place `session_seq`, in order.
    ///
    /// # Errors
    /// As [`Self::events`].
    fn events_after(&self, session: &str, session_seq: u64) -> Result<Vec<Event>, ReadLedgerError>;

    /// At most `limit` events of a session after the place `after`, in order.
    ///
    /// # Errors
    /// As [`Self::events`].
    fn events_of(
        &self,
        session: &str,
        after: u64,
        limit: u64,
    ) -> Result<Vec<Event>, ReadLedgerError>;

    /// At most `limit` events of all sessions from `seq` on, in order. Serves to follow the ledger,
    /// or to read it in pieces.
    ///
    /// # Errors
    /// As [`Self::events`].
    fn events_from(&self, seq: u64, limit: u64) -> Result<Vec<Event>, ReadLedgerError>;

    /// When the oldest remaining event was written, in milliseconds since the Unix epoch; `None` if
    /// nothing has been dropped.
    ///
    /// # Errors
    /// When the storage cannot be read, or that event was changed.
    fn kept_since(&self) -> Result<Option<i64>, ReadLedgerError>;

    /// The names of the sessions, in the order in which they began.
    ///
    /// # Errors
    /// When the storage cannot be read.
    fn sessions(&self) -> Result<Vec<String>, ReadLedgerError>;

    /// The signed head of everything written so far. A copy kept elsewhere reveals whether anything
    /// before it was changed or cut off later.
    ///
    /// # Errors
    /// When it could not be signed or written.
    fn checkpoint(&self) -> Result<Checkpoint, AppendError>;

    /// The current signing key.
    #[must_use]
    fn public_key(&self) -> PublicKey;

    /// The name of the ledger, which is also the name of its key.
    #[must_use]
    fn origin(&self) -> String;

    /// Signs the head of an audit log like the ledger's own checkpoints, under the name
    /// [`Self::audit_origin`]. The digest of the last line takes the place of the root.
    #[must_use]
    fn sign_audit(&self, head: AuditHead) -> Checkpoint;

    /// Replaces the signing key. The old key certifies the new one; its public part stays in the
    /// ledger.
    ///
    /// # Errors
    /// When the new key could not be written.
    fn rotate_key(&self) -> Result<PublicKey, AppendError>;

    /// Drops what the retention settings no longer keep.
    ///
    /// # Errors
    /// When the storage could not be written.
    fn retain(&self) -> Result<(), AppendError>;

    /// Subscribes to new events, whichever process writes them.
    ///
    /// # Errors
    /// When the ledger cannot be read, or no thread could be started.
    fn changes(&self) -> Result<Changes, ReadLedgerError>;

    /// Recomputes everything: chain, tree, columns, counters, signatures, stored results.
    /// `progress` receives the number of events done.
    ///
    /// # Errors
    /// When the storage cannot be read. Problems with its content are in the [`Verification`].
    fn verify(
        &self,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, ReadLedgerError>;

    /// A receipt with everything needed to verify it without the ledger.
    ///
    /// # Errors
    /// When the storage cannot be read, or no checkpoint could be signed.
    fn export(&self, execution_id: &str) -> Result<Option<ExportedReceipt>, ReadLedgerError>;

    /// Events with their proofs in the tree of one checkpoint, which is signed now. Empty if none
    /// of the wanted events exist.
    ///
    /// # Errors
    /// As [`Self::export`].
    fn prove(&self, wanted: &Provable) -> Result<Proved, ReadLedgerError>;

    /// The proof that the ledger of `old` events is a prefix of the ledger at a checkpoint, which
    /// is signed now.
    ///
    /// # Errors
    /// When the storage cannot be read, no checkpoint could be signed, or retention dropped what
    /// the proof needs.
    fn consistency(&self, old: u64) -> Result<(Checkpoint, ConsistencyProof), ReadLedgerError>;

    /// The latest events of a session, at most `count`, in order.
    ///
    /// # Errors
    /// When the storage cannot be read, or an event was changed.
    fn last_events(&self, session: &str, count: u64) -> Result<Vec<Event>, ReadLedgerError>;

    /// Every remaining event of a session, in order.
    ///
    /// # Errors
    /// When the storage cannot be read, or an event was changed.
    fn events(&self, session: &str) -> Result<Vec<Event>, ReadLedgerError> {
        self.events_after(session, 0)
    }

    /// The name of the audit log that belongs to this ledger.
    #[must_use]
    fn audit_origin(&self) -> String {
        format!("{}/audit", self.origin())
    }

    /// The latest execution of a session for this call of the model that has not ended.
    ///
    /// # Errors
    /// As [`Self::last_events`].
    fn open_call(&self, session: &str, call_id: &str) -> Result<Option<Opened>, ReadLedgerError> {
        let mut seen = None;
        for window in WINDOWS {
            let events = self.last_events(session, window)?;
            let first = events.first().map(|event| event.session_seq);
            if seen.is_some() && seen == first {
                break;
            }
            seen = first;
            let mut ended: BTreeSet<String> = BTreeSet::new();
            for event in events.into_iter().rev() {
                match event.draft {
                    Draft::Closed(closed) => {
                        ended.insert(closed.execution_id);
                    }
                    Draft::Opened(opened) if opened.call_id == call_id => {
                        return Ok((!ended.contains(&opened.execution_id)).then_some(opened));
                    }
                    _ => {}
                }
            }
        }
        Ok(None)
    }
}

/// A ledger of receipts. Clones share the ledger.
///
/// One process has one writer; several processes may have the same ledger open.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<dyn LedgerStore>);

impl Deref for Ledger {
    type Target = dyn LedgerStore;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl<S: LedgerStore + 'static> From<S> for Ledger {
    fn from(store: S) -> Self {
        Self(Arc::new(store))
    }
}
