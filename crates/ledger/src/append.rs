use counterfoil_model::Digest;

use super::body::draft_bytes;
use super::event::{Draft, Opened};
use super::results::Stored;

/// Why an event was not written. Unless the variant says otherwise, none of it is in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The session has used up its quota of first attempts.
    #[error("the session has reached its limit of {limit} calls")]
    QuotaExhausted {
        /// The quota.
        limit: u64,
    },
    /// The ledger already has an execution with this id.
    #[error("the ledger already has an execution with the id `{id}`")]
    RepeatedExecutionId {
        /// The id.
        id: String,
    },
    /// Another call has already used the approval.
    #[error("the approval for this call was already used by another call")]
    ApprovalUsed,
    /// A person decided on this call after the place in the session that the new decision is based
    /// on.
    #[error("this call was approved or declined in the meantime")]
    DecidedMeanwhile,
    /// The ledger has no execution with this id.
    #[error("the ledger has no execution `{id}`")]
    UnknownExecution {
        /// The id.
        id: String,
    },
    /// The execution has already ended, or was never going to run.
    #[error("the execution `{id}` is already closed")]
    ClosedExecution {
        /// The id.
        id: String,
    },
    /// The event refers to a text or result that was neither passed in nor stored before.
    #[error("the result store has no content with the digest {digest}")]
    MissingResult {
        /// The digest.
        digest: Digest,
    },
    /// The caller passed bytes to store that the event does not refer to.
    #[error("the event does not refer to the content to be stored (digest {digest})")]
    UnnamedResult {
        /// The digest of those bytes.
        digest: Digest,
    },
    /// The event cannot be serialised as JSON.
    #[error("the event cannot be written: {0}")]
    Unwritable(String),
    /// Another process replaced the signing key, and the new one cannot be used.
    #[error("the new signing key cannot be used: {0}")]
    KeyReplaced(String),
    /// The file could not be written.
    #[error("cannot write to the ledger: {0}")]
    Storage(String),
    /// The connection was lost during the commit and could not be restored, so the event may or may
    /// not be in the ledger. Treated as a failure: nothing may continue from it.
    #[error("the event may or may not have been written to the ledger: {0}")]
    Unknown(String),
    /// The ledger was closed before the event was written.
    #[error("the ledger is closed")]
    Closed,
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.to_string())
    }
}

/// An event to be written, with everything precomputed that does not need the lock.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) session: String,
    pub(super) draft: Draft,
    /// The draft's canonical bytes.
    pub(super) bytes: Vec<u8>,
    pub(super) stored: Vec<Stored>,
    /// The maximum number of first attempts in the session.
    pub(super) quota: Option<u64>,
    /// For a person's decision: the latest place in the session that the person had seen.
    pub(super) seen: Option<u64>,
}

impl Item {
    pub(super) fn new(
        session: &str,
        draft: Draft,
        stored: Vec<Vec<u8>>,
        quota: Option<u64>,
    ) -> Result<Self, AppendError> {
        let bytes = draft_bytes(&draft).map_err(|e| AppendError::Unwritable(e.to_string()))?;
        let mut stored: Vec<_> = stored.into_iter().map(Stored::new).collect();
        stored.sort_by_key(|stored| stored.digest);
        stored.dedup_by_key(|stored| stored.digest);
        for Stored { digest, .. } in &stored {
            if draft.needs() != Some(*digest) && !names(&bytes, digest) {
                return Err(AppendError::UnnamedResult { digest: *digest });
            }
        }
        Ok(Self { session: session.to_owned(), draft, bytes, stored, quota, seen: None })
    }

    /// A person's decision, which is refused if another was made after the place `seen` of the
    /// session.
    pub(super) fn decision(session: &str, draft: Draft, seen: u64) -> Result<Self, AppendError> {
        let item = Self::new(session, draft, Vec::new(), None)?;
        Ok(Self { seen: Some(seen), ..item })
    }

    /// A call that begins. The quota applies to first attempts only.
    pub(super) fn execution(
        session: &str,
        opened: Opened,
        quota: Option<u64>,
    ) -> Result<Self, AppendError> {
        let first = opened.links.is_first_attempt();
        Self::new(session, Draft::Opened(opened), Vec::new(), quota.filter(|_| first))
    }

    /// The digest of content that the event needs but does not bring.
    pub(super) fn missing(&self) -> Option<Digest> {
        let brought = |digest: &Digest| self.stored.iter().any(|stored| stored.digest == *digest);
        self.draft.needs().filter(|digest| *digest != Digest::of_bytes(b"") && !brought(digest))
    }
}

/// Whether the bytes of an event or a draft contain the digest.
pub(super) fn names(bytes: &[u8], digest: &Digest) -> bool {
    memchr::memmem::find(bytes, digest.to_string().as_bytes()).is_some()
}
