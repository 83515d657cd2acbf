//! The one place that writes events: everything in one transaction, or nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_model::{Digest, Status};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::append::{AppendError, Item};
use super::body::{self, Place, body};
use super::event::{Draft, Event};
use super::head::{Head, SessionHead, begin_session};
use super::key::{self, PublicKey, SigningKey};
use super::note::Checkpoint;
use super::read::ReadLedgerError;
use super::recent::{Recent, is_large};
use super::results::{self, PER_EVENT, Table};
use super::settings::Durability;
use super::tree::{BLOCK, StoredNode};
use crate::ports::Clock;

/// Writes to the ledger for this process.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) origin: String,
    pub(super) key: SigningKey,
    /// Which of the ledger's keys that is.
    pub(super) key_number: u64,
    /// Where the key stands; nowhere for a ledger in memory.
    pub(super) key_path: Option<PathBuf>,
    pub(super) durability: Durability,
    /// `None` when it must be read again.
    pub(super) head: Option<Head>,
    /// When the last checkpoint was signed, by the clock that never goes back.
    pub(super) signed_at: Duration,
}

/// Without a sync that would carry one, a checkpoint is signed when so much time has passed, or a
/// block of events is full.
const UNSIGNED_FOR: Duration = Duration::from_secs(1);

/// What one event came to, inside a transaction that goes on.
type Outcome = Result<Event, AppendError>;

impl Writer {
    /// Writes the items in their order, in one transaction. An item that is refused leaves the
    /// others alone; trouble with the file leaves nothing of any.
    pub(super) fn write(&mut self, items: Vec<Item>) -> Vec<Outcome> {
        let count = items.len();
        let written = self.transaction(|writer, head| {
            let table = if is_large(count) { Table::Indexed } else { Table::Recent };
            if table == Table::Indexed {
                head.recent.move_all(&writer.connection)?;
            }
            let mut ended = false;
            let mut outcomes = Vec::with_capacity(count);
            for item in items {
                ended |= matches!(item.draft, Draft::Ended);
                outcomes.push(insert(&writer.connection, &*writer.clock, head, table, item)?);
            }
            if ended || head.recent.is_full() {
                head.recent.move_all(&writer.connection)?;
            }
            writer.sign_if_due(head, ended)?;
            Ok(outcomes)
        });
        written.unwrap_or_else(|error| vec![Err(error); count])
    }

    /// The checkpoint of everything that is in the ledger, signed now if need be.
    pub(super) fn checkpoint(&mut self) -> Result<Checkpoint, AppendError> {
        self.transaction(|writer, head| {
            let size = head.frontier.size();
            let note: Option<String> = writer
                .connection
                .prepare_cached("SELECT note FROM checkpoints WHERE size = ?1")?
                .query_row([size], |row| row.get(0))
                .optional()?;
            let Some(note) = note else { return writer.sign(head) };
            Ok(note.parse().map_err(|error| broken(format!("its last checkpoint: {error}")))?)
        })
    }

    /// Does something in one transaction, standing on the present end of the ledger.
    pub(super) fn transaction<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &mut Head) -> Result<T, Trouble>,
    ) -> Result<T, AppendError> {
        let done = self.try_transaction(act);
        done.map_err(|Trouble(error)| {
            // Whatever the statement that failed left behind: nothing of it stays, and what this
            // process believed about the end of the ledger is read again.
            self.head = None;
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            error
        })
    }

    fn try_transaction<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &mut Head) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut known = self.head.take();
        // Another process may have written in between.
        let followed = match &mut known {
            Some(head) => head.follow(&self.connection)?,
            None => false,
        };
        let mut head = match known.filter(|_| followed) {
            Some(head) => head,
            None => Head::load(&self.connection, &self.origin)?,
        };
        let done = act(self, &mut head)?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.head = Some(head);
        Ok(done)
    }

    fn sign_if_due(&mut self, head: &mut Head, ended: bool) -> Result<(), Trouble> {
        let (size, signed) = (head.frontier.size(), head.signed);
        let due = ended
            || self.durability != Durability::Os
            || size / BLOCK > signed / BLOCK
            || self.clock.monotonic().saturating_sub(self.signed_at) >= UNSIGNED_FOR;
        if due && size > signed {
            self.sign(head)?;
        }
        Ok(())
    }

    /// Signs the head. Checkpoints that it replaces go: one a block stays for ever.
    pub(super) fn sign(&mut self, head: &mut Head) -> Result<Checkpoint, Trouble> {
        self.follow_rotation()?;
        let size = head.frontier.size();
        let checkpoint = Checkpoint::sign(&self.origin, size, head.frontier.root(), &self.key);
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO checkpoints (size, note) VALUES (?1, ?2)")?
            .execute(params![size, checkpoint.to_string()])?;
        self.connection
            .prepare_cached("DELETE FROM checkpoints WHERE size > ?1 AND size < ?2")?
            .execute([size.saturating_sub(1) / BLOCK * BLOCK, size])?;
        head.signed = size;
        self.signed_at = self.clock.monotonic();
        Ok(checkpoint)
    }

    /// Takes up the key that another process may have put in place.
    pub(super) fn follow_rotation(&mut self) -> Result<(), Trouble> {
        let (number, public): (u64, [u8; 32]) = self
            .connection
            .prepare_cached("SELECT number, public FROM keys ORDER BY number DESC LIMIT 1")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if number == self.key_number {
            return Ok(());
        }
        let replaced = |why: String| Trouble(AppendError::KeyReplaced(why));
        let path = self.key_path.as_deref();
        let path = path.ok_or_else(|| replaced("the ledger is in memory".to_owned()))?;
        let found = key::read(path).map_err(|error| replaced(error.to_string()))?;
        let current = PublicKey::from_bytes(public);
        let found = match found.filter(|key| key.public() == current) {
            Some(found) => Some(found),
            // The other process has not put it in place yet.
            None => key::finish_rotation(path, |key| key.public() == current)
                .map_err(|error| replaced(error.to_string()))?,
        };
        self.key = found.ok_or_else(|| replaced("its file has another key".to_owned()))?;
        self.key_number = number;
        Ok(())
    }
}

/// Trouble that ends a transaction.
#[derive(Debug)]
pub(super) struct Trouble(pub(super) AppendError);

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.into())
    }
}

impl From<ReadLedgerError> for Trouble {
    fn from(error: ReadLedgerError) -> Self {
        Self(AppendError::Storage(error.to_string()))
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self(AppendError::Unwritable(error.to_string()))
    }
}

fn broken(what: String) -> ReadLedgerError {
    ReadLedgerError::Broken { what }
}

/// Writes one event. INVARIANT: an event that is refused has written nothing.
fn insert(
    connection: &Connection,
    clock: &dyn Clock,
    head: &mut Head,
    table: Table,
    item: Item,
) -> Result<Outcome, Trouble> {
    let opening = match follow(connection, &head.recent, &item.draft)? {
        Ok(opening) => opening,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let before = head.session(connection, &item.session)?;
    let calls = before.map_or(0, |before| before.calls);
    if let Some(limit) = item.quota.filter(|limit| calls >= *limit) {
        return Ok(Err(AppendError::QuotaExhausted { limit }));
    }
    let seq = head.frontier.size();
    if let Err(refusal) = store(connection, &head.recent, table, &item, seq)? {
        return Ok(Err(refusal));
    }
    let before = match before {
        Some(before) => before,
        None => begin_session(connection, &item.session)?,
    };
    let now = SessionHead {
        id: before.id,
        seq: before.seq + 1,
        calls: before.calls + u64::from(item.draft.is_first_attempt()),
    };
    let (at, previous) = (clock.wall(), head.last);
    let place = Place { seq, session: &item.session, session_seq: now.seq, at, previous };
    let body = body(&item.bytes, &place)?;
    let digest = Digest::of_bytes(&body);
    connection
        .prepare_cached(match table {
            Table::Indexed => "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            Table::Recent => "INSERT INTO recent VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        })?
        .execute(params![
            seq,
            now.id,
            now.seq,
            now.calls,
            item.draft.name(),
            item.draft.opens(),
            opening,
            digest.as_bytes(),
            body
        ])?;
    let mut completed = Vec::new();
    head.frontier.push(&digest, |node| completed.push(node));
    for StoredNode { level, number, hash } in completed {
        connection
            .prepare_cached("INSERT INTO nodes (level, number, hash) VALUES (?1, ?2, ?3)")?
            .execute(params![level, number, hash.as_bytes()])?;
    }
    if table == Table::Recent {
        let results = item.stored.iter().map(|stored| stored.digest);
        head.recent.add(seq, &item.draft, results);
    }
    head.last = digest;
    head.advance(&item.session, now);
    Ok(Ok(Event {
        version: body::VERSION,
        seq,
        session: item.session,
        session_seq: now.seq,
        at,
        draft: item.draft,
        previous,
        digest,
    }))
}

/// What an event says about the executions before it, if it may say so: the seq of the event that
/// opened the execution which it follows.
fn follow(
    connection: &Connection,
    recent: &Recent,
    draft: &Draft,
) -> Result<Result<Option<u64>, AppendError>, Trouble> {
    if let Some(id) = draft.opens() {
        let repeated = recent.opening(connection, id)?.is_some();
        let id = id.to_owned();
        return Ok(if repeated { Err(AppendError::RepeatedExecutionId { id }) } else { Ok(None) });
    }
    let Some(id) = draft.follows() else { return Ok(Ok(None)) };
    let Some(opening) = recent.opening(connection, id)? else {
        return Ok(Err(AppendError::UnknownExecution { id: id.to_owned() }));
    };
    if let Draft::Closed(closed) = draft {
        // Only what was closed can be rolled back, and only once; nothing else is closed twice.
        let most = if closed.status == Status::RolledBack { 1 } else { 0 };
        if opening.closings > most {
            return Ok(Err(AppendError::ClosedExecution { id: id.to_owned() }));
        }
    }
    Ok(Ok(Some(opening.seq)))
}

/// Stores what comes with an event, and what it needs must be there then.
fn store(
    connection: &Connection,
    recent: &Recent,
    table: Table,
    item: &Item,
    seq: u64,
) -> Result<Result<(), AppendError>, Trouble> {
    if let Some(digest) = item.draft.needs()
        && digest != Digest::of_bytes(b"")
        && !item.stored.iter().any(|stored| stored.digest == digest)
        && !results::refer(connection, recent, &digest, seq * PER_EVENT)?
    {
        return Ok(Err(AppendError::MissingResult { digest }));
    }
    for (number, stored) in item.stored.iter().enumerate() {
        stored.put(connection, recent, table, seq, number + 1)?;
    }
    Ok(Ok(()))
}
