use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use counterfoil_model::Digest;
use rusqlite::{Connection, Transaction};

use super::append::{AppendError, Item};
use super::changes::{Changes, Size};
use super::event::{Approved, Declined, Draft, Event, Opened};
use super::export::{ExportedReceipt, Provable, Proved, export, prove};
use super::group::Group;
use super::head;
use super::key::PublicKey;
use super::log::{Read, read_all};
use super::log_file::LogFile;
use super::note::Checkpoint;
use super::open::{self, OpenLedgerError};
use super::pending::Pending;
use super::queries;
use super::read::ReadLedgerError;
use super::receipt::Receipt;
use super::results;
use super::settings::{Durability, LedgerSettings};
use super::store::{Ledger, LedgerStore};
use super::tables::{StoredTree, Tables as _};
use super::tree::{ConsistencyProof, consistency};
use super::verify::{Expected, Verification, verify};
use super::writer::Writer;
use crate::audit::AuditHead;
use crate::ports::{Clock, Randomness};

/// The embedded ledger: an append-only log, and SQLite tables that its events move into. Clones
/// share the ledger.
#[derive(Debug, Clone)]
pub struct SqliteLedger(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Dropped first, because it writes what is still in the queue. `None` if appends write
    /// directly.
    group: Option<Group>,
    writer: Arc<Mutex<Writer>>,
    /// `None` in memory, where there is only one connection.
    reader: Option<Mutex<Connection>>,
    randomness: Arc<dyn Randomness>,
    settings: LedgerSettings,
    /// Created for the first listener.
    size: OnceLock<Size>,
}

impl SqliteLedger {
    /// Opens the ledger in a file, or creates it. Also returns notices of what was found and
    /// repaired: an unfinished end of the log that was cut off, a clock that went back, a file that
    /// others could read.
    ///
    /// # Errors
    /// See [`OpenLedgerError`]; its `help` has advice.
    pub fn open(
        path: &Path,
        settings: LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<(Self, Vec<String>), OpenLedgerError> {
        let log = open::log_file(path)?;
        Self::open_on(path, log, settings, clock, randomness)
    }

    /// As [`Self::open`], with another file for the log, such as one that fails in a test.
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
                        message: format!("cannot start a thread: {error}"),
                    },
                )?)
            }
        };
        let reader = reader.map(Mutex::new);
        let ledger = Self(Arc::new(Shared {
            group,
            writer,
            reader,
            randomness,
            settings,
            size: OnceLock::new(),
        }));
        if let Err(error) = ledger.retain() {
            notices.push(format!("retention could not drop anything: {error}"));
        }
        Ok((ledger, notices))
    }

    /// Creates a ledger that is lost when its last clone is dropped.
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
            size: OnceLock::new(),
        })))
    }

    /// Verifies the ledger in a file without its signing key: a copy, or one that is too damaged to
    /// open for writing.
    ///
    /// # Errors
    /// When the file is not a ledger, or cannot be read.
    pub fn verify_file(
        path: &Path,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, OpenLedgerError> {
        let corrupt = |what: String| OpenLedgerError::Corrupt { path: path.to_owned(), what };
        let connection = open::read_only(path)?;
        let log = open::read_only_log(path)?;
        let locked = log.as_ref().map_or(Ok(()), |log| log.lock());
        // One snapshot of both, so that nothing moves from one to the other in between.
        let moment = locked.map_err(|error| error.to_string()).and_then(|()| {
            let moment = moment(&connection).map_err(|error| error.to_string())?;
            let records = log.as_ref().map_or(Ok(Read::default()), |log| read_all(log));
            Ok((moment, records.map_err(|error| error.to_string())?))
        });
        drop(log);
        let (moment, log) = moment.map_err(corrupt)?;
        verify(&*moment, log, expected, progress).map_err(|error| corrupt(error.to_string()))
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

    fn signed(&self) -> Result<(Checkpoint, PublicKey), ReadLedgerError> {
        let mut writer = self.writer();
        let unsigned = |error: AppendError| ReadLedgerError::Unsigned(error.to_string());
        Ok((writer.checkpoint().map_err(unsigned)?, writer.signer.key.public()))
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // After a panic, the head is empty and is read again.
        self.0.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one snapshot of the tables, after moving everything into them.
    #[cfg(feature = "postgres")]
    pub(super) fn moment<T>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, ReadLedgerError>,
    ) -> Result<T, ReadLedgerError> {
        self.read(|connection| act(&*moment(connection)?))
    }

    /// The number of events ever written, by any process.
    #[cfg(feature = "postgres")]
    pub(super) fn extent(&self) -> Result<u64, ReadLedgerError> {
        self.writer().size()
    }

    /// Reads the tables, after moving everything into them.
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

impl LedgerStore for SqliteLedger {
    fn append(&self, session: &str, draft: Draft, stored: Vec<Vec<u8>>) -> Pending<Event> {
        self.write(Item::new(session, draft, stored, None))
    }

    fn append_decision(&self, session: &str, draft: Draft, seen: u64) -> Pending<Event> {
        self.write(Item::decision(session, draft, seen))
    }

    fn open_execution(&self, session: &str, opened: Opened, quota: Option<u64>) -> Pending<Event> {
        self.write(Item::execution(session, opened, quota))
    }

    fn standing_approval(
        &self,
        session: &str,
        digest: Digest,
        now: i64,
    ) -> Result<Option<(u64, Approved)>, ReadLedgerError> {
        self.read(|connection| queries::standing_approval(connection, session, digest, now))
    }

    fn standing_refusal(
        &self,
        session: &str,
        digest: Digest,
    ) -> Result<Option<Declined>, ReadLedgerError> {
        self.read(|connection| queries::standing_refusal(connection, session, digest))
    }

    fn calls_made(&self, session: &str) -> Result<u64, ReadLedgerError> {
        let head = self.read(|connection| head::find_session(connection, session))?;
        Ok(head.map_or(0, |head| head.calls))
    }

    fn receipt(&self, execution_id: &str) -> Result<Option<Receipt>, ReadLedgerError> {
        let events = self.read(|connection| queries::execution(connection, execution_id))?;
        let events: Vec<_> = events.into_iter().map(|(event, _)| event).collect();
        Ok(Receipt::from_events(&events))
    }

    fn recent(&self, session: Option<&str>, limit: usize) -> Result<Vec<String>, ReadLedgerError> {
        self.read(|connection| queries::recent(connection, session, limit))
    }

    fn result(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ReadLedgerError> {
        results::as_it_was(digest, || self.read(|connection| results::get(connection, digest)))
    }

    fn events_after(&self, session: &str, session_seq: u64) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|connection| queries::session(connection, session, session_seq, u64::MAX))
    }

    fn events_of(
        &self,
        session: &str,
        after: u64,
        limit: u64,
    ) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|connection| queries::session(connection, session, after, limit))
    }

    fn events_from(&self, seq: u64, limit: u64) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|connection| queries::from(connection, seq, limit))
    }

    fn kept_since(&self) -> Result<Option<i64>, ReadLedgerError> {
        self.read(|connection| -> Result<_, ReadLedgerError> {
            match connection.cut()? {
                0 => Ok(None),
                cut => Ok(queries::at(connection, cut)?.map(|event| event.at)),
            }
        })
    }

    fn sessions(&self) -> Result<Vec<String>, ReadLedgerError> {
        self.read(queries::sessions)
    }

    fn checkpoint(&self) -> Result<Checkpoint, AppendError> {
        self.writer().checkpoint()
    }

    fn public_key(&self) -> PublicKey {
        self.writer().signer.key.public()
    }

    fn origin(&self) -> String {
        self.writer().signer.origin.clone()
    }

    fn sign_audit(&self, head: AuditHead) -> Checkpoint {
        Checkpoint::sign(&self.audit_origin(), head.size, head.digest, &self.writer().signer.key)
    }

    fn rotate_key(&self) -> Result<PublicKey, AppendError> {
        self.writer().rotate(&*self.0.randomness)
    }

    fn retain(&self) -> Result<(), AppendError> {
        self.writer().retain(&self.0.settings.retention)
    }

    fn changes(&self) -> Result<Changes, ReadLedgerError> {
        let now = self.writer().size()?;
        let size = self.0.size.get_or_init(Size::default);
        size.is_at_least(now);
        let changes = size.changes();
        if !size.is_watched() {
            watch(&self.0.writer, size.clone())
                .map_err(|error| ReadLedgerError::Storage(error.to_string()))?;
        }
        Ok(changes)
    }

    fn verify(
        &self,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, ReadLedgerError> {
        self.read(|connection| verify(&*moment(connection)?, Read::default(), expected, progress))
    }

    fn export(&self, execution_id: &str) -> Result<Option<ExportedReceipt>, ReadLedgerError> {
        let (checkpoint, key) = self.signed()?;
        self.read(|connection| export(connection, execution_id, checkpoint, key))
    }

    fn prove(&self, wanted: &Provable) -> Result<Proved, ReadLedgerError> {
        let checkpoint = self.signed()?.0;
        self.read(|connection| prove(connection, wanted, checkpoint))
    }

    fn consistency(&self, old: u64) -> Result<(Checkpoint, ConsistencyProof), ReadLedgerError> {
        let checkpoint = self.signed()?.0;
        let size = checkpoint.size();
        if old == 0 {
            return Ok((checkpoint, ConsistencyProof(Vec::new())));
        }
        if old > size {
            let what = format!("it has only {size} events, expected at least {old}");
            return Err(ReadLedgerError::Broken { what });
        }
        let proof = self.read(|connection| consistency(&mut StoredTree(connection), old, size))?;
        Ok((checkpoint, proof))
    }

    fn last_events(&self, session: &str, count: u64) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|connection| {
            let Some(head) = head::find_session(connection, session)? else {
                return Ok(Vec::new());
            };
            queries::session(connection, session, head.seq.saturating_sub(count), count)
        })
    }
}

/// The interval at which to look for new events.
const LOOK: Duration = Duration::from_millis(100);

/// Polls the number of events for as long as the ledger is open: other processes write to the file
/// without notifying this one.
fn watch(writer: &Arc<Mutex<Writer>>, size: Size) -> std::io::Result<()> {
    let writer = Arc::downgrade(writer);
    let look = move || {
        while let Some(writer) = writer.upgrade() {
            if size.is_heard() {
                let now = writer.lock().unwrap_or_else(PoisonError::into_inner).size();
                // If the file cannot be read now, the next look may succeed.
                if let Ok(now) = now {
                    size.is_at_least(now);
                }
            }
            drop(writer);
            std::thread::sleep(LOOK);
        }
    };
    std::thread::Builder::new().name("ledger changes".to_owned()).spawn(look).map(|_| ())
}

/// A snapshot of the ledger, unaffected by later writes.
fn moment(connection: &Connection) -> Result<Transaction<'_>, ReadLedgerError> {
    let moment = connection.unchecked_transaction()?;
    // The first query takes the snapshot.
    moment.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(moment)
}

impl Ledger {
    /// Opens the ledger that the settings name: the one at their URL, which several replicas share,
    /// or the embedded one in this file ([`SqliteLedger::open`]). Unless the settings name a key
    /// file, the key of either is next to the file.
    ///
    /// # Errors
    /// See [`OpenLedgerError`]; its `help` has advice.
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

    /// Creates a ledger that is lost when its last clone is dropped.
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
