//! Where the ledger ends: what the next event stands on.

use std::collections::HashMap;

use countersign_model::Digest;
use rusqlite::{Connection, OptionalExtension as _};

use super::body::Outline;
use super::note::Checkpoint;
use super::read::{self, ReadLedgerError};
use super::recent::Recent;
use super::tree::{BLOCK, Frontier};

/// The end of the ledger, as it was when this process wrote or read it last.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) frontier: Frontier,
    /// Digest of the last event; of the ledger's name when there is none.
    pub(super) last: Digest,
    /// The size of the last checkpoint.
    pub(super) signed: u64,
    /// The first event that retention left.
    pub(super) cut: u64,
    /// What stands in the tables without indexes, so that nobody needs to search them.
    pub(super) recent: Recent,
    sessions: HashMap<String, SessionHead>,
}

/// The end of one session.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionHead {
    pub(super) id: i64,
    /// The place of its last event; 0 when it has none.
    pub(super) seq: u64,
    /// First attempts that it made.
    pub(super) calls: u64,
}

/// More sessions are forgotten and looked up again.
const REMEMBERED: usize = 4096;

impl Head {
    /// Reads the end of the ledger. What was signed must still have the root that was signed, and
    /// what follows must follow: nothing else is ever signed again.
    pub(super) fn load(connection: &Connection, origin: &str) -> Result<Self, ReadLedgerError> {
        let cut = read::cut(connection)?;
        let checkpoint = last_checkpoint(connection)?;
        let signed = checkpoint.as_ref().map_or(0, Checkpoint::size);
        let frontier = frontier(connection, signed)?;
        if let Some(checkpoint) = checkpoint {
            let keys = read::keys(connection)?;
            if checkpoint.root() != frontier.root() {
                return Err(broken("its last checkpoint has another root"));
            }
            if !keys.iter().any(|key| checkpoint.is_signed_by(key)) {
                return Err(broken("its last checkpoint is not signed by its key"));
            }
        }
        let last = match signed.checked_sub(1) {
            Some(last) => read::digest(connection, last)?,
            None => genesis(origin),
        };
        let mut head = Self {
            frontier,
            last,
            signed,
            cut,
            recent: Recent::load(connection)?,
            sessions: HashMap::new(),
        };
        head.extend(connection)?;
        Ok(head)
    }

    /// Follows what another process may have added. Whether it could: what retention dropped since
    /// has to be read anew.
    pub(super) fn follow(&mut self, connection: &Connection) -> Result<bool, ReadLedgerError> {
        let now = extent(connection)?;
        if now == (self.frontier.size(), self.cut) {
            return Ok(true);
        }
        if now.1 != self.cut || now.0 < self.frontier.size() {
            return Ok(false);
        }
        self.sessions.clear();
        self.recent = Recent::load(connection)?;
        self.extend(connection)?;
        self.signed = last_checkpoint(connection)?.map_or(0, |checkpoint| checkpoint.size());
        Ok(true)
    }

    /// Adds the events that follow, if each follows the one before it.
    fn extend(&mut self, connection: &Connection) -> Result<(), ReadLedgerError> {
        let mut statement = connection
            .prepare_cached("SELECT seq, digest, body FROM written WHERE seq >= ?1 ORDER BY seq")?;
        let mut rows = statement.query([self.frontier.size()])?;
        while let Some(row) = rows.next()? {
            let (seq, size) = (row.get::<_, u64>(0)?, self.frontier.size());
            let digest = read::digest_at(row, 1)?;
            let body = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
            if seq != size {
                return Err(broken(&format!("event {size} is missing")));
            }
            if Digest::of_bytes(body) != digest {
                return Err(broken(&format!("event {seq} does not have its digest")));
            }
            let previous = Outline::read(body).map(|outline| outline.previous);
            if previous.ok() != Some(self.last) {
                return Err(broken(&format!("event {seq} does not follow the one before it")));
            }
            self.frontier.push(&digest, |_| {});
            self.last = digest;
        }
        Ok(())
    }

    /// The end of a session; `None` when it has not begun.
    pub(super) fn session(
        &mut self,
        connection: &Connection,
        name: &str,
    ) -> rusqlite::Result<Option<SessionHead>> {
        if let Some(head) = self.sessions.get(name) {
            return Ok(Some(*head));
        }
        let found = find_session(connection, name)?;
        if let Some(head) = found {
            self.advance(name, head);
        }
        Ok(found)
    }

    /// Remembers the end of a session.
    pub(super) fn advance(&mut self, name: &str, head: SessionHead) {
        if let Some(known) = self.sessions.get_mut(name) {
            *known = head;
            return;
        }
        if self.sessions.len() >= REMEMBERED {
            self.sessions.clear();
        }
        self.sessions.insert(name.to_owned(), head);
    }
}

/// Makes a place for a session that has not begun.
pub(super) fn begin_session(connection: &Connection, name: &str) -> rusqlite::Result<SessionHead> {
    let id = connection
        .prepare_cached("INSERT INTO sessions (name) VALUES (?1) RETURNING id")?
        .query_row([name], |row| row.get(0))?;
    Ok(SessionHead { id, seq: 0, calls: 0 })
}

/// What stands before the first event.
pub(super) fn genesis(origin: &str) -> Digest {
    Digest::of_bytes(origin.as_bytes())
}

/// The end of a session that exists.
pub(super) fn find_session(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Option<SessionHead>> {
    let id: Option<i64> = connection
        .prepare_cached("SELECT id FROM sessions WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    let Some(id) = id else { return Ok(None) };
    let last = connection
        .prepare_cached(
            "SELECT session_seq, calls FROM written WHERE session = ?1
             ORDER BY session_seq DESC LIMIT 1",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (seq, calls) = last.unwrap_or_default();
    Ok(Some(SessionHead { id, seq, calls }))
}

/// Events that were ever written, and the first of them that is still there.
pub(super) fn extent(connection: &Connection) -> rusqlite::Result<(u64, u64)> {
    // Retention never drops the last event.
    connection
        .prepare_cached(
            "SELECT max(coalesce((SELECT max(seq) + 1 FROM events), 0),
                        coalesce((SELECT max(seq) + 1 FROM recent), 0)),
                    (SELECT coalesce(max(cut), 0) FROM tombstones)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn last_checkpoint(connection: &Connection) -> Result<Option<Checkpoint>, ReadLedgerError> {
    let note: Option<String> = connection
        .prepare_cached("SELECT note FROM checkpoints ORDER BY size DESC LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    let checkpoint = note.map(|note| note.parse()).transpose();
    checkpoint.map_err(|error| broken(&format!("its last checkpoint: {error}")))
}

fn broken(what: &str) -> ReadLedgerError {
    ReadLedgerError::Broken { what: what.to_owned() }
}

/// The frontier of the first `size` leaves, from the stored nodes and fewer than 256 events.
pub(super) fn frontier(connection: &Connection, size: u64) -> Result<Frontier, ReadLedgerError> {
    let mut frontier = Frontier::default();
    for level in (1..8_u8).rev() {
        let leaves = BLOCK.pow(u32::from(level) - 1).saturating_mul(BLOCK);
        while size - frontier.size() >= leaves {
            let hash = read::node(connection, level, frontier.size() / leaves)?;
            frontier.push_node(level, hash, |_| {});
        }
    }
    let mut statement = connection
        .prepare_cached("SELECT digest FROM written WHERE seq >= ?1 AND seq < ?2 ORDER BY seq")?;
    let mut rows = statement.query([frontier.size(), size])?;
    while let Some(row) = rows.next()? {
        let digest = read::digest_at(row, 0)?;
        frontier.push(&digest, |_| {});
    }
    if frontier.size() == size {
        Ok(frontier)
    } else {
        Err(broken("events are missing at its end"))
    }
}
