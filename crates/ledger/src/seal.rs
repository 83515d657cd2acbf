//! Seals an event: the rules of the chain, for every kind of database.

use counterfoil_model::{Digest, Status};

use super::append::{AppendError, Item};
use super::body::{self, Place, body};
use super::event::{Draft, Event};
use super::head::Head;
use super::lookups::Lookups;
use super::read::ReadLedgerError;
use super::recent::{Entry, Recent};

/// The result for one event of a group.
pub(super) type Outcome = Result<Event, AppendError>;

/// The place of one event in the ledger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) seq: u64,
    session_seq: u64,
    at: i64,
    previous: Digest,
    digest: Digest,
}

impl Placed {
    /// The event of this item at this place.
    pub(super) fn event(self, item: Item) -> Event {
        let Self { seq, session_seq, at, previous, digest } = self;
        let Item { session, draft, .. } = item;
        let version = body::VERSION;
        Event { version, seq, session, session_seq, at, draft, previous, digest }
    }
}

/// Adds one event to the head, if it may follow. INVARIANT: a refused event adds nothing.
pub(super) fn seal(
    lookups: &impl Lookups,
    head: &mut Head,
    item: &Item,
    at: i64,
) -> Result<Result<Placed, AppendError>, Trouble> {
    let opening = match may_follow(lookups, &head.recent, &item.draft)? {
        Ok(opening) => opening,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut now = head.session(lookups, &item.session)?.unwrap_or_default();
    if let Some(limit) = item.quota.filter(|limit| now.calls >= *limit) {
        return Ok(Err(AppendError::QuotaExhausted { limit }));
    }
    if let Some(approval) = item.draft.uses()
        && head.recent.has_used(lookups, &item.session, approval)?
    {
        return Ok(Err(AppendError::ApprovalUsed));
    }
    if let (Some(seen), Some(digest)) = (item.seen, item.draft.decides())
        && head.recent.has_decision(lookups, &item.session, digest, seen)?
    {
        return Ok(Err(AppendError::DecidedMeanwhile));
    }
    let needs = item.missing();
    if let Some(digest) = needs
        && !head.recent.has_result(lookups, &digest)?
    {
        return Ok(Err(AppendError::MissingResult { digest }));
    }
    now.seq += 1;
    now.calls += u64::from(item.draft.is_first_attempt());
    let (seq, previous) = (head.frontier.size(), head.last);
    let place = Place { seq, session: &item.session, session_seq: now.seq, at, previous };
    let body = body(&item.bytes, &place)?;
    let digest = Digest::of_bytes(&body);
    let entry = Entry {
        seq,
        session: item.session.clone(),
        session_seq: now.seq,
        calls: now.calls,
        kind: item.draft.name().into(),
        execution_id: item.draft.opens().map(str::to_owned),
        opening,
        digest,
        body,
        needs,
        stored: item.stored.clone(),
        nodes: Vec::new(),
    };
    head.add(entry, now);
    Ok(Ok(Placed { seq, session_seq: now.seq, at, previous, digest }))
}

/// Checks whether a draft may follow the events of its execution. Returns the `seq` of the opening
/// that it follows, if any.
fn may_follow(
    lookups: &impl Lookups,
    recent: &Recent,
    draft: &Draft,
) -> Result<Result<Option<u64>, AppendError>, Trouble> {
    if let Some(id) = draft.opens() {
        let repeated = recent.opening(lookups, id)?.is_some();
        let id = id.to_owned();
        return Ok(if repeated { Err(AppendError::RepeatedExecutionId { id }) } else { Ok(None) });
    }
    let Some(id) = draft.follows() else { return Ok(Ok(None)) };
    let Some(opening) = recent.opening(lookups, id)? else {
        return Ok(Err(AppendError::UnknownExecution { id: id.to_owned() }));
    };
    if let Draft::Closed(closed) = draft {
        // Only a closed execution can be rolled back, and only once; nothing else is closed twice.
        let most = if closed.status == Status::RolledBack { 1 } else { 0 };
        if opening.closings > most {
            return Ok(Err(AppendError::ClosedExecution { id: id.to_owned() }));
        }
    }
    Ok(Ok(Some(opening.seq)))
}

/// An error that aborts the transaction.
#[derive(Debug)]
pub(super) struct Trouble(pub(super) AppendError);

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.into())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self(AppendError::Storage(error.to_string()))
    }
}

impl From<ReadLedgerError> for Trouble {
    fn from(error: ReadLedgerError) -> Self {
        Self(AppendError::Storage(match error {
            ReadLedgerError::Storage(message) => message,
            other => other.to_string(),
        }))
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self(AppendError::Unwritable(error.to_string()))
    }
}
