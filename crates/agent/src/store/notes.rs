//! Notes: what the agent was asked to remember, or found worth it.

use std::borrow::Cow;
use std::sync::LazyLock;

use counterfoil_guard::Redactor;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::handle::{Store, StoreError, at_most};
use super::ids::NoteId;
use super::vector;

/// The most bytes of text in one note.
pub const LONGEST_NOTE: usize = 8192;

/// Who said what a note holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteOrigin {
    /// The user.
    User,
    /// The model.
    Agent,
    /// The tool of this name: text that nobody vouches for.
    Tool(String),
}

/// Something to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// White space around it is left out.
    pub text: String,
    /// The session in which it was said.
    pub session: Option<String>,
    /// Who said it.
    pub origin: NoteOrigin,
    /// When, in milliseconds since 1970 UTC.
    pub at: i64,
}

/// Something that is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredNote {
    /// Its number.
    pub id: NoteId,
    /// What was said.
    pub text: String,
    /// Who said it first.
    pub origin: NoteOrigin,
    /// The session in which it was first said.
    pub session: Option<String>,
    /// When it was first said, in milliseconds since 1970 UTC.
    pub at: i64,
}

/// Why a note or its vector was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// There is no text.
    #[error("a note needs text")]
    Empty,
    /// There is too much of it.
    #[error("a note of {bytes} bytes is too long: {LONGEST_NOTE} are the most")]
    TooLong {
        /// Of the text without white space around it.
        bytes: usize,
    },
    /// The vector has no numbers, or some that are infinite or none at all.
    #[error("the vector of a note is empty or has numbers that are not finite")]
    Vector,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StoreError),
}

/// A text without the secrets in it.
pub(crate) fn secretless(text: &str) -> Cow<'_, str> {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::standard);
    REDACTOR.redact(text)
}

impl Store {
    /// Remembers a note, with the vector of its meaning if there is one. A text that is remembered
    /// already keeps its id, time and origin; it takes the vector if it had none. Secrets are taken out
    /// before anything is written.
    ///
    /// # Errors
    /// When the text has no or too many bytes, the vector is not sound, or the store fails.
    pub fn save(&self, note: &Note, vector: Option<&[f32]>) -> Result<NoteId, NoteError> {
        let text = &*secretless(note.text.trim());
        match text.len() {
            0 => return Err(NoteError::Empty),
            1..=LONGEST_NOTE => {}
            bytes => return Err(NoteError::TooLong { bytes }),
        }
        if vector.is_some_and(|vector| !vector::is_sound(vector)) {
            return Err(NoteError::Vector);
        }
        let id = self.write(|connection| {
            let id = match id_of(connection, text)? {
                Some(id) => id,
                None => insert(connection, text, note)?,
            };
            if let Some(vector) = vector {
                connection
                    .prepare_cached("INSERT OR IGNORE INTO vectors (note, vector) VALUES (?1, ?2)")?
                    .execute(params![id, vector::to_bytes(vector)])?;
            }
            Ok(id)
        })?;
        Ok(id)
    }

    /// Forgets a note; says whether there was one. Its text is overwritten in the file, and goes
    /// from the log beside it when the last process closes the store.
    ///
    /// # Errors
    /// When the store fails.
    pub fn forget(&self, id: NoteId) -> Result<bool, StoreError> {
        self.write(|connection| {
            let forgotten =
                connection.prepare_cached("DELETE FROM notes WHERE id = ?1")?.execute([id])?;
            Ok(forgotten > 0)
        })
    }

    /// The notes that were saved last, the newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn list(&self, limit: usize) -> Result<Vec<StoredNote>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, text, origin, tool, session, at FROM notes
                     ORDER BY id DESC LIMIT ?1",
                )?
                .query_map([at_most(limit)], stored_note)?
                .collect()
        })
    }

    /// How many notes there are.
    ///
    /// # Errors
    /// When the store fails.
    pub fn count(&self) -> Result<u64, StoreError> {
        self.read(|connection| {
            connection.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))
        })
    }

    /// Notes that have no vector yet, the oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn without_vector(&self, limit: usize) -> Result<Vec<StoredNote>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, text, origin, tool, session, at FROM notes
                     WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE note = id)
                     ORDER BY id LIMIT ?1",
                )?
                .query_map([at_most(limit)], stored_note)?
                .collect()
        })
    }

    /// Gives a note its vector, in place of the one that it had; says whether there is such a note.
    ///
    /// # Errors
    /// When the vector is not sound, or the store fails.
    pub fn set_vector(&self, id: NoteId, vector: &[f32]) -> Result<bool, NoteError> {
        if !vector::is_sound(vector) {
            return Err(NoteError::Vector);
        }
        let set = self.write(|connection| {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO vectors (note, vector)
                     SELECT id, ?2 FROM notes WHERE id = ?1",
                )?
                .execute(params![id, vector::to_bytes(vector)])
        })?;
        Ok(set > 0)
    }
}

/// The note with this number.
pub(super) fn find(connection: &Connection, id: NoteId) -> rusqlite::Result<Option<StoredNote>> {
    connection
        .prepare_cached("SELECT id, text, origin, tool, session, at FROM notes WHERE id = ?1")?
        .query_row([id], stored_note)
        .optional()
}

fn id_of(connection: &Connection, text: &str) -> rusqlite::Result<Option<NoteId>> {
    connection
        .prepare_cached("SELECT id FROM notes WHERE text = ?1")?
        .query_row([text], |row| row.get(0))
        .optional()
}

fn insert(connection: &Connection, text: &str, note: &Note) -> rusqlite::Result<NoteId> {
    let (origin, tool) = match &note.origin {
        NoteOrigin::User => ("user", None),
        NoteOrigin::Agent => ("agent", None),
        NoteOrigin::Tool(name) => ("tool", Some(name)),
    };
    connection
        .prepare_cached(
            "INSERT INTO notes (text, origin, tool, session, at) VALUES (?1, ?2, ?3, ?4, ?5)
             RETURNING id",
        )?
        .query_row(params![text, origin, tool, note.session, note.at], |row| row.get(0))
}

/// From the columns id, text, origin, tool, session, at.
fn stored_note(row: &Row<'_>) -> rusqlite::Result<StoredNote> {
    let origin = match row.get_ref(2)?.as_str()? {
        "user" => NoteOrigin::User,
        "agent" => NoteOrigin::Agent,
        // The schema admits no other word, and a tool has its name.
        _ => NoteOrigin::Tool(row.get(3)?),
    };
    Ok(StoredNote {
        id: row.get(0)?,
        text: row.get(1)?,
        origin,
        session: row.get(4)?,
        at: row.get(5)?,
    })
}
