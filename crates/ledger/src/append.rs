use counterfoil_model::Digest;

use super::body::draft_bytes;
use super::event::{Draft, Opened};
use super::results::Stored;

/// Why an event was not written. Nothing of it is in the ledger then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The session made as many first attempts as it may.
    #[error("the session has made its {limit} calls")]
    QuotaExhausted {
        /// How many it may make.
        limit: u64,
    },
    /// The ledger has an execution with this id already.
    #[error("the execution id `{id}` is in the ledger already")]
    RepeatedExecutionId {
        /// The id.
        id: String,
    },
    /// Another call has used the approval up.
    #[error("another call has used up the approval of this one")]
    ApprovalUsed,
    /// A person decided on the call after what this one has seen.
    #[error("somebody has decided on this call meanwhile")]
    DecidedMeanwhile,
    /// The ledger has no execution with this id.
    #[error("the execution `{id}` was not opened")]
    UnknownExecution {
        /// The id.
        id: String,
    },
    /// The execution ended already, or was never to run.
    #[error("the execution `{id}` is closed already")]
    ClosedExecution {
        /// The id.
        id: String,
    },
    /// A text or result that the event speaks of was not given, and is not stored.
    #[error("the result store has nothing with the digest {digest}")]
    MissingResult {
        /// The digest.
        digest: Digest,
    },
    /// Bytes were given to be stored that the event does not speak of.
    #[error("the event does not name the digest {digest} of what is to be stored")]
    UnnamedResult {
        /// Their digest.
        digest: Digest,
    },
    /// The event has no form as JSON.
    #[error("the event cannot be written: {0}")]
    Unwritable(String),
    /// Another process replaced the signing key, and the new one cannot be used.
    #[error("the signing key was replaced: {0}")]
    KeyReplaced(String),
    /// The file could not be written.
    #[error("the ledger could not be written: {0}")]
    Storage(String),
    /// The connection was lost while the database committed, and could not be had again: the event
    /// is in the ledger or it is not. It counts as failed, and nothing may go on from it.
    #[error("it is not known whether the event is in the ledger: {0}")]
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

/// An event that is to be written, with everything that can be done beforehand.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) session: String,
    pub(super) draft: Draft,
    /// The draft's canonical bytes.
    pub(super) bytes: Vec<u8>,
    pub(super) stored: Vec<Stored>,
    /// First attempts that the session may make.
    pub(super) quota: Option<u64>,
    /// Of a person's decision: the latest place in the session that they knew of.
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

    /// What a person decides, if nothing was decided meanwhile: after the place `seen` of the session.
    pub(super) fn decision(session: &str, draft: Draft, seen: u64) -> Result<Self, AppendError> {
        let item = Self::new(session, draft, Vec::new(), None)?;
        Ok(Self { seen: Some(seen), ..item })
    }

    /// A call that begins; first attempts alone are counted.
    pub(super) fn execution(
        session: &str,
        opened: Opened,
        quota: Option<u64>,
    ) -> Result<Self, AppendError> {
        let first = opened.links.is_first_attempt();
        Self::new(session, Draft::Opened(opened), Vec::new(), quota.filter(|_| first))
    }

    /// The digest that the event needs and does not bring.
    pub(super) fn missing(&self) -> Option<Digest> {
        let brought = |digest: &Digest| self.stored.iter().any(|stored| stored.digest == *digest);
        self.draft.needs().filter(|digest| *digest != Digest::of_bytes(b"") && !brought(digest))
    }
}

/// Whether the bytes of an event or a draft name a digest.
pub(super) fn names(bytes: &[u8], digest: &Digest) -> bool {
    memchr::memmem::find(bytes, digest.to_string().as_bytes()).is_some()
}
