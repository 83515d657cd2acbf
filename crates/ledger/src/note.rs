use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::Digest;
use ed25519_dalek::Signer as _;

use super::key::{PublicKey, SigningKey};

/// A text with Ed25519 signatures, in the C2SP signed-note form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// Ends with a line feed.
    text: String,
    signatures: Vec<NoteSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NoteSignature {
    name: String,
    key_hash: [u8; 4],
    signature: [u8; 64],
}

/// The text is not a signed note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a signed note: {0}")]
pub(super) struct NoteError(&'static str);

impl Note {
    /// Signs a text, which must end with a line feed and contain no empty line.
    pub(super) fn sign(text: String, name: &str, key: &SigningKey) -> Self {
        let signature = key.dalek().sign(text.as_bytes()).to_bytes();
        let key_hash = key.public().note_hash(name);
        let signatures = vec![NoteSignature { name: name.to_owned(), key_hash, signature }];
        Self { text, signatures }
    }

    /// The signed text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether this key signed the text under this name.
    pub(super) fn is_signed_by(&self, name: &str, key: &PublicKey) -> bool {
        let key_hash = key.note_hash(name);
        self.signatures.iter().any(|signature| {
            signature.name == name
                && signature.key_hash == key_hash
                && key.verifies(self.text.as_bytes(), &signature.signature)
        })
    }

    /// Whether there is exactly one signature.
    pub(super) fn has_one_signature(&self) -> bool {
        self.signatures.len() == 1
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for NoteSignature { name, key_hash, signature } in &self.signatures {
            let bytes = [&key_hash[..], &signature[..]].concat();
            writeln!(f, "\u{2014} {name} {}", STANDARD.encode(bytes))?;
        }
        Ok(())
    }
}

impl FromStr for Note {
    type Err = NoteError;

    fn from_str(note: &str) -> Result<Self, NoteError> {
        let (text, lines) = note.rsplit_once("\n\n").ok_or(NoteError("it has no signature"))?;
        let mut signatures = Vec::new();
        for line in lines.strip_suffix('\n').unwrap_or(lines).split('\n') {
            let signature = line.strip_prefix("\u{2014} ").and_then(|line| line.split_once(' '));
            let (name, encoded) = signature.ok_or(NoteError("a signature has no name"))?;
            let bytes = STANDARD
                .decode(encoded)
                .map_err(|_| NoteError("a signature is truncated or not base64"))?;
            // Signatures of other types and lengths are skipped, such as cosignatures.
            if let Ok(bytes) = <[u8; 68]>::try_from(bytes) {
                let [a, b, c, d, signature @ ..] = bytes;
                signatures.push(NoteSignature {
                    name: name.to_owned(),
                    key_hash: [a, b, c, d],
                    signature,
                });
            }
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }
}

/// The signed head of a ledger's tree at some size.
///
/// Written and read in the C2SP checkpoint form. A copy kept elsewhere reveals whether anything
/// before it was changed or cut off later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    origin: String,
    size: u64,
    root: Digest,
    note: Note,
}

/// The text is not a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a checkpoint: {0}")]
pub struct CheckpointError(&'static str);

impl Checkpoint {
    pub(super) fn sign(origin: &str, size: u64, root: Digest, key: &SigningKey) -> Self {
        let text = format!("{origin}\n{size}\n{}\n", STANDARD.encode(root.as_bytes()));
        let note = Note::sign(text, origin, key);
        Self { origin: origin.to_owned(), size, root, note }
    }

    /// The name of the ledger, which is also the name of its key.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The number of events that it covers.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root of the tree of these events.
    #[must_use]
    pub fn root(&self) -> Digest {
        self.root
    }

    /// The signed text.
    pub(super) fn text(&self) -> &str {
        self.note.text()
    }

    /// Whether this key signed it.
    #[must_use]
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        self.note.is_signed_by(&self.origin, key)
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.note.fmt(f)
    }
}

impl FromStr for Checkpoint {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        let note: Note = text.parse().map_err(|NoteError(why)| CheckpointError(why))?;
        let mut lines = note.text().lines();
        let origin = lines.next().filter(|origin| !origin.is_empty());
        let origin = origin.ok_or(CheckpointError("it has no origin"))?.to_owned();
        let size = lines.next().ok_or(CheckpointError("it has no size"))?;
        let plain = size == "0" || size.starts_with(|c: char| ('1'..='9').contains(&c));
        let size = size.parse().ok().filter(|_| plain);
        let size = size.ok_or(CheckpointError("its size is not a number"))?;
        let root = lines.next().and_then(|root| STANDARD.decode(root).ok());
        let root = root.and_then(|root| Some(Digest::from_bytes(root.try_into().ok()?)));
        let root = root.ok_or(CheckpointError("its root is not a digest"))?;
        Ok(Self { origin, size, root, note })
    }
}

impl serde::Serialize for Checkpoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Checkpoint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
