use counterfoil_model::Digest;

use crate::receipt::Receipt;

/// The result of verifying a bundle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BundleVerification {
    /// The checks that were made, in words.
    pub rows: Vec<(BundleMark, String)>,
    /// The number of events that are proved.
    pub events: usize,
    /// The receipts of these events.
    pub receipts: Vec<Receipt>,
}

/// An event in the signed tree, whatever its content.
pub(super) struct Placed {
    pub(super) seq: u64,
    pub(super) session: String,
    pub(super) session_seq: u64,
    pub(super) ends: bool,
    pub(super) previous: Digest,
    pub(super) digest: Digest,
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleMark {
    /// It is right.
    Holds,
    /// It is wrong.
    Broken,
    /// It cannot be checked: something that it needs is missing.
    Open,
}

impl BundleVerification {
    /// Whether nothing is broken.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.rows.iter().all(|(mark, _)| *mark != BundleMark::Broken)
    }

    pub(super) fn holds(&mut self, what: impl Into<String>) {
        self.rows.push((BundleMark::Holds, what.into()));
    }

    pub(super) fn broken(&mut self, what: impl Into<String>) {
        self.rows.push((BundleMark::Broken, what.into()));
    }

    pub(super) fn open(&mut self, what: impl Into<String>) {
        self.rows.push((BundleMark::Open, what.into()));
    }
}

/// A name in back-ticks, with everything but printable ASCII escaped.
pub(super) fn shown(name: &str) -> String {
    let escaped = |c: char| match c {
        ' '..='~' => c.to_string(),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    };
    format!("`{}`", name.chars().map(escaped).collect::<String>())
}
