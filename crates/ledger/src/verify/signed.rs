use std::collections::BTreeMap;

use super::verification::{Broken, Expected, HeldAgainst, Stop, Verification};
use crate::key::PublicKey;
use crate::note::{Checkpoint, Note};
use crate::rotation::key_text;
use crate::tables::{KeyRow, NoteKind, Tables};
use crate::tombstone::{ResultTombstone, Tombstone};

/// What the keys of a ledger signed. Signatures are verified, the content not yet.
pub(super) struct Signed {
    /// The keys in order, each with the size from which it signs.
    keys: Vec<(u64, PublicKey)>,
    /// By size.
    pub(super) checkpoints: BTreeMap<u64, Checkpoint>,
    /// The last tombstone.
    pub(super) tombstone: Option<Tombstone>,
    /// The first event whose stored results all remain.
    pub(super) results_cut: u64,
}

impl Signed {
    /// Reads the notes of the tables, and the checkpoints of the log.
    pub(super) fn read<'n>(
        tables: &impl Tables,
        origin: &str,
        log: impl Iterator<Item = &'n str>,
    ) -> Result<Self, Stop> {
        let mut signed = Self {
            keys: read_keys(tables, origin)?,
            checkpoints: BTreeMap::new(),
            tombstone: None,
            results_cut: 0,
        };
        for (size, text) in tables.notes(NoteKind::Checkpoint)? {
            signed.checkpoint(origin, Some(size), &text)?;
        }
        for text in log {
            signed.checkpoint(origin, None, text)?;
        }
        for (cut, text) in tables.notes(NoteKind::Tombstone)? {
            let tombstone = signed.tombstone(origin, &text, |note| {
                Tombstone::read(note, origin).map(|stone| (stone.cut, stone.size, stone))
            });
            let broken =
                || Broken::new(format!("the tombstone for the events before {cut} is invalid"));
            signed.tombstone = Some(tombstone.filter(|(at, _)| *at == cut).ok_or_else(broken)?.1);
        }
        for (cut, text) in tables.notes(NoteKind::ResultTombstone)? {
            let tombstone = signed.tombstone(origin, &text, |note| {
                ResultTombstone::read(note, origin).map(|stone| (stone.cut, stone.size, stone))
            });
            let broken =
                || Broken::new(format!("the tombstone for the results before {cut} is invalid"));
            let (_, stone) = tombstone.filter(|(at, _)| *at == cut).ok_or_else(broken)?;
            signed.results_cut = stone.cut;
        }
        Ok(signed)
    }

    /// Adds a checkpoint, which must have this size if the table gives one.
    fn checkpoint(&mut self, origin: &str, size: Option<u64>, text: &str) -> Result<(), Stop> {
        let broken = |what: &str| match size {
            Some(size) => Broken::new(format!("the checkpoint of size {size} {what}")),
            None => Broken::new(format!("a checkpoint in the log {what}")),
        };
        let checkpoint: Checkpoint =
            text.parse().map_err(|error| broken(&format!("cannot be read: {error}")))?;
        if size.is_some_and(|size| checkpoint.size() != size) || checkpoint.origin() != origin {
            return Err(broken("has a different size or belongs to another ledger").into());
        }
        let size = checkpoint.size();
        if !checkpoint.is_signed_by(self.key_at(size)) || checkpoint.to_string() != text {
            return Err(broken("is not signed by the key in use at that time").into());
        }
        self.checkpoints.insert(size, checkpoint);
        Ok(())
    }

    /// Reads a signed tombstone; `None` if it is not signed with the key of its time.
    fn tombstone<T>(
        &self,
        origin: &str,
        text: &str,
        read: impl FnOnce(&Note) -> Option<(u64, u64, T)>,
    ) -> Option<(u64, T)> {
        let note: Note = text.parse().ok()?;
        let (cut, size, tombstone) = read(&note)?;
        let genuine =
            cut <= size && note.to_string() == text && note.is_signed_by(origin, self.key_at(size));
        genuine.then_some((cut, tombstone))
    }

    /// The key that signs a ledger of this size.
    fn key_at(&self, size: u64) -> &PublicKey {
        let later = self.keys.partition_point(|(since, _)| *since <= size);
        let keys = self.keys.get(..later.max(1)).unwrap_or_default();
        // INVARIANT: `read_keys` returns at least one.
        keys.last().map_or(&NO_KEY, |(_, key)| key)
    }

    /// Checks that an expected key belongs to the ledger and that it or a later one signed the
    /// content, and that an expected checkpoint was signed with the ledger's keys.
    pub(super) fn hold_against(
        &self,
        origin: &str,
        expected: &Expected,
        found: &mut Verification,
    ) -> Result<(), Stop> {
        if !expected.public_keys.is_empty() {
            let known = self.keys.iter().position(|(_, key)| expected.public_keys.contains(key));
            let known = known.ok_or_else(|| {
                Broken::new("none of its keys is one of the separately obtained public keys")
            })?;
            let last = self.checkpoints.last_key_value();
            let vouched = last.is_none_or(|(_, last)| {
                self.keys.iter().skip(known).any(|(_, key)| last.is_signed_by(key))
            });
            if !vouched {
                let what = "its last checkpoint is not signed by the separately obtained public \
                    key or by a key certified by it";
                return Err(Broken::new(what).into());
            }
            found.public_key = HeldAgainst::Fits;
        }
        if let Some(checkpoint) = &expected.checkpoint
            && checkpoint.origin() != origin
        {
            let what = format!(
                "the separately kept checkpoint belongs to another ledger, `{}`",
                checkpoint.origin()
            );
            return Err(Broken::new(what).into());
        }
        if let Some(checkpoint) = &expected.checkpoint
            && !self.keys.iter().any(|(_, key)| checkpoint.is_signed_by(key))
        {
            let what = "the separately kept checkpoint is not signed by a key of this ledger";
            return Err(Broken::new(what).into());
        }
        Ok(())
    }
}

/// A key that verifies nothing.
const NO_KEY: PublicKey = PublicKey::from_bytes([0; 32]);

/// The keys, each certified by the one before.
fn read_keys(tables: &impl Tables, origin: &str) -> Result<Vec<(u64, PublicKey)>, Stop> {
    let mut keys: Vec<(u64, PublicKey)> = Vec::new();
    for KeyRow { number, public, note: text } in tables.keys()? {
        let broken = || Broken::new(format!("key {number} is not certified by the previous key"));
        let note: Note = text.parse().map_err(|_| broken())?;
        let since = note.text().lines().nth(3).and_then(|since| since.parse().ok());
        let since: u64 = since.ok_or_else(broken)?;
        let (before, by) = keys.last().copied().unwrap_or((0, public));
        let genuine = usize::try_from(number) == Ok(keys.len())
            && since >= before
            && note.text() == key_text(origin, number, since, &public)
            && note.to_string() == text
            && note.is_signed_by(origin, &by);
        if !genuine {
            return Err(broken().into());
        }
        keys.push((since, public));
    }
    if keys.is_empty() {
        return Err(Broken::new("it has no key").into());
    }
    Ok(keys)
}
