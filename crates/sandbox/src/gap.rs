use serde::{Deserialize, Serialize};

/// Something that a command could do although its profile forbids it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Whether the command is as good as unconfined: `strict` refuses to run it, and otherwise a
    /// person is asked.
    pub essential: bool,
    /// What is not enforced, in words.
    pub text: String,
}

impl Gap {
    /// A gap in what the profile is for.
    #[must_use]
    pub fn essential(text: impl Into<String>) -> Self {
        Self { essential: true, text: text.into() }
    }

    /// A minor gap, which no profile can close here.
    pub(crate) fn remainder(text: impl Into<String>) -> Self {
        Self { essential: false, text: text.into() }
    }
}
