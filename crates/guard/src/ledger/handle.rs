use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_model::Digest;
use rusqlite::Connection;

use super::append::{AppendError, Item};
use super::event::{Approved, Draft, Event, Opened};
use super::export::{ExportedReceipt, export};
use super::group::Group;
use super::head;
use super::key::PublicKey;
use super::log::{Read, read_all};
use super::log_file::LogFile;
use super::note::Checkpoint;
use super::open::{self, OpenLedgerError};
use super::pending::Pending;
use super::read::{self, ReadLedgerError, StoredTree};
use super::receipt::Receipt;
use super::results;
use super::settings::{Durability, LedgerSettings};
use super::tree::{ConsistencyProof, consistency};
use super::verify::{Expected, Moment, Verification};
use super::writer::Writer;
use crate::audit::AuditHead;
use crate::ports::{Clock, Randomness};

/// Where receipts are kept in order. Clones are the same ledger.
///
/// One process holds one writer; several processes may have the same file open.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Dropped first: it writes what is still under way. None where appends write by themselves.
    group: Option<Group>,
    writer: Arc<Mutex<Writer>>,
    /// None in memory, where there is only one connection.
    reader: Option<Mutex<Connection>>,
    randomness: Arc<dyn Randomness>,
    settings: LedgerSettings,
}

impl Ledger {
    /// Opens the ledger in a file, or begins one there. Says also what was found and put right: an
    /// unfinished end of the log that was cut, a clock that went back, a file that others could
    /// read.
    ///
    /// # Errors
    /// See [`OpenLedgerError`]; its `help` says what can be done.
    pub fn open(
        path: &Path,
        settings: LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<(Self, Vec<String>), OpenLedgerError> {
        let log = open::log_file(path)?;
        Self::open_on(path, log, settings, clock, randomness)
    }

    /// The same with another file for the log: one that fails, for one.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_on(
        path: &Path,
        log: Box<dyn LogFile>,
        settings: LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<(Self, Vec<String>), OpenLedgerError> {
        let opened = open::open(path, log, &settings, clock, &*randomness)?;
        let open::Opened { writer, reader, mut notices } = opened;
        let writer = Arc::new(Mutex::new(writer));
        let group = match settings.durability {
            Durability::Os => None,
            durability => {
                Some(Group::start(writer.clone(), durability, settings.group_interval).map_err(
                    |error| OpenLedgerError::Unwritable {
                        path: path.to_owned(),
                        message: format!("no thread could be started: {error}"),
                    },
                )?)
            }
        };
        let reader = reader.map(Mutex::new);
        let ledger = Self(Arc::new(Shared { group, writer, reader, randomness, settings }));
        if let Err(error) = ledger.retain() {
            notices.push(format!("nothing was dropped by retention: {error}"));
        }
        Ok((ledger, notices))
    }

    /// A ledger that is gone when its last clone is dropped.
    ///
    /// # Errors
    /// When there is no randomness for its key.
    pub fn in_memory(
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<Self, OpenLedgerError> {
        let opened = open::in_memory(clock, &*randomness)?;
        let settings = LedgerSettings { durability: Durability::Os, ..LedgerSettings::default() };
        Ok(Self(Arc::new(Shared {
            group: None,
            writer: Arc::new(Mutex::new(opened.writer)),
            reader: None,
            randomness,
            settings,
        })))
    }

    /// Writes an event, and what goes into the result store with it, in one transaction.
    ///
    /// The write is under way when this returns. What a `closed`, `said` or `judged` event names
    /// must be in `stored`, or in the store already.
    pub fn append(&self, session: &str, draft: Draft, stored: Vec<Vec<u8>>) -> Pending<Event> {
        self.write(Item::new(session, draft, stored, None))
    }

    /// Opens an execution, if the session may make another first attempt: counted in the same
    /// transaction. Retries are free.
    pub fn open_execution(
        &self,
        session: &str,
        opened: Opened,
        quota: Option<u64>,
    ) -> Pending<Event> {
        let first = opened.links.retry_of.is_none();
        let quota = quota.filter(|_| first);
        self.write(Item::new(session, Draft::Opened(opened), Vec::new(), quota))
    }

    fn write(&self, item: Result<Item, AppendError>) -> Pending<Event> {
        match (item, &self.0.group) {
            (Err(error), _) => Pending::ready(Err(error)),
            (Ok(item), Some(group)) => group.append(item),
            (Ok(item), None) => {
                let outcome = self.writer().write(vec![item]).pop();
                Pending::ready(outcome.unwrap_or(Err(AppendError::Closed)))
            }
        }
    }

    /// The approval, given ahead, that holds for a call now: its place in the session and what it
    /// says.
    pub(crate) fn standing_approval(
        &self,
        session: &str,
        digest: Digest,
        now: i64,
    ) -> Result<Option<(u64, Approved)>, ReadLedgerError> {
        self.read(|connection| read::standing_approval(connection, session, digest, now))
    }

    /// First attempts that a session made.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn calls_made(&self, session: &str) -> Result<u64, ReadLedgerError> {
        let head = self.read(|connection| head::find_session(connection, session))?;
        Ok(head.map_or(0, |head| head.calls))
    }

    /// The receipt of an execution.
    ///
    /// # Errors
    /// When the file cannot be read, or an event is not what it was.
    pub fn receipt(&self, execution_id: &str) -> Result<Option<Receipt>, ReadLedgerError> {
        let events = self.read(|connection| read::execution(connection, execution_id))?;
        let events: Vec<_> = events.into_iter().map(|(event, _)| event).collect();
        Ok(Receipt::of(&events))
    }

    /// Execution ids of the latest receipts, the newest first: of one session, or of all.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn recent(
        &self,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, ReadLedgerError> {
        self.read(|connection| read::recent(connection, session, limit))
    }

    /// A stored text or result. `None` when it never was there, or retention dropped it.
    ///
    /// # Errors
    /// When the file cannot be read, or the bytes are not what they were.
    pub fn result(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ReadLedgerError> {
        if *digest == Digest::of_bytes(b"") {
            return Ok(Some(Vec::new()));
        }
        let found = self.read(|connection| results::get(connection, digest))?;
        let Some(bytes) = found else { return Ok(None) };
        match bytes {
            Ok(bytes) if Digest::of_bytes(&bytes) == *digest => Ok(Some(bytes)),
            _ => Err(ReadLedgerError::Broken {
                what: format!("the stored result {digest} is not what it was"),
            }),
        }
    }

    /// Every event of a session that is still there, in order.
    ///
    /// # Errors
    /// When the file cannot be read, or an event is not what it was.
    pub fn events(&self, session: &str) -> Result<Vec<Event>, ReadLedgerError> {
        self.events_after(session, 0)
    }

    /// The same from the one after this `session_seq`.
    ///
    /// # Errors
    /// As [`Self::events`].
    pub fn events_after(
        &self,
        session: &str,
        session_seq: u64,
    ) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|connection| read::session(connection, session, session_seq))
    }

    /// When the oldest event that is still there was written, in milliseconds since the Unix
    /// epoch; `None` while nothing has been dropped.
    ///
    /// # Errors
    /// When the file cannot be read, or that event is not what it was.
    pub fn kept_since(&self) -> Result<Option<i64>, ReadLedgerError> {
        self.read(|connection| -> Result<_, ReadLedgerError> {
            match read::cut(connection)? {
                0 => Ok(None),
                cut => Ok(read::at(connection, cut)?.map(|event| event.at)),
            }
        })
    }

    /// The names of the sessions, in the order in which they began.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn sessions(&self) -> Result<Vec<String>, ReadLedgerError> {
        self.read(read::sessions)
    }

    /// The signed head of everything that is written now. Kept elsewhere, it shows later whether
    /// anything before it was changed or cut.
    ///
    /// # Errors
    /// When it could not be signed or written.
    pub fn checkpoint(&self) -> Result<Checkpoint, AppendError> {
        self.writer().checkpoint()
    }

    /// The key that signs now.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        self.writer().key.public()
    }

    /// The name of the ledger, which is also the name of its key.
    #[must_use]
    pub fn origin(&self) -> String {
        self.writer().origin.clone()
    }

    /// Signs the head of an audit log as the ledger's own checkpoints are signed, under the name of
    /// [`Self::audit_origin`]. The digest of its last line stands in the place of a root.
    #[must_use]
    pub fn sign_audit(&self, head: AuditHead) -> Checkpoint {
        Checkpoint::sign(&self.audit_origin(), head.size, head.digest, &self.writer().key)
    }

    /// The name of the audit log beside this ledger.
    #[must_use]
    pub fn audit_origin(&self) -> String {
        format!("{}/audit", self.origin())
    }

    /// Replaces the signing key. The old one vouches for the new one; its public part stays in the
    /// ledger.
    ///
    /// # Errors
    /// When the new key could not be written.
    pub fn rotate_key(&self) -> Result<PublicKey, AppendError> {
        self.writer().rotate(&*self.0.randomness)
    }

    /// Drops what the settings say is not to be kept any longer.
    ///
    /// # Errors
    /// When the file could not be written.
    pub fn retain(&self) -> Result<(), AppendError> {
        self.writer().retain(&self.0.settings.retention)
    }

    /// Recomputes everything: chain, tree, columns, counters, signatures, stored results.
    /// `progress` is told how many events are done.
    ///
    /// # Errors
    /// When the file cannot be read. What is wrong with its content is in the [`Verification`].
    pub fn verify(
        &self,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, ReadLedgerError> {
        self.read(|connection| Moment::of(connection)?.verify(Read::default(), expected, progress))
    }

    /// Verifies a ledger that stands in a file, without its signing key: a copy, or one that is
    /// too damaged to be opened for writing.
    ///
    /// # Errors
    /// When the file is no ledger or cannot be read.
    pub fn verify_file(
        path: &Path,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, OpenLedgerError> {
        let corrupt = |what: String| OpenLedgerError::Corrupt { path: path.to_owned(), what };
        let connection = open::read_only(path)?;
        let log = open::read_only_log(path)?;
        let locked = log.as_ref().map_or(Ok(()), |log| log.lock());
        // One moment of both: nothing moves from one to the other in between.
        let moment = locked.map_err(|error| error.to_string()).and_then(|()| {
            let moment = Moment::of(&connection).map_err(|error| error.to_string())?;
            let records = log.as_ref().map_or(Ok(Read::default()), |log| read_all(log));
            Ok((moment, records.map_err(|error| error.to_string())?))
        });
        drop(log);
        let (moment, log) = moment.map_err(corrupt)?;
        moment.verify(log, expected, progress).map_err(|error| corrupt(error.to_string()))
    }

    /// A receipt with all that somebody needs to verify it without the ledger.
    ///
    /// # Errors
    /// When the file cannot be read, or no checkpoint could be signed.
    pub fn export(&self, execution_id: &str) -> Result<Option<ExportedReceipt>, ReadLedgerError> {
        let (checkpoint, key) = self.signed()?;
        self.read(|connection| export(connection, execution_id, checkpoint, key))
    }

    /// The proof that the ledger of `old` events is the beginning of that of a checkpoint, which is
    /// signed now.
    ///
    /// # Errors
    /// When the file cannot be read, no checkpoint could be signed, or retention dropped what the
    /// proof needs.
    pub fn consistency(&self, old: u64) -> Result<(Checkpoint, ConsistencyProof), ReadLedgerError> {
        let checkpoint = self.signed()?.0;
        let size = checkpoint.size();
        if old == 0 {
            return Ok((checkpoint, ConsistencyProof(Vec::new())));
        }
        if old > size {
            let what = format!("it has {size} events, not {old}");
            return Err(ReadLedgerError::Broken { what });
        }
        let proof = self.read(|connection| consistency(&mut StoredTree(connection), old, size))?;
        Ok((checkpoint, proof))
    }

    fn signed(&self) -> Result<(Checkpoint, PublicKey), ReadLedgerError> {
        let mut writer = self.writer();
        let unsigned = |error: AppendError| ReadLedgerError::Unsigned(error.to_string());
        Ok((writer.checkpoint().map_err(unsigned)?, writer.key.public()))
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // A panic in between has left the head empty, and it is read again.
        self.0.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is in the tables, once everything is there.
    pub(super) fn read<T, E: Into<ReadLedgerError>>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, ReadLedgerError> {
        let mut writer = self.writer();
        writer.settle().map_err(|error| ReadLedgerError::Storage(error.to_string()))?;
        let done = match &self.0.reader {
            Some(reader) => {
                drop(writer);
                act(&reader.lock().unwrap_or_else(PoisonError::into_inner))
            }
            None => act(&writer.connection),
        };
        done.map_err(Into::into)
    }
}
