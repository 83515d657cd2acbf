use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use counterfoil_model::Digest;

use super::address::PostgresAddress;
use super::changes;
use super::link::{Link, Sockets};
use super::linked::Linked;
use super::open::{self, insert_key, unwritable};
use super::read;
use super::writer::Writer;
use crate::append::{AppendError, Item};
use crate::audit::AuditHead;
use crate::changes::{Changes, Size};
use crate::event::{Approved, Declined, Draft, Event, Opened};
use crate::export::{ExportedReceipt, Provable, Proved, export, prove};
use crate::group::Group;
use crate::key::{self, PublicKey};
use crate::log::Read;
use crate::note::Checkpoint;
use crate::open::OpenLedgerError;
use crate::pending::Pending;
use crate::ports::{Clock, Randomness};
use crate::read::ReadLedgerError;
use crate::receipt::Receipt;
use crate::results;
use crate::rotation::key_note;
use crate::seal::Trouble;
use crate::settings::{Durability, LedgerSettings};
use crate::store::LedgerStore;
use crate::tables::{StoredTree, Tables as _};
use crate::tree::{ConsistencyProof, consistency};
use crate::verify::{Broken, Expected, Verification, verify as verify_tables};

/// A ledger on PostgreSQL. Clones and other processes that have it open share the ledger: one at a
/// time writes.
///
/// With the durabilities `full` and `batch`, events are acknowledged after the server has synced;
/// with `os` before, so a crash of the database may lose acknowledged events.
#[derive(Debug, Clone)]
pub struct PostgresLedger(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Dropped first, because it writes what is still in the queue.
    group: Group,
    writer: Arc<Mutex<Writer>>,
    reader: Mutex<Linked>,
    randomness: Arc<dyn Randomness>,
    settings: LedgerSettings,
    address: PostgresAddress,
    /// Created for the first listener.
    size: OnceLock<Size>,
    /// Dropped last, because it drives the connections of the other fields.
    sockets: Arc<Sockets>,
}

impl PostgresLedger {
    /// Opens the ledger at an address, or creates one in a schema without one. The signing key is
    /// in the file named by the settings; every replica needs the same key.
    ///
    /// # Errors
    /// See [`OpenLedgerError`]; its `help` has advice.
    pub fn open(
        address: &PostgresAddress,
        settings: LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<(Self, Vec<String>), OpenLedgerError> {
        let shown = PathBuf::from(address.to_string());
        let key = settings.key.clone().ok_or_else(|| {
            unwritable(&shown, "no signing key file is configured: set `key`".to_owned())
        })?;
        let opened = open::open(address, key, &settings, clock, &*randomness)?;
        let writer = Arc::new(Mutex::new(opened.writer));
        // Events gather while the server is busy, unless each wants a sync of its own.
        let group = Group::start(writer.clone(), settings.durability, settings.group_interval)
            .map_err(|error| unwritable(&shown, format!("cannot start a thread: {error}")))?;
        let ledger = Self(Arc::new(Shared {
            group,
            writer,
            reader: Mutex::new(opened.reader),
            randomness,
            settings,
            address: address.clone(),
            size: OnceLock::new(),
            sockets: opened.sockets,
        }));
        let mut notices = Vec::new();
        if let Err(error) = ledger.retain() {
            notices.push(format!("retention could not drop anything: {error}"));
        }
        Ok((ledger, notices))
    }

    /// The number of events of the ledger at an address; `None` if there is none yet. Creates
    /// nothing.
    ///
    /// # Errors
    /// When the server cannot be reached, or something else is there.
    pub fn look(address: &PostgresAddress) -> Result<Option<u64>, OpenLedgerError> {
        let shown = PathBuf::from(address.to_string());
        let (_sockets, link) = connect(address, &shown)?;
        if !open::recognise(&link, &shown)? {
            return Ok(None);
        }
        let unread = |error: ReadLedgerError| unwritable(&shown, error.to_string());
        link.extent().map(Some).map_err(unread)
    }

    /// Verifies the ledger at an address without its signing key; the right to read is enough.
    ///
    /// # Errors
    /// When it is not a ledger, or cannot be read.
    pub fn verify_at(
        address: &PostgresAddress,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, OpenLedgerError> {
        let shown = PathBuf::from(address.to_string());
        let (_sockets, link) = connect(address, &shown)?;
        if !open::recognise(&link, &shown)? {
            return Err(OpenLedgerError::NotALedger { path: shown });
        }
        verify(&link, expected, progress).map_err(|error| OpenLedgerError::Corrupt {
            path: shown.clone(),
            what: error.to_string(),
        })
    }

    fn write(&self, item: Result<Item, AppendError>) -> Pending<Event> {
        // PostgreSQL cannot store text that contains this character.
        let item = item.and_then(|item| {
            let named = item.draft.opens().or(item.draft.follows()).unwrap_or_default();
            if item.session.contains('\0') || named.contains('\0') {
                let why = "a name contains the character U+0000".to_owned();
                return Err(AppendError::Unwritable(why));
            }
            Ok(item)
        });
        match item {
            Ok(item) => self.0.group.append(item),
            Err(error) => Pending::ready(Err(error)),
        }
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // After a panic, the head is empty and is read again.
        self.0.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(
        &self,
        act: impl FnMut(&Link) -> Result<T, ReadLedgerError>,
    ) -> Result<T, ReadLedgerError> {
        self.0.reader.lock().unwrap_or_else(PoisonError::into_inner).read(act)
    }

    fn signed(&self) -> Result<(Checkpoint, PublicKey), ReadLedgerError> {
        let mut writer = self.writer();
        let unsigned = |error: AppendError| ReadLedgerError::Unsigned(error.to_string());
        Ok((writer.checkpoint().map_err(unsigned)?, writer.signer.key.public()))
    }
}

/// Verifies one snapshot of the ledger. Every group is signed when it is written: events without a
/// signature were written by someone else.
fn verify(
    link: &Link,
    expected: &Expected,
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, ReadLedgerError> {
    let mut found = link.moment(|| verify_tables(link, Read::default(), expected, progress))?;
    if found.holds() && found.signed != found.first + found.events {
        let what = format!("no checkpoint covers the events from {} onwards", found.signed);
        found.broken = Some(Broken::event(found.signed, what));
    }
    Ok(found)
}

/// A connection for a single query, and the thread that drives it.
fn connect(address: &PostgresAddress, shown: &Path) -> Result<(Sockets, Link), OpenLedgerError> {
    let sockets = Sockets::start().map_err(|error| unwritable(shown, error.to_string()))?;
    let link = Link::connect(&sockets, address, Durability::default())
        .map_err(|failure| unwritable(shown, failure.message().to_owned()))?;
    Ok((sockets, link))
}

impl LedgerStore for PostgresLedger {
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
        self.read(|link| read::standing_approval(link, session, digest, now))
    }

    fn standing_refusal(
        &self,
        session: &str,
        digest: Digest,
    ) -> Result<Option<Declined>, ReadLedgerError> {
        self.read(|link| read::standing_refusal(link, session, digest))
    }

    fn calls_made(&self, session: &str) -> Result<u64, ReadLedgerError> {
        self.read(|link| Ok(read::session_end(link, session)?.1))
    }

    fn receipt(&self, execution_id: &str) -> Result<Option<Receipt>, ReadLedgerError> {
        let events = self.read(|link| link.execution(execution_id))?;
        let events: Vec<_> = events.into_iter().map(|(event, _)| event).collect();
        Ok(Receipt::from_events(&events))
    }

    fn recent(&self, session: Option<&str>, limit: usize) -> Result<Vec<String>, ReadLedgerError> {
        self.read(|link| read::recent(link, session, limit))
    }

    fn result(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ReadLedgerError> {
        results::as_it_was(digest, || self.read(|link| read::result(link, digest)))
    }

    fn events_after(&self, session: &str, session_seq: u64) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|link| read::session(link, session, session_seq, u64::MAX))
    }

    fn events_of(
        &self,
        session: &str,
        after: u64,
        limit: u64,
    ) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|link| read::session(link, session, after, limit))
    }

    fn events_from(&self, seq: u64, limit: u64) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|link| read::from(link, seq, limit))
    }

    fn kept_since(&self) -> Result<Option<i64>, ReadLedgerError> {
        self.read(|link| match link.cut()? {
            0 => Ok(None),
            cut => read::written_at(link, cut),
        })
    }

    fn sessions(&self) -> Result<Vec<String>, ReadLedgerError> {
        self.read(read::sessions)
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
        let origin = self.audit_origin();
        Checkpoint::sign(&origin, head.size, head.digest, &self.writer().signer.key)
    }

    fn rotate_key(&self) -> Result<PublicKey, AppendError> {
        let mut writer = self.writer();
        let trouble =
            |error: key::KeyFileError| Trouble(AppendError::KeyReplaced(error.to_string()));
        writer.transaction(|link, writer, head| {
            let signer = &writer.signer;
            let missing =
                || Trouble(AppendError::KeyReplaced("the ledger has no key file".to_owned()));
            let path = signer.path.as_deref().ok_or_else(missing)?;
            let next = key::prepare_rotation(path, &*self.0.randomness).map_err(trouble)?;
            let (number, since) = (signer.number + 1, head.frontier.size());
            let public = next.public();
            let note = key_note(&signer.origin, number, since, &public, &signer.key);
            Ok(insert_key(link, number, &public, &note)?)
        })?;
        // Picks up the new key and moves its file into place. The next group is signed with it.
        writer.transaction(|_, _, _| Ok(()))?;
        Ok(writer.signer.key.public())
    }

    fn retain(&self) -> Result<(), AppendError> {
        self.writer().retain(&self.0.settings.retention)
    }

    fn changes(&self) -> Result<Changes, ReadLedgerError> {
        let now = self.read(|link| link.extent())?;
        let size = self.0.size.get_or_init(Size::default);
        size.is_at_least(now);
        if !size.is_watched() {
            changes::listen(&self.0.sockets, self.0.address.clone(), size.clone());
        }
        Ok(size.changes())
    }

    fn verify(
        &self,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, ReadLedgerError> {
        self.read(|link| verify(link, expected, progress))
    }

    fn export(&self, execution_id: &str) -> Result<Option<ExportedReceipt>, ReadLedgerError> {
        let (checkpoint, key) = self.signed()?;
        self.read(|link| link.moment(|| export(link, execution_id, checkpoint.clone(), key)))
    }

    fn prove(&self, wanted: &Provable) -> Result<Proved, ReadLedgerError> {
        let checkpoint = self.signed()?.0;
        self.read(|link| link.moment(|| prove(link, wanted, checkpoint.clone())))
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
        let proof = self.read(|link| consistency(&mut StoredTree(link), old, size))?;
        Ok((checkpoint, proof))
    }

    fn last_events(&self, session: &str, count: u64) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|link| {
            let end = read::session_end(link, session)?.0;
            read::session(link, session, end.saturating_sub(count), count)
        })
    }
}
