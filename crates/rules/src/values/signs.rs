//! Quick checks for pieces that a text must contain before it is worth reading closely.

use memchr::memmem::Finder;

/// Pieces that are searched for in many texts.
#[derive(Debug)]
pub(crate) struct Signs(Vec<Finder<'static>>);

impl Signs {
    /// Prepares the pieces.
    pub(crate) fn new(pieces: &[&'static str]) -> Self {
        Self(pieces.iter().map(|piece| Finder::new(*piece)).collect())
    }

    /// Whether a text contains one of them, case-sensitively.
    pub(crate) fn stand_in(&self, text: &str) -> bool {
        self.0.iter().any(|piece| piece.find(text.as_bytes()).is_some())
    }
}
