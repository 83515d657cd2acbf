use serde::Serialize;

/// What kind of thing an action does, whatever a tool or a sentence calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Mail, messages, notifications leave.
    Send,
    /// Something new exists.
    Create,
    /// Something existing changes.
    Update,
    /// Something is gone.
    Delete,
    /// Something planned or ordered is called off.
    Cancel,
    /// A reservation, booking, appointment or order is made.
    Book,
    /// Money moves from the customer.
    Pay,
    /// Money, or goods against money, move back.
    Refund,
    /// An item is sent back.
    Return,
    /// One item is swapped for another.
    Exchange,
    /// Something moves or is handed on.
    Move,
    /// Information is looked for.
    Search,
    /// Something is read.
    Read,
    /// A computation.
    Compute,
    /// A command or program runs.
    Run,
    /// Tests run.
    Test,
    /// A build or a compiler runs.
    Build,
    /// A linter, formatter check or type checker runs.
    Lint,
    /// A version is committed.
    Commit,
    /// Commits are pushed.
    Push,
    /// Something goes live.
    Deploy,
    /// Software is installed.
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
