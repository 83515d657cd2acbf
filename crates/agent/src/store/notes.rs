//! Notes: what the agent was asked to remember, or found worth it.

use std::borrow::Cow;
use std::sync::LazyLock;

use counterfoil_guard::Redactor;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::handle::{Store, at_most};
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
    /// The tool of this name: text that no person vouches for.
    Tool(String),
}

/// Something to remember.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// White space around it is left out.
    pub text: String,
    /// Who said it.
    pub origin: NoteOrigin,
    /// The session in which it was said.
    pub session: Option<String>,
    /// When, in milliseconds since 1970 UTC.
    pub at: i64,
}

/// Something that is remembered, as it was said first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredNote {
    /// Its number.
    pub id: NoteId,
    /// The note.
    #[serde(flatten)]
    pub note: Note,
}

/// Why a note was not stored.
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
    /// Remembers a note, with the vector of its meaning if there is one of finite numbers. A text
    /// that is remembered already keeps its id, time and origin; it takes the vector if it had none.
    /// Secrets are taken out before anything is written.
    ///
    /// # Errors
    /// When the text has no or too many bytes, or the store fails.
    pub fn save(&self, note: &Note, vector: Option<&[f32]>) -> Result<NoteId, NoteError> {
        let text = &*secretless(note.text.trim());
        match text.len() {
            0 => return Err(NoteError::Empty),
            1..=LONGEST_NOTE => {}
            bytes => return Err(NoteError::TooLong { bytes }),
        }
        let vector = vector.filter(|vector| vector::is_sound(vector));
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
    let note = Note { text: row.get(1)?, origin, session: row.get(4)?, at: row.get(5)? };
    Ok(StoredNote { id: row.get(0)?, note })
}
