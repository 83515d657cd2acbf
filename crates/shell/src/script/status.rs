/// How the exit status of a command affects that of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// If the script ends with 0, this command ran and ended with 0.
    Decides,
    /// It may not have run; if it had run and failed, the script would have failed.
    Conditional,
    /// The script can end with 0 even if this command failed.
    Masked(Masking),
}

/// Why a failure does not affect the status of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Masking {
    /// The status is that of a later pipeline stage.
    Pipe,
    /// The status is that of a later command in the list.
    Sequence,
    /// `|| …` continues after a failure.
    Fallback,
    /// `&` does not wait.
    Background,
    /// `!` inverts success and failure.
    Negated,
    /// It is in a substitution, whose status is dropped.
    Substitution,
    /// It is the condition of `if` or `while`.
    Condition,
    /// Only the last iteration of a loop counts.
    Loop,
    /// The wrapper that runs it ignores its status.
    Wrapper,
}

impl Status {
    /// The status of a part within a whole that has the status `self`.
    #[must_use]
    pub(super) fn of_part(self, part: Self) -> Self {
        match (self, part) {
            (Self::Masked(why), _) | (_, Self::Masked(why)) => Self::Masked(why),
            (Self::Conditional, _) | (_, Self::Conditional) => Self::Conditional,
            (Self::Decides, Self::Decides) => Self::Decides,
        }
    }
}
