//! The keys of a ledger, each certified by the one before.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{Connection, params};

use super::append::AppendError;
use super::key::{self, PublicKey, SigningKey};
use super::note::Note;
use super::seal::Trouble;
use super::signer::Signer;
use super::writer::Writer;
use crate::ports::Randomness;

/// The signed text about a key: its ledger, its number, and the size from which it signs.
pub(super) fn key_text(origin: &str, number: u64, since: u64, public: &PublicKey) -> String {
    let public = STANDARD.encode(public.as_bytes());
    format!("{origin}\nkey\n{number}\n{since}\n{public}\n")
}

/// The signed note about a key. The key before it signs; the first key signs for itself.
pub(super) fn key_note(
    origin: &str,
    number: u64,
    since: u64,
    public: &PublicKey,
    by: &SigningKey,
) -> String {
    Note::sign(key_text(origin, number, since, public), origin, by).to_string()
}

/// Adds a key that is certified by `by`: the key before it, or itself if it is the first.
pub(super) fn insert_key(
    connection: &Connection,
    origin: &str,
    number: u64,
    since: u64,
    public: &PublicKey,
    by: &SigningKey,
) -> rusqlite::Result<()> {
    let note = key_note(origin, number, since, public, by);
    connection
        .execute(
            "INSERT INTO keys (number, public, note) VALUES (?1, ?2, ?3)",
            params![number, public.as_bytes(), note],
        )
        .map(|_| ())
}

impl Writer {
    /// Replaces the signing key. The old key certifies the new one; its public part stays.
    pub(super) fn rotate(&mut self, randomness: &dyn Randomness) -> Result<PublicKey, AppendError> {
        let path = self.signer.path.clone();
        let path = path.ok_or_else(|| {
            AppendError::KeyReplaced("the key of an in-memory ledger cannot be replaced".to_owned())
        })?;
        let trouble =
            |error: key::KeyFileError| Trouble(AppendError::KeyReplaced(error.to_string()));
        self.transaction(|writer, head| {
            writer.follow_rotation()?;
            let next = key::prepare_rotation(&path, randomness).map_err(trouble)?;
            let (number, since) = (writer.signer.number + 1, head.frontier.size());
            let public = next.public();
            let Signer { origin, key, .. } = &writer.signer;
            insert_key(&writer.connection, origin, number, since, &public, key)?;
            head.key_is_known = false;
            Ok(())
        })?;
        // Picks up the new key, moves its file into place, and signs the current head with it.
        self.transaction(|writer, head| writer.sign_in_tables(head))?;
        Ok(self.signer.key.public())
    }
}
