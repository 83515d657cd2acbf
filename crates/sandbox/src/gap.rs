use serde::{Deserialize, Serialize};

/// Something that a command could do although its profile says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Without it the command is as good as unconfined: `strict` refuses to run, and without
    /// `strict` a person is asked.
    pub essential: bool,
    /// What is not held, in words.
    pub text: String,
}

impl Gap {
    /// The profile does not hold what it is for.
    #[must_use]
    pub fn essential(text: impl Into<String>) -> Self {
        Self { essential: true, text: text.into() }
    }

    /// A remainder that no profile can hold here.
    pub(crate) fn remainder(text: impl Into<String>) -> Self {
        Self { essential: false, text: text.into() }
    }
}
