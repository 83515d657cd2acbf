//! Pieces of text, some of which a text must have before it is worth a closer look.

use memchr::memmem::Finder;

/// Pieces that are looked for in many texts.
#[derive(Debug)]
pub(crate) struct Signs(Vec<Finder<'static>>);

impl Signs {
    /// Makes the pieces ready.
    pub(crate) fn of(pieces: &[&'static str]) -> Self {
        Self(pieces.iter().map(|piece| Finder::new(*piece)).collect())
    }

    /// Whether a text has one of them, as it is written.
    pub(crate) fn stand_in(&self, text: &str) -> bool {
        self.0.iter().any(|piece| piece.find(text.as_bytes()).is_some())
    }
}
