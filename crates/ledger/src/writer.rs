//! Writes events to the embedded ledger: everything in a group, or nothing.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};

use super::append::{AppendError, Item};
use super::body::Outline;
use super::event::Draft;
use super::group::WritesGroups;
use super::head::Head;
use super::log::{Extent, Following, Log, Sync, put_checkpoint, put_event};
use super::moving::{insert_all, insert_checkpoint};
use super::note::Checkpoint;
use super::read::ReadLedgerError;
use super::recent::Entry;
use super::seal::{Outcome, Trouble, seal};
use super::settings::Durability;
use super::signer::Signer;
use super::tree::BLOCK;
use crate::ports::Clock;

/// Writes to the ledger for this process.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) connection: Connection,
    /// `None` for a ledger in memory.
    pub(super) log: Option<Log>,
    /// The number of bytes of unfinished writes that were cut off the log.
    pub(super) cut: u64,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) signer: Signer,
    pub(super) durability: Durability,
    /// `None` if it must be read again.
    pub(super) head: Option<Head>,
    /// When the last checkpoint was signed, by the monotonic clock.
    pub(super) signed_at: Duration,
}

/// The time after which a checkpoint is signed even if no sync is due.
const UNSIGNED_FOR: Duration = Duration::from_secs(1);

/// The number of events at which they are moved: the larger, the fewer pages are written per event.
const MANY: usize = 1024;
/// The number under [`Durability::Batch`], where no caller waits for a single event.
const VERY_MANY: usize = 4096;
/// The maximum size of the log in bytes before it is moved.
const LONG: u64 = 16 * 1024 * 1024;

impl Writer {
    /// Writes the items in order, all at once. A refused item does not affect the others; a storage
    /// failure writes none of them.
    pub(super) fn write(&mut self, items: Vec<Item>) -> Vec<Outcome> {
        let count = items.len();
        let written = self.locked(|writer, head| {
            let ended = items.iter().any(|item| matches!(item.draft, Draft::Ended));
            let mut outcomes = Vec::with_capacity(count);
            let mut bytes = Vec::with_capacity(1024 * count);
            // One read transaction for the lookups of many items.
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
            // A group is signed after its answers.
            if sync == Sync::Never {
                writer.sign_if_due(head, ended, &mut bytes)?;
            }
            writer.append(head, bytes, sync)?;
            // The events are durable, whether or not they move now.
            head.is_whole = writer.move_if_due(head, ended).is_ok();
            Ok(outcomes)
        });
        written.unwrap_or_else(|error| vec![Err(error); count])
    }

    /// Signs what a group has written. No caller waits for this; the next sync makes it durable. If
    /// it fails or is lost in a power failure, the next signature covers these events too.
    pub(super) fn sign_group(&mut self) {
        let _ = self.locked(|writer, head| {
            let mut bytes = Vec::new();
            writer.sign_if_due(head, false, &mut bytes)?;
            writer.append(head, bytes, Sync::Never)
        });
    }

    /// The checkpoint of everything in the ledger, signed now if necessary.
    pub(super) fn checkpoint(&mut self) -> Result<Checkpoint, AppendError> {
        self.transaction(|writer, head| {
            let size = head.frontier.size();
            let note: Option<String> = writer
                .connection
                .prepare_cached("SELECT note FROM checkpoints WHERE size = ?1")?
                .query_row([size], |row| row.get(0))
                .optional()?;
            let Some(note) = note else { return writer.sign_in_tables(head) };
            Ok(note
                .parse()
                .map_err(|error| broken(format!("its last checkpoint cannot be read: {error}")))?)
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

    /// The number of events, including those of other processes.
    pub(super) fn size(&mut self) -> Result<u64, ReadLedgerError> {
        let size = self.locked(|_, head| Ok(head.frontier.size()));
        size.map_err(|error| ReadLedgerError::Storage(error.to_string()))
    }

    /// Moves everything into the tables, so that it can be read there.
    pub(super) fn settle(&mut self) -> Result<(), AppendError> {
        self.locked(|writer, head| writer.move_all(head))
    }

    /// Moves the events of the log if there are enough of them. They are already durable: a failure
    /// here only delays the move.
    pub(super) fn move_if_due(&mut self, head: &mut Head, ended: bool) -> Result<(), Trouble> {
        let many = if self.durability == Durability::Batch { VERY_MANY } else { MANY };
        if ended || head.recent.entries.len() >= many || head.log.end >= LONG {
            self.move_all(head)?;
        }
        Ok(())
    }

    /// Moves everything.
    pub(super) fn move_all(&mut self, head: &mut Head) -> Result<(), Trouble> {
        if head.recent.is_empty() {
            return Ok(());
        }
        // A crash may have cut off the checkpoint of an event that ends a session.
        let signed = head.signed;
        let unsigned = |entry: &Entry| entry.seq >= signed && entry.kind == "ended";
        let ended = head.recent.entries.iter().any(unsigned);
        if self.is_due(head, ended) {
            let checkpoint = self.sign(head)?;
            head.recent.checkpoints.push((checkpoint.size(), checkpoint.to_string()));
        }
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let recent = std::mem::take(&mut head.recent);
        insert_all(&self.connection, head, recent)?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.renew(head)
    }

    /// Makes other processes read the tables again, and starts an empty log.
    pub(super) fn renew(&mut self, head: &mut Head) -> Result<(), Trouble> {
        if let Some(log) = &mut self.log {
            head.log = log.begin(head.log.round + 1)?;
        }
        Ok(())
    }

    /// Changes the tables in one transaction, based on the current end of the ledger.
    pub(super) fn transaction<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &mut Head) -> Result<T, Trouble>,
    ) -> Result<T, AppendError> {
        self.locked(|writer, head| {
            writer.move_all(head)?;
            writer.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            let done = act(writer, head)?;
            // Other processes read the tables again once they get the lock, which is after this.
            writer.renew(head)?;
            writer.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(done)
        })
    }

    /// Runs something while no other process writes, based on the current end of the ledger.
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
            // Undo whatever the failed statement left. The cached head is gone too, so the end is
            // read again.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if let Some(log) = &self.log {
            log.unlock();
        }
        done.map_err(|Trouble(error)| error)
    }

    /// The current end of the ledger, including what other processes wrote. After a failure there
    /// is no cached head, and it is read again.
    fn follow(&mut self) -> Result<Head, Trouble> {
        let known = self.head.take();
        let Some(log) = &mut self.log else {
            let nowhere = Extent::default();
            return Ok(match known {
                Some(head) => head,
                None => Head::load(&self.connection, &self.signer.origin, nowhere)?,
            });
        };
        let round = log.round()?;
        let known = known.filter(|head| head.log.round == round);
        let mut head = match known {
            Some(head) => match log.following(head.log.end)? {
                Following::Nothing => return Ok(head),
                Following::Something => head,
                Following::Cut => {
                    // Acknowledged events are gone: nothing may continue from the rest.
                    self.head = Some(head);
                    return Err(
                        broken("its log was truncated by another program".to_owned()).into()
                    );
                }
            },
            None => Head::load(&self.connection, &self.signer.origin, Extent { round, end: 0 })?,
        };
        let mut extent = head.log;
        let read = log.follow(&mut extent)?;
        self.cut += read.unfinished;
        head.replay(&self.connection, read.records)?;
        head.log = extent;
        Ok(head)
    }

    /// Appends records to the log. A ledger in memory has none.
    fn append(&mut self, head: &mut Head, bytes: Vec<u8>, sync: Sync) -> Result<(), Trouble> {
        match &mut self.log {
            Some(log) if !bytes.is_empty() => Ok(log.append(bytes, &mut head.log, sync)?),
            _ => Ok(()),
        }
    }

    /// Whether to sign the head: with every group, at the end of a session, and under `os` also
    /// when a block of events is full or some time has passed.
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
        let checkpoint = self.signer.checkpoint(size, head.frontier.root());
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

    /// Writes one event. INVARIANT: a refused event writes nothing.
    fn add(
        &mut self,
        head: &mut Head,
        item: Item,
        bytes: &mut Vec<u8>,
    ) -> Result<Outcome, Trouble> {
        let placed = seal(&self.connection, head, &item, self.clock.wall())?;
        if self.log.is_some()
            && placed.is_ok()
            && let Some(entry) = head.recent.entries.last()
        {
            put_event(bytes, &entry.body, &entry.stored);
        }
        Ok(placed.map(|placed| placed.event(item)))
    }

    /// Picks up the current key, if another process has replaced it.
    pub(super) fn follow_rotation(&mut self) -> Result<(), Trouble> {
        self.signer.follow_rotation(&self.connection)
    }
}

impl WritesGroups for Writer {
    fn write(&mut self, items: Vec<Item>) -> Vec<Outcome> {
        Self::write(self, items)
    }

    fn after_group(&mut self) {
        self.sign_group();
    }
}

impl Drop for Writer {
    /// Moves the rest of the log, so that one file has everything. On failure it stays in the log.
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

fn broken(what: String) -> ReadLedgerError {
    ReadLedgerError::Broken { what }
}
