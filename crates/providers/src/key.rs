use std::fmt;

use zeroize::Zeroizing;

/// An API key, which is never shown and is erased from memory when dropped.
#[derive(Clone)]
pub struct Key(Zeroizing<String>);

impl Key {
    /// A key without surrounding whitespace; `None` if nothing is left.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// The key itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
