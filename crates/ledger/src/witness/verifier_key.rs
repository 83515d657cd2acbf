use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::key::PublicKey;

/// A key and the name under which it signs, in the one-line form `NAME+HASH+KEY` that verifiers of
/// signed notes take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    /// The origin of a ledger, or the name of a witness.
    pub name: String,
    /// What it signs.
    pub kind: KeyKind,
    /// The key.
    pub key: PublicKey,
}

/// What a key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// Notes, such as the checkpoints of a ledger.
    Ledger,
    /// Cosignatures: that the checkpoints of others are consistent, with a time.
    Cosigner,
}

/// The text is not a verifier key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key in the signed-note format NAME+HASH+KEY")]
pub struct VerifierKeyError;

impl KeyKind {
    /// The number of the kind in a key.
    fn number(self) -> u8 {
        match self {
            Self::Ledger => 1,
            Self::Cosigner => 4,
        }
    }

    /// The short hash that identifies the key in a signature.
    pub(super) fn hash(self, name: &str, key: &PublicKey) -> [u8; 4] {
        let mut hasher = Sha256::new();
        hasher.update(name.as_bytes());
        hasher.update([b'\n', self.number()]);
        hasher.update(key.as_bytes());
        let [a, b, c, d, ..] = <[u8; 32]>::from(hasher.finalize());
        [a, b, c, d]
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = u32::from_be_bytes(self.kind.hash(&self.name, &self.key));
        let typed = [&[self.kind.number()], &self.key.as_bytes()[..]].concat();
        write!(f, "{}+{hash:08x}+{}", self.name, STANDARD.encode(typed))
    }
}

impl FromStr for VerifierKey {
    type Err = VerifierKeyError;

    fn from_str(text: &str) -> Result<Self, VerifierKeyError> {
        let read = || {
            // Base64 may contain `+`; names and hashes do not.
            let (name, rest) = text.split_once('+')?;
            let (_, key) = rest.split_once('+')?;
            let bytes = STANDARD.decode(key).ok()?;
            let (number, key) = bytes.split_first()?;
            let kind = [KeyKind::Ledger, KeyKind::Cosigner];
            let kind = kind.into_iter().find(|kind| kind.number() == *number)?;
            let key = PublicKey::from_bytes(key.try_into().ok()?);
            let read = Self { name: name.to_owned(), kind, key };
            (!name.is_empty() && read.to_string() == text).then_some(read)
        };
        read().ok_or(VerifierKeyError)
    }
}
