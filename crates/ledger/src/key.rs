//! The key that signs checkpoints.

mod file;

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::Digest;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

pub use file::KeyFileError;
pub(super) use file::{create, finish_rotation, prepare_rotation, read, sync_folder};

/// The bytes before the key in the DER form of a public key (RFC 8410).
const PUBLIC_PREFIX: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
/// The bytes before the seed in the DER form of a private key (RFC 8410).
const PRIVATE_PREFIX: [u8; 16] =
    *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// A public Ed25519 key. Displayed and parsed as PEM, so that standard tools can use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

/// The text is not a public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an Ed25519 public key in PEM format")]
pub struct PublicKeyError;

impl PublicKey {
    /// The key with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key in the one-line form that verifiers of signed notes take: `NAME+HASH+KEY`.
    #[must_use]
    pub fn verifier_key(&self, origin: &str) -> String {
        let hash = u32::from_be_bytes(self.note_hash(origin));
        let typed = [&[ED25519], &self.0[..]].concat();
        format!("{origin}+{hash:08x}+{}", STANDARD.encode(typed))
    }

    /// The SHA-256 digest of the key's DER form (RFC 8410), for people to compare.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        Digest::of_bytes(&[&PUBLIC_PREFIX[..], &self.0[..]].concat())
    }

    /// The short hash that identifies the key in a note.
    pub(super) fn note_hash(&self, name: &str) -> [u8; 4] {
        let mut hasher = Sha256::new();
        hasher.update(name.as_bytes());
        hasher.update([b'\n', ED25519]);
        hasher.update(self.0);
        let [a, b, c, d, ..] = <[u8; 32]>::from(hasher.finalize());
        [a, b, c, d]
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        VerifyingKey::from_bytes(&self.0)
            .and_then(|key| key.verify_strict(message, &Signature::from_bytes(signature)))
            .is_ok()
    }
}

/// The number of the signature type in a note.
const ED25519: u8 = 1;

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let der = [&PUBLIC_PREFIX[..], &self.0[..]].concat();
        f.write_str(&pem("PUBLIC KEY", &der))
    }
}

impl FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<Self, PublicKeyError> {
        let der = from_pem("PUBLIC KEY", text).ok_or(PublicKeyError)?;
        let bytes = der.strip_prefix(&PUBLIC_PREFIX).ok_or(PublicKeyError)?;
        Ok(Self(bytes.try_into().map_err(|_| PublicKeyError)?))
    }
}

impl serde::Serialize for PublicKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for PublicKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The key that signs. Wiped from memory when it is dropped.
pub(super) struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    pub(super) fn from_seed(seed: &Zeroizing<[u8; 32]>) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    pub(super) fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    pub(super) fn dalek(&self) -> &ed25519_dalek::SigningKey {
        &self.0
    }

    fn to_pem(&self) -> Zeroizing<String> {
        let mut der = Zeroizing::new(PRIVATE_PREFIX.to_vec());
        der.extend_from_slice(self.0.as_bytes());
        Zeroizing::new(pem("PRIVATE KEY", &der))
    }

    fn from_pem(text: &str) -> Option<Self> {
        let der = Zeroizing::new(from_pem("PRIVATE KEY", text)?);
        let seed = der.strip_prefix(&PRIVATE_PREFIX)?;
        Some(Self::from_seed(&Zeroizing::new(seed.try_into().ok()?)))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    // The DER form of a key fits on one line of 64 characters.
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

fn from_pem(label: &str, text: &str) -> Option<Vec<u8>> {
    let body = text.trim().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let body = body.strip_suffix(&format!("-----END {label}-----"))?;
    let joined: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(joined).ok()
}
