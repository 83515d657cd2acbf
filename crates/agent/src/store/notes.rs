//! Notes: what the agent was asked to remember, or found worth it.

use std::borrow::Cow;
use std::sync::LazyLock;

use counterfoil_guard::Redactor;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::handle::{Store, at_most};
use super::ids::NoteId;
use super::text::stored_as_text;

/// The most bytes of text in one note.
pub const LONGEST_NOTE: usize = 8192;

/// Who said what a note holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteOrigin {
    /// The user.
    User,
    /// The model.
    Agent,
}

stored_as_text!(NoteOrigin { User => "user", Agent => "agent" });

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
    #[error("the note is empty")]
    Empty,
    /// It is too long: this many bytes, without white space around it.
    #[error("the note has {0} bytes; the maximum is {LONGEST_NOTE}")]
    TooLong(usize),
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
    /// already keeps its id, time and origin; it takes the vector if it had none.
    /// Secrets are taken out before anything is written.
    ///
    /// # Errors
    /// When the text has no or too many bytes, or the store fails.
    pub fn save(&self, note: &Note, vector: Option<&[f32]>) -> Result<NoteId, NoteError> {
        let text = &*secretless(note.text.trim());
        match text.len() {
            0 => return Err(NoteError::Empty),
            1..=LONGEST_NOTE => {}
            bytes => return Err(NoteError::TooLong(bytes)),
        }
        let id = self.write(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO notes (text, origin, session, at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (text) DO NOTHING",
                )?
                .execute(params![text, note.origin, note.session, note.at])?;
            let id = connection
                .prepare_cached("SELECT id FROM notes WHERE text = ?1")?
                .query_row([text], |row| row.get(0))?;
            if let Some(vector) = vector {
                connection
                    .prepare_cached("INSERT OR IGNORE INTO vectors (note, vector) VALUES (?1, ?2)")?
                    .execute(params![id, to_bytes(vector)])?;
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
        let newest = format!("{SELECT} ORDER BY id DESC LIMIT ?1");
        self.rows(&newest, [at_most(limit)], stored_note)
    }
}

const SELECT: &str = "SELECT id, text, origin, session, at FROM notes";

/// The note with this number.
pub(super) fn find(connection: &Connection, id: NoteId) -> rusqlite::Result<Option<StoredNote>> {
    connection
        .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
        .query_row([id], stored_note)
        .optional()
}

/// A row of [`SELECT`].
fn stored_note(row: &Row<'_>) -> rusqlite::Result<StoredNote> {
    let (text, origin) = (row.get(1)?, row.get(2)?);
    let note = Note { text, origin, session: row.get(3)?, at: row.get(4)? };
    Ok(StoredNote { id: row.get(0)?, note })
}

/// A vector as the table has it: little endian, 4 bytes for each number.
fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}
