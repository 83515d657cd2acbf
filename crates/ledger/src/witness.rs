//! A witness stores the checkpoints of other ledgers, and cosigns only those that continue the
//! latest one: a ledger that was cut or rewritten gets no cosignature.
//!
//! It implements the C2SP witness protocol, and creates C2SP cosignatures of version 1.

mod history;
mod refusal;
mod submission;
mod verifier_key;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::Digest;
use ed25519_dalek::Signer as _;

use super::key::{self, KeyFileError, SigningKey};
use super::note::Checkpoint;
use crate::ports::{Clock, Randomness};
use history::History;

pub use refusal::WitnessRefusal;
pub use submission::Submission;
pub use verifier_key::{KeyKind, VerifierKey, VerifierKeyError};

/// Cosigns checkpoints that continue those it has seen.
#[derive(Debug)]
pub struct Witness {
    folder: PathBuf,
    name: String,
    key: SigningKey,
    ledgers: Vec<VerifierKey>,
    clock: Arc<dyn Clock>,
}

/// Why a witness cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenWitnessError {
    /// Its key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// Its folder cannot be used.
    #[error("`{}` cannot be used: {message}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        message: String,
    },
    /// Its name is invalid. The name is part of every signature.
    #[error(
        "`{0}` is not a valid witness name: it must not be empty, or contain whitespace or `+`"
    )]
    Name(String),
}

impl Witness {
    /// Opens a witness that stores its key and history in a folder, for these ledgers. Each is
    /// identified by its origin and a key; several keys of one origin are allowed.
    ///
    /// # Errors
    /// When the name is invalid, or the key or the folder cannot be used.
    pub fn open(
        folder: &Path,
        name: &str,
        ledgers: Vec<VerifierKey>,
        clock: Arc<dyn Clock>,
        randomness: &dyn Randomness,
    ) -> Result<Self, OpenWitnessError> {
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '+') {
            return Err(OpenWitnessError::Name(name.to_owned()));
        }
        history::make_folder(folder).map_err(|error| OpenWitnessError::Folder {
            path: folder.to_owned(),
            message: error.to_string(),
        })?;
        let path = folder.join("witness.key");
        let key = match key::read(&path)? {
            Some(key) => key,
            None => key::create(&path, randomness)?,
        };
        Ok(Self { folder: folder.to_owned(), name: name.to_owned(), key, ledgers, clock })
    }

    /// The key that others need to verify its cosignatures.
    #[must_use]
    pub fn verifier_key(&self) -> VerifierKey {
        VerifierKey { name: self.name.clone(), kind: KeyKind::Cosigner, key: self.key.public() }
    }

    /// The latest checkpoint of a ledger with its cosignature, as a signed note.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn latest(&self, origin: &str) -> Result<Option<String>, WitnessRefusal> {
        self.history(origin).and_then(|history| history.latest()).map_err(storage)
    }

    /// The latest checkpoint of the ledger whose origin has this digest.
    ///
    /// # Errors
    /// As [`Self::latest`].
    pub fn latest_by_digest(&self, origin: &Digest) -> Result<Option<String>, WitnessRefusal> {
        let known = |ledger: &&VerifierKey| Digest::of_bytes(ledger.name.as_bytes()) == *origin;
        match self.ledgers.iter().find(known) {
            Some(ledger) => self.latest(&ledger.name),
            None => Ok(None),
        }
    }

    /// Compares a checkpoint with the latest one of its ledger, stores it, and cosigns it. Returns
    /// the line of the cosignature.
    ///
    /// # Errors
    /// See [`WitnessRefusal`]: nothing is signed then.
    pub fn add(&self, body: &str) -> Result<String, WitnessRefusal> {
        let Submission { old, proof, checkpoint } = Submission::read(body)?;
        let (origin, size, root) = (checkpoint.origin(), checkpoint.size(), checkpoint.root());
        let mut keys = self.ledgers.iter().filter(|ledger| ledger.name == origin).peekable();
        if keys.peek().is_none() {
            return Err(WitnessRefusal::UnknownOrigin(origin.to_owned()));
        }
        if !keys.any(|ledger| checkpoint.is_signed_by(&ledger.key)) {
            return Err(WitnessRefusal::Unsigned);
        }
        if old > size {
            return Err(WitnessRefusal::Malformed(
                "the old size is larger than the size of the checkpoint",
            ));
        }
        // From here on the history is locked.
        let mut history = self.history(origin).map_err(storage)?;
        let note = history.latest().map_err(storage)?;
        let latest = note.as_ref().map(|note| note.parse::<Checkpoint>()).transpose();
        let latest = latest.map_err(|error| WitnessRefusal::Storage(error.to_string()))?;
        let known = latest.as_ref().map_or(0, Checkpoint::size);
        if old != known {
            return Err(WitnessRefusal::OtherSize(known));
        }
        let continues = match &latest {
            Some(latest) if latest.size() > 0 => proof.holds((old, &latest.root()), (size, &root)),
            _ => proof.0.is_empty(),
        };
        let same_size = latest.as_ref().filter(|latest| latest.size() == size);
        if same_size.is_some_and(|latest| latest.root() != root) {
            // Signed by the ledger, yet in conflict with its history: evidence to keep.
            history.keep_contradiction(&checkpoint).map_err(storage)?;
            return Err(WitnessRefusal::Forked);
        }
        if !continues {
            // Anyone can send a checkpoint with an invalid proof: it is no evidence.
            return Err(WitnessRefusal::Inconsistent);
        }
        if same_size.is_some()
            && let Some(line) = note.as_deref().and_then(|note| self.own_line(&checkpoint, note))
        {
            return Ok(line);
        }
        let seconds = u64::try_from(self.clock.wall() / 1000).unwrap_or_default();
        let line = cosign(&checkpoint, &self.name, &self.key, seconds);
        history.add(&checkpoint, &line).map_err(storage)?;
        Ok(line)
    }

    /// The line of a note in which this witness cosigned the checkpoint.
    fn own_line(&self, checkpoint: &Checkpoint, note: &str) -> Option<String> {
        let own = VerifierKey {
            name: self.name.clone(),
            kind: KeyKind::Cosigner,
            key: self.key.public(),
        };
        let mut lines = note.split_inclusive('\n');
        lines.find(|line| own.cosigned(checkpoint, line).is_some()).map(str::to_owned)
    }

    fn history(&self, origin: &str) -> std::io::Result<History> {
        History::open(&self.folder, origin)
    }
}

fn storage(error: std::io::Error) -> WitnessRefusal {
    WitnessRefusal::Storage(error.to_string())
}

/// The text that a cosignature signs.
fn cosigned_text(checkpoint: &Checkpoint, seconds: u64) -> String {
    format!("cosignature/v1\ntime {seconds}\n{}", checkpoint.text())
}

fn cosign(checkpoint: &Checkpoint, name: &str, key: &SigningKey, seconds: u64) -> String {
    let signature = key.dalek().sign(cosigned_text(checkpoint, seconds).as_bytes()).to_bytes();
    let hash = KeyKind::Cosigner.hash(name, &key.public());
    let bytes = [&hash[..], &seconds.to_be_bytes()[..], &signature[..]].concat();
    format!("\u{2014} {name} {}\n", STANDARD.encode(bytes))
}

impl VerifierKey {
    /// When this witness cosigned the checkpoint, in seconds since the Unix epoch, according to
    /// signature lines. `None` if none of them is its cosignature of this checkpoint.
    #[must_use]
    pub fn cosigned(&self, checkpoint: &Checkpoint, lines: &str) -> Option<u64> {
        let start = format!("\u{2014} {} ", self.name);
        let hash = KeyKind::Cosigner.hash(&self.name, &self.key);
        lines.lines().find_map(|line| {
            let bytes = STANDARD.decode(line.strip_prefix(&start)?).ok()?;
            let (found, rest) = bytes.split_first_chunk::<4>()?;
            let (seconds, signature) = rest.split_first_chunk::<8>()?;
            let (seconds, signature) = (u64::from_be_bytes(*seconds), signature.try_into().ok()?);
            let text = cosigned_text(checkpoint, seconds);
            let good = self.kind == KeyKind::Cosigner
                && *found == hash
                && self.key.verifies(text.as_bytes(), signature);
            good.then_some(seconds)
        })
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    #[test]
    fn a_cosignature_is_of_one_checkpoint_and_one_time() {
        let of = |seed| SigningKey::from_seed(&Zeroizing::new([seed; 32]));
        let (ledger, witness) = (of(1), of(2));
        let signed = |size| Checkpoint::sign("a/ledger", size, Digest::of_bytes(b"root"), &ledger);
        let line = cosign(&signed(7), "w", &witness, 9);
        let key = |name: &str, kind, key: &SigningKey| VerifierKey {
            name: name.to_owned(),
            kind,
            key: key.public(),
        };
        let own = key("w", KeyKind::Cosigner, &witness);
        assert_eq!(own.cosigned(&signed(7), &format!("\u{2014} else AAAA\n{line}")), Some(9));
        assert_eq!(own.cosigned(&signed(8), &line), None);
        for other in [
            key("v", KeyKind::Cosigner, &witness),
            key("w", KeyKind::Ledger, &witness),
            key("w", KeyKind::Cosigner, &ledger),
        ] {
            assert_eq!(other.cosigned(&signed(7), &line), None, "{other}");
        }
        // The note with both signatures is still valid for the ledger.
        let note: Checkpoint = format!("{}{line}", signed(7)).parse().unwrap();
        assert!(note.is_signed_by(&ledger.public()));
        assert_eq!(own.to_string().parse::<VerifierKey>(), Ok(own));
    }
}
