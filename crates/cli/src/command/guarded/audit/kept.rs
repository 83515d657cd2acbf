//! Checkpoints and keys that were kept elsewhere.

use std::path::Path;

use counterfoil_ledger::{Checkpoint, KeptNotes, Ledger, PublicKey};

use super::answer::Mark;
use crate::exit::Complaint;
use crate::files;
use counterfoil_report::counted;

const HELP: &str = "`counterfoil audit checkpoint` prints a checkpoint";

/// The checkpoints of a file.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) checkpoints: Vec<Checkpoint>,
    /// The number of bytes that belong to no checkpoint.
    pub(super) torn: usize,
    /// The bytes after the last checkpoint.
    pub(super) rest: Vec<u8>,
    /// Whether the last line has no line break.
    pub(super) unended: bool,
}

impl Kept {
    /// Reads the checkpoints of a file, and counts the bytes that belong to none.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let mut bytes = files::read_bytes(path).map_err(|error| {
            Complaint::new(format!("`{}` cannot be read: {error}", path.display()))
        })?;
        // Copying text often loses the last line break.
        let unended = !bytes.is_empty() && !bytes.ends_with(b"\n");
        if unended {
            bytes.push(b'\n');
        }
        let KeptNotes { notes, torn, end } = KeptNotes::read(&bytes, 1);
        let read = |note: &String| {
            note.parse().map_err(|error| {
                Complaint::new(format!("`{}`: {error}", path.display())).help(HELP)
            })
        };
        let checkpoints = notes.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { checkpoints, torn, rest: bytes.split_off(end), unended })
    }

    /// Describes bytes that belong to no checkpoint.
    pub(super) fn torn(&self, path: &Path) -> Option<(Mark, String)> {
        let bytes = counted(self.torn as u64, "byte");
        let torn = format!("`{}` contains {bytes} outside complete checkpoints", path.display());
        (self.torn > 0).then_some((Mark::Open, torn))
    }
}

/// Reads at least one checkpoint from a file, and reports bytes that belong to none.
pub(super) fn checkpoints(
    path: &Path,
) -> anyhow::Result<(Vec<Checkpoint>, Option<(Mark, String)>)> {
    let kept = Kept::read(path)?;
    let torn = kept.torn(path);
    if kept.checkpoints.is_empty() {
        let wrong = format!("`{}` contains no checkpoint", path.display());
        return Err(Complaint::new(wrong).help(HELP).into());
    }
    Ok((kept.checkpoints, torn))
}

pub(super) fn public_key(path: &Path) -> Result<PublicKey, Complaint> {
    let text = files::read_text(path)
        .map_err(|error| Complaint::new(format!("`{}` cannot be read: {error}", path.display())))?;
    text.parse().map_err(|error| Complaint::new(format!("`{}`: {error}", path.display())))
}

/// The known keys.
pub(super) struct Signers<'k> {
    /// Keys that were kept elsewhere.
    pub(super) given: &'k [PublicKey],
    pub(super) ledger: Option<&'k Ledger>,
    /// Whether a given key is the ledger's own key, or signed the one it has now.
    pub(super) vouched: bool,
}

/// The signer of a kept checkpoint.
#[derive(Clone, Copy)]
pub(super) enum Signer {
    Given,
    /// The ledger's present key, which a given key signed.
    Vouched,
    Own,
    /// None of the known keys.
    Unknown,
    /// Another key than the given ones.
    Foreign,
}

impl Signers<'_> {
    pub(super) fn signer(&self, checkpoint: &Checkpoint) -> Signer {
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
            Self::Vouched => "key endorsed by the given key",
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
            return (
                Mark::Broken,
                format!("the saved checkpoint belongs to `{of}`, not to `{own}`"),
            );
        }
        let (mark, text) = match self {
            Self::Given => (Mark::Holds, "the saved checkpoint is signed by the given public key"),
            Self::Vouched => (
                Mark::Holds,
                "the saved checkpoint is signed by a key that the given public key endorsed",
            ),
            Self::Own => (
                Mark::Open,
                "the saved checkpoint is signed by the ledger's own key; without a public key \
                 obtained separately, a replaced key would go undetected",
            ),
            Self::Unknown => (
                Mark::Broken,
                "the saved checkpoint is not signed by the ledger's current key: pass the key used \
                 at that time with `--public-key`",
            ),
            Self::Foreign => {
                (Mark::Broken, "the saved checkpoint is not signed by the given public key")
            }
        };
        (mark, text.to_owned())
    }
}
