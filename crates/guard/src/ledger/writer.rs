//! The one place that writes events: everything that is handed over at once, or nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use counterfoil_model::{Digest, Status};
use rusqlite::{Connection, OptionalExtension as _};

use super::append::{AppendError, Item};
use super::body::{self, Outline, Place, body};
use super::event::{Draft, Event};
use super::head::Head;
use super::key::{self, PublicKey, SigningKey};
use super::log::{Behind, Extent, Log, Sync, put_checkpoint, put_event};
use super::moving::insert_checkpoint;
use super::note::Checkpoint;
use super::read::ReadLedgerError;
use super::recent::{Entry, Recent};
use super::settings::Durability;
use super::tree::BLOCK;
use crate::ports::Clock;

/// Writes to the ledger for this process.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) connection: Connection,
    /// Nowhere for a ledger in memory.
    pub(super) log: Option<Log>,
    /// Bytes of unfinished writes that were cut off the log.
    pub(super) cut: u64,
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

/// Without a sync that would carry one, a checkpoint is signed when so much time has passed.
const UNSIGNED_FOR: Duration = Duration::from_secs(1);

/// What one event came to, while others are still to be written.
type Outcome = Result<Event, AppendError>;

impl Writer {
    /// Writes the items in their order, all at once. An item that is refused leaves the others
    /// alone; trouble with the file leaves nothing of any.
    pub(super) fn write(&mut self, items: Vec<Item>) -> Vec<Outcome> {
        let count = items.len();
        let written = self.locked(|writer, head| {
            let ended = items.iter().any(|item| matches!(item.draft, Draft::Ended));
            let mut outcomes = Vec::with_capacity(count);
            let mut bytes = Vec::with_capacity(1024 * count);
            // The tables are looked at for many items in one go.
            if count > 1 {
                writer.connection.prepare_cached("BEGIN")?.execute([])?;
            }
            for item in items {
                outcomes.push(writer.add(head, item, &mut bytes)?);
            }
            if count > 1 {
                writer.connection.prepare_cached("COMMIT")?.execute([])?;
            }
            let sync = match writer.durability {
                Durability::Os => Sync::Never,
                Durability::Full | Durability::Batch => Sync::Now,
            };
            // A group is signed behind its answers.
            if sync == Sync::Never {
                writer.sign_if_due(head, ended, &mut bytes)?;
            }
            writer.append(head, bytes, sync)?;
            // What is written is written, whether it moves now or later.
            head.is_whole = writer.move_if_due(head, ended).is_ok();
            Ok(outcomes)
        });
        written.unwrap_or_else(|error| vec![Err(error); count])
    }

    /// Signs what a group has written: nobody waits for that, and the next sync carries it. Where
    /// it fails, or is lost with the power, the next signature stands for these events, too.
    pub(super) fn sign_group(&mut self) {
        let _ = self.locked(|writer, head| {
            let mut bytes = Vec::new();
            writer.sign_if_due(head, false, &mut bytes)?;
            writer.append(head, bytes, Sync::Never)
        });
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
            let Some(note) = note else { return writer.sign_in_tables(head) };
            Ok(note.parse().map_err(|error| broken(format!("its last checkpoint: {error}")))?)
        })
    }

    /// When the last event was written.
    pub(super) fn last_event(&mut self) -> Result<Option<i64>, AppendError> {
        self.locked(|writer, head| {
            let Some(seq) = head.frontier.size().checked_sub(1) else { return Ok(None) };
            let at = |body: &[u8]| {
                let outline = Outline::read(body);
                outline.map(|outline| Some(outline.at)).map_err(|error| {
                    Trouble::from(broken(format!("event {seq} cannot be read: {error}")))
                })
            };
            if let Some(entry) = head.recent.entries.last() {
                return at(&entry.body);
            }
            let query = "SELECT body FROM events WHERE seq = ?1";
            let body: Vec<u8> = writer.connection.query_row(query, [seq], |row| row.get(0))?;
            at(&body)
        })
    }

    /// Brings everything into the tables, so that it can be read there.
    pub(super) fn settle(&mut self) -> Result<(), AppendError> {
        self.locked(|writer, head| writer.move_all(head))
    }

    /// Does something to the tables in one transaction, standing on the present end of the ledger.
    pub(super) fn transaction<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &mut Head) -> Result<T, Trouble>,
    ) -> Result<T, AppendError> {
        self.locked(|writer, head| {
            writer.move_all(head)?;
            writer.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            let done = act(writer, head)?;
            // Others read the tables anew once they may: after this.
            writer.renew(head)?;
            writer.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(done)
        })
    }

    /// Does something while no other process writes, standing on the present end of the ledger.
    fn locked<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &mut Head) -> Result<T, Trouble>,
    ) -> Result<T, AppendError> {
        if let Some(log) = &self.log {
            log.lock().map_err(|error| Trouble::from(error).0)?;
        }
        let done = self.follow().and_then(|mut head| {
            let done = act(self, &mut head)?;
            self.head = Some(head).filter(|head| head.is_whole);
            Ok(done)
        });
        if !self.connection.is_autocommit() {
            // Whatever the statement that failed left behind: nothing of it stays. What this
            // process believed about the end of the ledger is gone with the head.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if let Some(log) = &self.log {
            log.unlock();
        }
        done.map_err(|Trouble(error)| error)
    }

    /// The end of the ledger, with what other processes wrote. Whoever fails from here on leaves
    /// none, and it is read again.
    fn follow(&mut self) -> Result<Head, Trouble> {
        let known = self.head.take();
        let Some(log) = &mut self.log else {
            let nowhere = Extent::default();
            return Ok(match known {
                Some(head) => head,
                None => Head::load(&self.connection, &self.origin, nowhere)?,
            });
        };
        let round = log.round()?;
        let known = known.filter(|head| head.log.round == round);
        let mut head = match known {
            Some(head) => match log.behind(head.log.end)? {
                Behind::Nothing => return Ok(head),
                Behind::Something => head,
                Behind::Cut => {
                    // What was acknowledged is gone: nothing goes on from what is left.
                    self.head = Some(head);
                    return Err(broken("its log was cut from outside".to_owned()).into());
                }
            },
            None => Head::load(&self.connection, &self.origin, Extent { round, end: 0 })?,
        };
        let mut extent = head.log;
        let read = log.follow(&mut extent)?;
        self.cut += read.unfinished;
        head.replay(&self.connection, read.records)?;
        head.log = extent;
        Ok(head)
    }

    /// Writes records into the log, or keeps what they say in memory.
    fn append(&mut self, head: &mut Head, bytes: Vec<u8>, sync: Sync) -> Result<(), Trouble> {
        match &mut self.log {
            Some(log) if !bytes.is_empty() => Ok(log.append(bytes, &mut head.log, sync)?),
            _ => Ok(()),
        }
    }

    /// Whether the head is to be signed: with every group, at the end of a session, and where that
    /// is seldom, when a block of events is full or some time has passed.
    pub(super) fn is_due(&self, head: &Head, ended: bool) -> bool {
        let (size, signed) = (head.frontier.size(), head.signed);
        let due = ended
            || self.durability != Durability::Os
            || size / BLOCK > signed / BLOCK
            || self.clock.monotonic().saturating_sub(self.signed_at) >= UNSIGNED_FOR;
        due && size > signed
    }

    fn sign_if_due(
        &mut self,
        head: &mut Head,
        ended: bool,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Trouble> {
        if self.is_due(head, ended) {
            let checkpoint = self.sign(head)?;
            let note = checkpoint.to_string();
            put_checkpoint(bytes, &note);
            head.recent.checkpoints.push((checkpoint.size(), note));
        }
        Ok(())
    }

    /// Signs the head.
    pub(super) fn sign(&mut self, head: &mut Head) -> Result<Checkpoint, Trouble> {
        if !head.key_is_known {
            self.follow_rotation()?;
            head.key_is_known = true;
        }
        let size = head.frontier.size();
        let checkpoint = Checkpoint::sign(&self.origin, size, head.frontier.root(), &self.key);
        head.signed = size;
        self.signed_at = self.clock.monotonic();
        Ok(checkpoint)
    }

    /// Signs the head inside a transaction.
    pub(super) fn sign_in_tables(&mut self, head: &mut Head) -> Result<Checkpoint, Trouble> {
        let checkpoint = self.sign(head)?;
        insert_checkpoint(&self.connection, checkpoint.size(), &checkpoint.to_string())?;
        Ok(checkpoint)
    }

    /// Writes one event. INVARIANT: an event that is refused has written nothing.
    fn add(
        &mut self,
        head: &mut Head,
        item: Item,
        bytes: &mut Vec<u8>,
    ) -> Result<Outcome, Trouble> {
        let connection = &self.connection;
        let opening = match may_follow(connection, &head.recent, &item.draft)? {
            Ok(opening) => opening,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut now = head.session(connection, &item.session)?.unwrap_or_default();
        if let Some(limit) = item.quota.filter(|limit| now.calls >= *limit) {
            return Ok(Err(AppendError::QuotaExhausted { limit }));
        }
        if let Some(approval) = item.draft.uses()
            && head.recent.has_used(connection, &item.session, approval)?
        {
            return Ok(Err(AppendError::ApprovalUsed));
        }
        if let (Some(seen), Some(digest)) = (item.seen, item.draft.decides())
            && head.recent.has_decision(connection, &item.session, digest, seen)?
        {
            return Ok(Err(AppendError::DecidedMeanwhile));
        }
        let brought = |digest: &Digest| item.stored.iter().any(|stored| stored.digest == *digest);
        let needs = item
            .draft
            .needs()
            .filter(|digest| *digest != Digest::of_bytes(b"") && !brought(digest));
        if let Some(digest) = needs
            && !head.recent.has_result(connection, &digest)?
        {
            return Ok(Err(AppendError::MissingResult { digest }));
        }
        now.seq += 1;
        now.calls += u64::from(item.draft.is_first_attempt());
        let (seq, at, previous) = (head.frontier.size(), self.clock.wall(), head.last);
        let place = Place { seq, session: &item.session, session_seq: now.seq, at, previous };
        let body = body(&item.bytes, &place)?;
        let digest = Digest::of_bytes(&body);
        if self.log.is_some() {
            put_event(bytes, &body, &item.stored);
        }
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
            stored: item.stored,
            nodes: Vec::new(),
        };
        head.add(entry, now);
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

impl Drop for Writer {
    /// What stands in the log alone moves, so that one file has everything. What fails stays there.
    fn drop(&mut self) {
        let _ = self.settle();
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

fn broken(what: String) -> ReadLedgerError {
    ReadLedgerError::Broken { what }
}

/// What an event says about the executions before it, if it may say so: the seq of the event that
/// opened the execution which it follows.
fn may_follow(
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
