//! Why a command is not run.

use std::fmt;

/// Why a command is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of reason.
    pub kind: RefusalKind,
    /// One sentence: lower case, no full stop.
    pub message: String,
}

/// The kinds of reasons for refusing a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalKind {
    /// No configuration allows it: it is destructive, or uses another user's rights.
    Floor,
    /// It needs the network, which is off.
    Network,
    /// The configuration blocks it.
    Configured,
    /// It controls Counterfoil itself, so only the user runs it.
    Reserved,
    /// It runs with another user's rights. A person is asked, if possible.
    Elevated,
    /// It cannot be analysed before it runs.
    Unread,
    /// It cannot be undone. A person is asked, if possible.
    Irreversible,
    /// It starts another agent, which may have no hooks: where a person can be asked.
    Agent,
}

impl RefusalKind {
    /// Whether a person may approve it, if one can be asked.
    #[must_use]
    pub fn is_approvable(self) -> bool {
        matches!(self, Self::Elevated | Self::Unread | Self::Irreversible | Self::Agent)
    }
}

impl Refusal {
    pub(super) fn floor(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Floor, message: message.into() }
    }

    pub(super) fn unread(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Unread, message: message.into() }
    }

    pub(super) fn irreversible(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Irreversible, message: message.into() }
    }

    /// What starts an agent, or decides how the next one starts.
    pub(super) fn agent(command: &str) -> Self {
        let message = format!(
            "`{command}` starts an agent whose calls might not be checked; your own rule under \
             `[tools.permissions]` can allow it permanently"
        );
        Self { kind: RefusalKind::Agent, message }
    }

    /// What would settle it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.kind {
            RefusalKind::Floor | RefusalKind::Elevated => "this cannot be approved",
            RefusalKind::Network => "it only runs if the configuration allows network access",
            RefusalKind::Configured => "the configuration blocks it, even with approval",
            RefusalKind::Reserved => {
                "it could change or remove the agent's own checks; only the user may run it"
            }
            RefusalKind::Irreversible | RefusalKind::Agent => "a person must approve it",
            RefusalKind::Unread => "rewrite it so that it can be analysed before it runs",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
