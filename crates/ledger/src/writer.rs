//! The one place that writes events: everything that is handed over at once, or nothing.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};

use super::append::{AppendError, Item};
use super::body::Outline;
use super::event::Draft;
use super::group::WritesGroups;
use super::head::Head;
use super::log::{Behind, Extent, Log, Sync, put_checkpoint, put_event};
use super::moving::insert_checkpoint;
use super::note::Checkpoint;
use super::read::ReadLedgerError;
use super::seal::{Outcome, Trouble, seal};
use super::settings::Durability;
use super::signer::Signer;
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
    pub(super) signer: Signer,
    pub(super) durability: Durability,
    /// `None` when it must be read again.
    pub(super) head: Option<Head>,
    /// When the last checkpoint was signed, by the clock that never goes back.
    pub(super) signed_at: Duration,
}

/// Without a sync that would carry one, a checkpoint is signed when so much time has passed.
const UNSIGNED_FOR: Duration = Duration::from_secs(1);

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

    /// How many events there are, with those that other processes wrote.
    pub(super) fn size(&mut self) -> Result<u64, ReadLedgerError> {
        let size = self.locked(|_, head| Ok(head.frontier.size()));
        size.map_err(|error| ReadLedgerError::Storage(error.to_string()))
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
                None => Head::load(&self.connection, &self.signer.origin, nowhere)?,
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
            None => Head::load(&self.connection, &self.signer.origin, Extent { round, end: 0 })?,
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

    /// Writes one event. INVARIANT: an event that is refused has written nothing.
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

    /// Takes up the key that another process may have put in place.
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
    /// What stands in the log alone moves, so that one file has everything. What fails stays there.
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

fn broken(what: String) -> ReadLedgerError {
    ReadLedgerError::Broken { what }
}
