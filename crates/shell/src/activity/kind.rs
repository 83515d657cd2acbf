//! What a command may do, and how much of it.

/// The purpose of an activity. One command can have several: `mvn verify` builds and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityKind {
    /// Runs tests.
    Test,
    /// Compiles, bundles, packages.
    Build,
    /// Lints, checks types or checks formatting, and changes nothing.
    Lint,
    /// Rewrites files to a style.
    Format,
    /// Makes a commit.
    Commit,
    /// Pushes commits.
    Push,
    /// Installs or updates dependencies and programs.
    Install,
    /// Starts a program of the project.
    Run,
    /// Deploys something.
    Deploy,
    /// Publishes a package.
    Publish,
    /// Downloads something.
    Fetch,
    /// Another version-control operation.
    VersionControl(Git),
    /// Reads or lists files.
    Read,
}

/// A version-control operation other than a commit or a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Git {
    /// Stages changes.
    Add,
    /// Merges a branch or a pull request.
    Merge,
    /// Rebases.
    Rebase,
    /// Creates or deletes a tag.
    Tag,
    /// Creates a branch.
    BranchCreate,
    /// Deletes or renames a branch.
    BranchChange,
    /// Moves to another commit, or restores files from one.
    Checkout,
    /// Stashes changes or restores them.
    Stash,
    /// Pulls.
    Pull,
    /// Moves the branch or unstages.
    Reset,
    /// Deletes untracked files.
    Clean,
    /// Cherry-picks a commit.
    CherryPick,
    /// Reverts a commit.
    Revert,
    /// Opens a pull request.
    PullRequest,
    /// Shows history or state.
    Inspect,
    /// Anything else.
    Other,
}

/// How much of its scope a runner was asked to cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Everything: nothing on the command line narrows it.
    Whole,
    /// Only the part selected by these words: `-k login`, `tests/test_a.py`.
    Subset(String),
}
