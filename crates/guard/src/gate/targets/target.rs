use counterfoil_shell::Word;

/// What happens to a target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::gate) enum Change {
    /// It only gets lines that set variables.
    Sets,
    /// It gets other content, or is created.
    Writes,
    /// It is removed, replaced or made inaccessible, with everything in it.
    Replaces,
    /// Files of unknown names in this folder are written or removed.
    Fills,
    /// The files of this name, anywhere in the folder, are written or removed.
    Within(String),
}

/// A path that a command changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate) struct Target {
    /// The word in the command.
    pub(in crate::gate) word: Word,
    pub(in crate::gate) change: Change,
    /// The directory in which the command runs, in the form of [`Command::directory`].
    pub(in crate::gate) directory: Option<String>,
}

/// Adds a target to those of one command.
pub(super) type Add<'a> = dyn FnMut(Word, Change) + 'a;
