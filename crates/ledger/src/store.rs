use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use counterfoil_model::Digest;

use super::append::AppendError;
use super::changes::Changes;
use super::event::{Approved, Declined, Draft, Event, Opened};
use super::export::{ExportedReceipt, Provable, Proved};
use super::key::PublicKey;
use super::note::Checkpoint;
use super::open::OpenLedgerError;
use super::pending::Pending;
use super::read::ReadLedgerError;
use super::receipt::Receipt;
use super::settings::LedgerSettings;
use super::sqlite::SqliteLedger;
use super::tree::ConsistencyProof;
use super::verify::{Expected, Verification};
use crate::audit::AuditHead;
use crate::ports::{Clock, Randomness};

/// How many events are looked at for a call that is open: mostly it is among the first.
const WINDOWS: [u64; 3] = [64, 1024, u64::MAX];

/// Where the events of a ledger are kept in order: written once, never changed, bound to each other
/// by digests and signed.
///
/// INVARIANT: an event that was acknowledged is found again, whatever happens to the process; of
/// two that exclude each other (one execution id, the last call of a quota, one approval) exactly
/// one is written, whichever process wrote it.
///
/// [`SqliteLedger`] is the embedded one; with the feature `postgres`, `PostgresLedger` is the one
/// that several replicas share. What seals events and signs heads is not public.
pub trait LedgerStore: Send + Sync + std::fmt::Debug {
    /// Writes an event, and what goes into the result store with it, in one transaction.
    ///
    /// The write is under way when this returns. What a `closed`, `said` or `judged` event names
    /// must be in `stored`, or in the store already.
    fn append(&self, session: &str, draft: Draft, stored: Vec<Vec<u8>>) -> Pending<Event>;

    /// Writes what a person decided on a call (`approved`, `declined`), unless somebody decided on
    /// the same call after the place `seen` of the session: looked up in the same transaction.
    fn append_decision(&self, session: &str, draft: Draft, seen: u64) -> Pending<Event>;

    /// Opens an execution, if the session may make another first attempt: counted in the same
    /// transaction. Retries are free.
    fn open_execution(&self, session: &str, opened: Opened, quota: Option<u64>) -> Pending<Event>;

    /// The approval, given ahead, that holds for a call now: its place in the session and what it
    /// says.
    fn standing_approval(
        &self,
        session: &str,
        digest: Digest,
        now: i64,
    ) -> Result<Option<(u64, Approved)>, ReadLedgerError>;

    /// Who said no to a call of a session, where nobody agreed to it later.
    ///
    /// # Errors
    /// When the file cannot be read, or an event is not what it was.
    fn standing_refusal(
        &self,
        session: &str,
        digest: Digest,
    ) -> Result<Option<Declined>, ReadLedgerError>;

    /// First attempts that a session made.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn calls_made(&self, session: &str) -> Result<u64, ReadLedgerError>;

    /// The receipt of an execution.
    ///
    /// # Errors
    /// When the file cannot be read, or an event is not what it was.
    fn receipt(&self, execution_id: &str) -> Result<Option<Receipt>, ReadLedgerError>;

    /// Execution ids of the latest receipts, the newest first: of one session, or of all.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn recent(&self, session: Option<&str>, limit: usize) -> Result<Vec<String>, ReadLedgerError>;

    /// A stored text or result. `None` when it never was there, or retention dropped it.
    ///
    /// # Errors
    /// When the file cannot be read, or the bytes are not what they were.
    fn result(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ReadLedgerError>;

    /// The same from the one after this `session_seq`.
    ///
    /// # Errors
    /// As [`Self::events`].
    fn events_after(&self, session: &str, session_seq: u64) -> Result<Vec<Event>, ReadLedgerError>;

    /// At most `limit` events of a session after the one at `after`, in order.
    ///
    /// # Errors
    /// As [`Self::events`].
    fn events_of(
        &self,
        session: &str,
        after: u64,
        limit: u64,
    ) -> Result<Vec<Event>, ReadLedgerError>;

    /// At most `limit` events of all sessions from the one at `seq` on, in order: for whoever
    /// follows the ledger, or reads it piece by piece.
    ///
    /// # Errors
    /// As [`Self::events`].
    fn events_from(&self, seq: u64, limit: u64) -> Result<Vec<Event>, ReadLedgerError>;

    /// When the oldest event that is still there was written, in milliseconds since the Unix
    /// epoch; `None` while nothing has been dropped.
    ///
    /// # Errors
    /// When the file cannot be read, or that event is not what it was.
    fn kept_since(&self) -> Result<Option<i64>, ReadLedgerError>;

    /// The names of the sessions, in the order in which they began.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn sessions(&self) -> Result<Vec<String>, ReadLedgerError>;

    /// The signed head of everything that is written now. Kept elsewhere, it shows later whether
    /// anything before it was changed or cut.
    ///
    /// # Errors
    /// When it could not be signed or written.
    fn checkpoint(&self) -> Result<Checkpoint, AppendError>;

    /// The key that signs now.
    #[must_use]
    fn public_key(&self) -> PublicKey;

    /// The name of the ledger, which is also the name of its key.
    #[must_use]
    fn origin(&self) -> String;

    /// Signs the head of an audit log as the ledger's own checkpoints are signed, under the name of
    /// [`Self::audit_origin`]. The digest of its last line stands in the place of a root.
    #[must_use]
    fn sign_audit(&self, head: AuditHead) -> Checkpoint;

    /// Replaces the signing key. The old one vouches for the new one; its public part stays in the
    /// ledger.
    ///
    /// # Errors
    /// When the new key could not be written.
    fn rotate_key(&self) -> Result<PublicKey, AppendError>;

    /// Drops what the settings say is not to be kept any longer.
    ///
    /// # Errors
    /// When the file could not be written.
    fn retain(&self) -> Result<(), AppendError>;

    /// Says from now on when there are new events, whichever process wrote them.
    ///
    /// # Errors
    /// When the ledger cannot be read, or no thread could be started.
    fn changes(&self) -> Result<Changes, ReadLedgerError>;

    /// Recomputes everything: chain, tree, columns, counters, signatures, stored results.
    /// `progress` is told how many events are done.
    ///
    /// # Errors
    /// When the file cannot be read. What is wrong with its content is in the [`Verification`].
    fn verify(
        &self,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, ReadLedgerError>;

    /// A receipt with all that somebody needs to verify it without the ledger.
    ///
    /// # Errors
    /// When the file cannot be read, or no checkpoint could be signed.
    fn export(&self, execution_id: &str) -> Result<Option<ExportedReceipt>, ReadLedgerError>;

    /// Events with their proofs in the tree of one checkpoint, which is signed now. Empty where there
    /// are none of those that are wanted.
    ///
    /// # Errors
    /// As [`Self::export`].
    fn prove(&self, wanted: &Provable) -> Result<Proved, ReadLedgerError>;

    /// The proof that the ledger of `old` events is the beginning of that of a checkpoint, which is
    /// signed now.
    ///
    /// # Errors
    /// When the file cannot be read, no checkpoint could be signed, or retention dropped what the
    /// proof needs.
    fn consistency(&self, old: u64) -> Result<(Checkpoint, ConsistencyProof), ReadLedgerError>;

    /// The latest events of a session, at most so many, in order.
    ///
    /// # Errors
    /// When the file cannot be read, or an event is not what it was.
    fn last_events(&self, session: &str, count: u64) -> Result<Vec<Event>, ReadLedgerError>;

    /// Every event of a session that is still there, in order.
    ///
    /// # Errors
    /// When the file cannot be read, or an event is not what it was.
    fn events(&self, session: &str) -> Result<Vec<Event>, ReadLedgerError> {
        self.events_after(session, 0)
    }

    /// The name of the audit log beside this ledger.
    #[must_use]
    fn audit_origin(&self) -> String {
        format!("{}/audit", self.origin())
    }

    /// The latest execution of a session that answers this call of the model and has not ended.
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

/// Where receipts are kept in order. Clones are the same ledger.
///
/// One process holds one writer; several processes may have the same file open.
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

impl Ledger {
    /// The ledger that the settings name: the one at their URL, which several replicas share, or
    /// the embedded one in this file ([`SqliteLedger::open`]). The key of either is beside the file
    /// where the settings name no other.
    ///
    /// # Errors
    /// See [`OpenLedgerError`]; its `help` says what can be done.
    pub fn open(
        path: &Path,
        settings: LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<(Self, Vec<String>), OpenLedgerError> {
        if settings.url.is_some() {
            return Self::open_shared(path, settings, clock, randomness);
        }
        let (ledger, notices) = SqliteLedger::open(path, settings, clock, randomness)?;
        Ok((ledger.into(), notices))
    }

    /// One that is gone when its last clone is dropped.
    ///
    /// # Errors
    /// When there is no randomness for its key.
    pub fn in_memory(
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<Self, OpenLedgerError> {
        SqliteLedger::in_memory(clock, randomness).map(Into::into)
    }
}
