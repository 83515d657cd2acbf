use serde::{Deserialize, Serialize};

/// A list of what a server defines in addition to tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum List {
    Prompts,
    Resources,
    Templates,
}

impl List {
    /// The member of a result that contains the list.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The member of an entry that identifies it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}
