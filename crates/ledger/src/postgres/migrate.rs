//! Copies a ledger from an SQLite file to PostgreSQL, byte for byte.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::address::PostgresAddress;
use super::link::{Failure, Link, Sockets, signed};
use super::open::{insert_key, name, recognise};
use super::schema;
use super::store::PostgresLedger;
use super::turn::BEGIN;
use crate::log::Read;
use crate::ports::{Clock, Randomness};
use crate::read::ReadLedgerError;
use crate::settings::{Durability, LedgerSettings};
use crate::shared::{MigrateError, Migrated};
use crate::sqlite::SqliteLedger;
use crate::store::LedgerStore as _;
use crate::tables::{EventRow, KeyRow, NoteKind, ResultRow, Tables};
use crate::tree::BLOCK;
use crate::verify::{Expected, verify};

impl PostgresLedger {
    /// Copies the ledger in a file to an address without one: events, results, checkpoints and keys
    /// unchanged. Verifies the copy before committing it, and keeps the file.
    ///
    /// # Errors
    /// See [`MigrateError`].
    pub fn migrate(
        from: &Path,
        settings: LedgerSettings,
        to: &PostgresAddress,
        ports: (Arc<dyn Clock>, Arc<dyn Randomness>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<Migrated, MigrateError> {
        let shown = to.to_string();
        let write = |failure: Failure| MigrateError::Write {
            to: shown.clone(),
            message: failure.message().to_owned(),
        };
        let (source, _) = SqliteLedger::open(from, settings, ports.0, ports.1)?;
        // On PostgreSQL, a signature must cover every event.
        let signed = source.checkpoint();
        signed.map_err(|error| ReadLedgerError::Unsigned(error.to_string()))?;
        let sockets = Sockets::start().map_err(|error| MigrateError::Write {
            to: shown.clone(),
            message: error.to_string(),
        })?;
        let link = Link::connect(&sockets, to, Durability::Full).map_err(write)?;
        if recognise(&link, &PathBuf::from(&shown))? {
            return Err(MigrateError::NotEmpty { to: shown });
        }
        link.batch(BEGIN).map_err(write)?;
        let copied = source.moment(|file| {
            let size = file.extent()?;
            copy(file, &link, size, progress)?;
            Ok(size)
        });
        let verified = copied.and_then(|size| {
            let expected = Expected::default();
            let verification =
                link.unhurried(|| verify(&link, Read::default(), &expected, &mut |_| {}))?;
            Ok((size, verification, source.extent()?))
        });
        let (size, verification, now) = match verified {
            Ok(verified) => verified,
            Err(error) => {
                link.roll_back();
                return Err(error.into());
            }
        };
        let wrong = match &verification.broken {
            Some(broken) => Some(MigrateError::Broken(broken.clone())),
            None if now != size => Some(MigrateError::Grew { copied: size, now }),
            None => None,
        };
        if let Some(wrong) = wrong {
            link.roll_back();
            return Err(wrong);
        }
        link.batch("COMMIT").map_err(write)?;
        Ok(Migrated { size, verification })
    }
}

/// Creates the tables and copies everything into them.
fn copy(
    from: &Connection,
    to: &Link,
    size: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(), ReadLedgerError> {
    to.batch(&schema::statements())?;
    for origin in from.names()? {
        name(to, &origin)?;
    }
    for KeyRow { number, public, note } in from.keys()? {
        insert_key(to, number, &public, &note)?;
    }
    copy_notes(from, to)?;
    copy_sessions(from, to)?;
    let mut last = None;
    loop {
        let page = from.events(last)?;
        let Some(row) = page.last() else { break };
        last = Some(row.seq);
        copy_events(&page, to)?;
        progress(row.seq + 1);
    }
    let mut last = None;
    loop {
        let page = from.results(last)?;
        let Some(row) = page.last() else { break };
        last = Some(row.id);
        copy_results(&page, to)?;
    }
    copy_nodes(from, to, size)
}

fn copy_notes(from: &Connection, to: &Link) -> Result<(), ReadLedgerError> {
    for (kind, into) in [
        (NoteKind::Checkpoint, "INSERT INTO checkpoints (size, note) VALUES ($1, $2)"),
        (NoteKind::Tombstone, "INSERT INTO tombstones (cut, note) VALUES ($1, $2)"),
        (NoteKind::ResultTombstone, "INSERT INTO result_tombstones (cut, note) VALUES ($1, $2)"),
    ] {
        for (number, note) in from.notes(kind)? {
            to.execute(into, &[&signed(number), &note])?;
        }
    }
    Ok(())
}

fn copy_sessions(from: &Connection, to: &Link) -> Result<(), ReadLedgerError> {
    let mut statement = from.prepare("SELECT id, name FROM sessions ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, name): (i64, String) = (row.get(0)?, row.get(1)?);
        to.execute("INSERT INTO sessions (id, name) VALUES ($1, $2)", &[&id, &name])?;
    }
    Ok(())
}

fn copy_events(page: &[EventRow], to: &Link) -> Result<(), ReadLedgerError> {
    let numbers = |of: fn(&EventRow) -> i64| page.iter().map(of).collect::<Vec<i64>>();
    let seq = numbers(|row| signed(row.seq));
    let session = numbers(|row| row.session);
    let session_seq = numbers(|row| signed(row.session_seq));
    let calls = numbers(|row| signed(row.calls));
    let kind: Vec<&str> = page.iter().map(|row| row.kind.as_str()).collect();
    let execution_id: Vec<Option<&str>> =
        page.iter().map(|row| row.execution_id.as_deref()).collect();
    let opening: Vec<Option<i64>> = page.iter().map(|row| row.opening.map(signed)).collect();
    let digest: Vec<&[u8]> = page.iter().map(|row| row.digest.as_bytes().as_slice()).collect();
    let body: Vec<&[u8]> = page.iter().map(|row| row.body.as_slice()).collect();
    to.execute(
        super::insert::INTO_EVENTS,
        &[&seq, &session, &session_seq, &calls, &kind, &execution_id, &opening, &digest, &body],
    )?;
    Ok(())
}

fn copy_results(page: &[ResultRow], to: &Link) -> Result<(), ReadLedgerError> {
    let query = "INSERT INTO results (id, digest, size, packed, bytes) VALUES ($1, $2, $3, $4, $5)";
    for ResultRow { id, digest, size, packed, bytes } in page {
        let digest = digest.as_bytes().as_slice();
        let packed = i16::from(*packed);
        to.execute(query, &[&signed(*id), &digest, &signed(*size), &packed, bytes])?;
    }
    Ok(())
}

fn copy_nodes(from: &Connection, to: &Link, size: u64) -> Result<(), ReadLedgerError> {
    let mut count = size;
    for level in 1..8_u8 {
        count /= BLOCK;
        for number in 0..count {
            let node = crate::tables::node(from, level, number)?;
            let query = "INSERT INTO nodes (level, number, hash) VALUES ($1, $2, $3)";
            let hash = node.as_bytes().as_slice();
            to.execute(query, &[&i16::from(level), &signed(number), &hash])?;
        }
    }
    Ok(())
}
