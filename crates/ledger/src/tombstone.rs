//! What retention leaves in place of what it dropped.

use std::collections::BTreeMap;

use counterfoil_model::Digest;

use super::key::SigningKey;
use super::note::Note;
use super::read::ReadLedgerError;
use super::tables::{NoteKind, Tables};

/// The signed end of the dropped events, where the remaining ones begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tombstone {
    /// Events with a lower `seq` were dropped; a multiple of 256.
    pub(super) cut: u64,
    /// The number of events in the ledger when it was signed.
    pub(super) size: u64,
    /// The root of the tree of the dropped events.
    pub(super) root: Digest,
    /// The digest of the last dropped event.
    pub(super) last: Digest,
    /// Sessions that continue after the cut: the place of their last dropped event, and the number
    /// of first attempts up to there.
    pub(super) sessions: BTreeMap<String, (u64, u64)>,
}

impl Tombstone {
    pub(super) fn sign(&self, origin: &str, key: &SigningKey) -> Note {
        Note::sign(self.text(origin), origin, key)
    }

    fn text(&self, origin: &str) -> String {
        let Self { cut, size, root, last, sessions } = self;
        let mut text = format!("{origin}\nevents dropped\n{cut}\n{size}\n{root}\n{last}\n");
        for (name, (seq, calls)) in sessions {
            text.push_str(&format!("{}\n", serde_json::json!([name, seq, calls])));
        }
        text
    }

    /// Parses a note; `None` if its text is not exactly that of a tombstone of this ledger.
    pub(super) fn read(note: &Note, origin: &str) -> Option<Self> {
        let mut lines = note.text().lines().skip(2);
        let mut tombstone = Self {
            cut: lines.next()?.parse().ok()?,
            size: lines.next()?.parse().ok()?,
            root: Digest::from_hex(lines.next()?)?,
            last: Digest::from_hex(lines.next()?)?,
            sessions: BTreeMap::new(),
        };
        for line in lines {
            let (name, seq, calls) = serde_json::from_str(line).ok()?;
            tombstone.sessions.insert(name, (seq, calls));
        }
        (tombstone.text(origin) == note.text()).then_some(tombstone)
    }

    /// The last tombstone of a ledger, unverified.
    pub(super) fn last(
        tables: &impl Tables,
        origin: &str,
    ) -> Result<Option<Self>, ReadLedgerError> {
        let note = tables.last_note(NoteKind::Tombstone)?;
        Ok(note.and_then(|note| note.parse().ok()).and_then(|note| Self::read(&note, origin)))
    }
}

/// The signed end of the dropped results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResultTombstone {
    /// Results that no event from here on refers to were dropped.
    pub(super) cut: u64,
    /// The number of events in the ledger when it was signed.
    pub(super) size: u64,
}

impl ResultTombstone {
    pub(super) fn sign(self, origin: &str, key: &SigningKey) -> Note {
        Note::sign(self.text(origin), origin, key)
    }

    fn text(self, origin: &str) -> String {
        format!("{origin}\nresults dropped\n{}\n{}\n", self.cut, self.size)
    }

    /// Parses a note; `None` if its text is not exactly that of a tombstone of this ledger.
    pub(super) fn read(note: &Note, origin: &str) -> Option<Self> {
        let mut lines = note.text().lines().skip(2);
        let cut = lines.next()?.parse().ok()?;
        let tombstone = Self { cut, size: lines.next()?.parse().ok()? };
        (tombstone.text(origin) == note.text()).then_some(tombstone)
    }
}
