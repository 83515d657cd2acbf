//! What was kept elsewhere: checkpoints, and keys that signed them.

use std::path::Path;

use counterfoil_guard::{Checkpoint, Ledger, PublicKey};

use super::answer::Mark;
use crate::exit::Complaint;
use crate::files;

/// The notes in a file, one after another: a text, a blank line, lines of signatures.
pub(super) fn checkpoints(path: &Path) -> anyhow::Result<Vec<Checkpoint>> {
    let text = files::read_text(path)
        .map_err(|error| Complaint::new(format!("`{}` cannot be read: {error}", path.display())))?;
    let mut notes = Vec::new();
    let mut note = String::new();
    for line in text.split_inclusive('\n') {
        if note.contains("\n\n") && !line.starts_with('\u{2014}') {
            notes.push(std::mem::take(&mut note));
        }
        note += line;
    }
    notes.push(note);
    let read = |note: &String| {
        note.parse().map_err(|error| {
            Complaint::new(format!("`{}`: {error}", path.display()))
                .help("`counterfoil audit checkpoint` prints what is meant")
        })
    };
    Ok(notes.iter().map(read).collect::<Result<_, _>>()?)
}

pub(super) fn public_key(path: &Path) -> Result<PublicKey, Complaint> {
    let text = files::read_text(path)
        .map_err(|error| Complaint::new(format!("`{}` cannot be read: {error}", path.display())))?;
    text.parse().map_err(|error| Complaint::new(format!("`{}`: {error}", path.display())))
}

/// Whose keys are at hand.
pub(super) struct Signers<'k> {
    /// Keys that were kept elsewhere.
    pub(super) given: &'k [PublicKey],
    pub(super) ledger: Option<&'k Ledger>,
    /// A given key is the ledger's, or vouched for the one it has now.
    pub(super) vouched: bool,
}

/// Who signed a kept checkpoint.
#[derive(Clone, Copy)]
pub(super) enum Signer {
    Given,
    /// The ledger's present key, for which a given one vouched.
    Vouched,
    Own,
    /// Nobody whose key is at hand.
    Unknown,
    /// Not the given key, which was kept in order to be asked.
    Foreign,
}

impl Signers<'_> {
    pub(super) fn of(&self, checkpoint: &Checkpoint) -> Signer {
        let own = self.ledger.is_some_and(|l| checkpoint.is_signed_by(&l.public_key()));
        if self.given.iter().any(|key| checkpoint.is_signed_by(key)) {
            Signer::Given
        } else if own && self.vouched {
            Signer::Vouched
        } else if !self.given.is_empty() {
            Signer::Foreign
        } else if own {
            Signer::Own
        } else {
            Signer::Unknown
        }
    }
}

impl Signer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Given => "given key",
            Self::Vouched => "key that the given key vouched for",
            Self::Own => "own key",
            Self::Unknown => "unknown",
            Self::Foreign => "another key",
        }
    }

    pub(super) fn row(self, checkpoint: &Checkpoint, ledger: Option<&Ledger>) -> (Mark, String) {
        if let Some(own) = ledger.map(|ledger| ledger.audit_origin())
            && own != checkpoint.origin()
        {
            let of = checkpoint.origin();
            return (Mark::Broken, format!("the kept checkpoint is of `{of}`, not of `{own}`"));
        }
        let (mark, text) = match self {
            Self::Given => (Mark::Holds, "the kept checkpoint is signed by the given public key"),
            Self::Vouched => (
                Mark::Holds,
                "the kept checkpoint is signed by a key that the given public key vouched for",
            ),
            Self::Own => (
                Mark::Open,
                "the kept checkpoint is signed by the ledger's own key; no public key from \
                 elsewhere was given, so a replaced key would not show",
            ),
            Self::Unknown => (
                Mark::Broken,
                "the kept checkpoint is not signed by the ledger's present key: give the key of \
                 its time with `--public-key`",
            ),
            Self::Foreign => {
                (Mark::Broken, "the kept checkpoint is not signed by the given public key")
            }
        };
        (mark, text.to_owned())
    }
}
