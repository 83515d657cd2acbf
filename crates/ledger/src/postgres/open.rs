//! Opens a ledger on PostgreSQL, checking what is there before anything is added.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::address::PostgresAddress;
use super::link::{Failure, Link, Sockets, column, signed};
use super::linked::Linked;
use super::schema::{self, VERSION};
use super::turn::BEGIN;
use super::writer::Writer;
use crate::append::AppendError;
use crate::key::{self, PublicKey, SigningKey};
use crate::open::{OpenLedgerError, new_origin};
use crate::ports::{Clock, Randomness};
use crate::read::ReadLedgerError;
use crate::rotation::key_note;
use crate::settings::LedgerSettings;
use crate::signer::Signer;
use crate::tables::Tables as _;

/// A lock for creating the tables: no table exists yet whose id the lock could use.
const BEGIN_ALONE: &str = "SELECT pg_advisory_xact_lock(1129531212, 0)";

const IS_THERE: &str = "
    SELECT to_regclass(quote_ident(current_schema()) || '.ledger') IS NOT NULL,
           (SELECT count(*) FROM pg_attribute
            WHERE attrelid = to_regclass(quote_ident(current_schema()) || '.ledger')
              AND attname IN ('origin', 'version')) = 2,
           current_setting('server_encoding'),
           current_schema() IS NOT NULL";

/// A ledger that was just opened.
pub(super) struct Opened {
    pub(super) writer: Writer,
    pub(super) reader: Linked,
    pub(super) sockets: Arc<Sockets>,
}

/// Opens the ledger at an address, or creates it with the key in this file.
pub(super) fn open(
    address: &PostgresAddress,
    key_path: PathBuf,
    settings: &LedgerSettings,
    clock: Arc<dyn Clock>,
    randomness: &dyn Randomness,
) -> Result<Opened, OpenLedgerError> {
    let shown = PathBuf::from(address.to_string());
    let sockets = Sockets::start().map_err(|error| unwritable(&shown, error.to_string()))?;
    let sockets = Arc::new(sockets);
    let link = Link::connect(&sockets, address, settings.durability)
        .map_err(|failure| unwritable(&shown, failure.message().to_owned()))?;
    if !recognise(&link, &shown)? {
        let key = match key::read(&key_path)? {
            Some(key) => key,
            None => key::create(&key_path, randomness)?,
        };
        begin(&link, &shown, &new_origin(randomness)?, &key)?;
    }
    let signer = signer(&link, &shown, key_path)?;
    let mut linked = Linked::new(sockets.clone(), address.clone(), settings.durability);
    linked.give_back(link);
    let reader = Linked::new(sockets.clone(), address.clone(), settings.durability);
    let mut writer = Writer { linked, clock, signer, head: None };
    // The end of the ledger must be sound before anything is added.
    writer.transaction(|_, _, _| Ok(())).map_err(|error| match error {
        AppendError::Storage(what) => OpenLedgerError::Corrupt { path: shown.clone(), what },
        other => OpenLedgerError::Corrupt { path: shown.clone(), what: other.to_string() },
    })?;
    Ok(Opened { writer, reader, sockets })
}

/// Whether there is a ledger; an error if there is something else.
pub(super) fn recognise(link: &Link, shown: &Path) -> Result<bool, OpenLedgerError> {
    let failed = |failure: Failure| unwritable(shown, failure.message().to_owned());
    let path = shown.to_owned();
    let Some(row) = link.row(IS_THERE, &[]).map_err(failed)? else {
        return Err(OpenLedgerError::NotALedger { path });
    };
    let flag = |at: usize| column::<bool>(&row, at).map_err(failed);
    let encoding: String = column(&row, 2).map_err(failed)?;
    if !flag(3)? {
        let message = "none of the schemas in its search path exists".to_owned();
        return Err(unwritable(shown, message));
    }
    if encoding != "UTF8" {
        let message = format!("the database encoding is {encoding}; a ledger requires UTF8");
        return Err(unwritable(shown, message));
    }
    match (flag(0)?, flag(1)?) {
        (false, _) => Ok(false),
        (true, false) => Err(OpenLedgerError::NotALedger { path }),
        (true, true) => {
            let row = link.row("SELECT version FROM ledger", &[]).map_err(failed)?;
            let version = row.map(|row| column(&row, 0)).transpose().map_err(failed)?;
            match version {
                Some(version) if version > VERSION => Err(OpenLedgerError::Newer { path, version }),
                Some(_) => Ok(true),
                None => Err(OpenLedgerError::Corrupt { path, what: "it has no name".to_owned() }),
            }
        }
    }
}

/// Creates the tables, the name and the first key, unless another replica has done so meanwhile.
fn begin(link: &Link, shown: &Path, origin: &str, key: &SigningKey) -> Result<(), OpenLedgerError> {
    let make = || -> Result<(), Failure> {
        link.batch(BEGIN)?;
        link.rows(BEGIN_ALONE, &[])?;
        if recognise(link, shown).unwrap_or(true) {
            return link.batch("ROLLBACK");
        }
        link.batch(&schema::statements())?;
        let public = key.public();
        name(link, origin)?;
        insert_key(link, 0, &public, &key_note(origin, 0, 0, &public, key))?;
        link.batch("COMMIT")
    };
    make().map_err(|failure| {
        link.roll_back();
        unwritable(shown, failure.message().to_owned())
    })
}

/// Names a new ledger.
pub(super) fn name(link: &Link, origin: &str) -> Result<(), Failure> {
    let query = "INSERT INTO ledger (id, origin, version) VALUES (0, $1, $2)";
    link.execute(query, &[&origin, &VERSION]).map(|_| ())
}

/// Adds a key with the note that certifies it.
pub(super) fn insert_key(
    link: &Link,
    number: u64,
    public: &PublicKey,
    note: &str,
) -> Result<(), Failure> {
    let query = "INSERT INTO keys (number, public, note) VALUES ($1, $2, $3)";
    link.execute(query, &[&signed(number), &public.as_bytes().as_slice(), &note]).map(|_| ())
}

/// The current signing key, if it is here.
fn signer(link: &Link, shown: &Path, path: PathBuf) -> Result<Signer, OpenLedgerError> {
    let read = |error: ReadLedgerError| match error {
        ReadLedgerError::Storage(message) => unwritable(shown, message),
        other => OpenLedgerError::Corrupt { path: shown.to_owned(), what: other.to_string() },
    };
    let corrupt =
        |what: &str| OpenLedgerError::Corrupt { path: shown.to_owned(), what: what.to_owned() };
    let origin = link.names().map_err(read)?.pop().ok_or_else(|| corrupt("it has no name"))?;
    let last = link.keys().map_err(read)?.pop().ok_or_else(|| corrupt("it has no key"))?;
    let found = match key::read(&path)? {
        Some(key) if key.public() == last.public => {
            return Ok(Signer { origin, key, number: last.number, path: Some(path) });
        }
        found => found,
    };
    // Finishes a rotation that was interrupted after the ledger had recorded the new key.
    if let Some(key) = key::finish_rotation(&path, |key| key.public() == last.public)? {
        return Ok(Signer { origin, key, number: last.number, path: Some(path) });
    }
    Err(match found {
        Some(_) => OpenLedgerError::ForeignKey { path },
        None => OpenLedgerError::MissingKey { path },
    })
}

pub(super) fn unwritable(shown: &Path, message: String) -> OpenLedgerError {
    OpenLedgerError::Unwritable { path: shown.to_owned(), message }
}
