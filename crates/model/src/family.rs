use serde::Serialize;

/// The kind of an action, whatever a tool or a sentence calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Sends a mail, message or notification.
    Send,
    /// Creates something.
    Create,
    /// Changes something.
    Update,
    /// Deletes something.
    Delete,
    /// Cancels something planned or ordered.
    Cancel,
    /// Makes a reservation, booking, appointment or order.
    Book,
    /// Takes a payment from the customer.
    Pay,
    /// Refunds money, or takes goods back for it.
    Refund,
    /// Sends an item back.
    Return,
    /// Exchanges one item for another.
    Exchange,
    /// Moves or hands over something.
    Move,
    /// Searches for information.
    Search,
    /// Reads something.
    Read,
    /// Computes something.
    Compute,
    /// Runs a command or program.
    Run,
    /// Runs tests.
    Test,
    /// Runs a build or a compiler.
    Build,
    /// Runs a linter, formatter check or type checker.
    Lint,
    /// Commits a version.
    Commit,
    /// Pushes commits.
    Push,
    /// Deploys something.
    Deploy,
    /// Installs software.
    Install,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 22] = [
        Self::Send,
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Cancel,
        Self::Book,
        Self::Pay,
        Self::Refund,
        Self::Return,
        Self::Exchange,
        Self::Move,
        Self::Search,
        Self::Read,
        Self::Compute,
        Self::Run,
        Self::Test,
        Self::Build,
        Self::Lint,
        Self::Commit,
        Self::Push,
        Self::Deploy,
        Self::Install,
    ];

    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Cancel => "cancel",
            Self::Book => "book",
            Self::Pay => "pay",
            Self::Refund => "refund",
            Self::Return => "return",
            Self::Exchange => "exchange",
            Self::Move => "move",
            Self::Search => "search",
            Self::Read => "read",
            Self::Compute => "compute",
            Self::Run => "run",
            Self::Test => "test",
            Self::Build => "build",
            Self::Lint => "lint",
            Self::Commit => "commit",
            Self::Push => "push",
            Self::Deploy => "deploy",
            Self::Install => "install",
        }
    }

    /// Whether an action of this family changes the world outside the conversation.
    #[must_use]
    pub fn changes_state(self) -> bool {
        !matches!(
            self,
            Self::Search
                | Self::Read
                | Self::Compute
                | Self::Run
                | Self::Test
                | Self::Build
                | Self::Lint
        )
    }
}
