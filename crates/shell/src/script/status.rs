/// How the exit status of a command reaches the exit status of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// When the script ends with 0, this command ran and ended with 0.
    Decides,
    /// It may not have run; had it run and failed, the script would have failed.
    Conditional,
    /// The script can end with 0 although this command failed.
    Masked(Masking),
}

/// Why a failure does not reach the end of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Masking {
    /// A later stage of the pipeline decides.
    Pipe,
    /// A later command of the list decides.
    Sequence,
    /// `|| …` goes on after a failure.
    Fallback,
    /// `&` does not wait.
    Background,
    /// `!` turns success and failure round.
    Negated,
    /// It stands in a substitution, whose status is dropped.
    Substitution,
    /// It is the condition of `if` or `while`.
    Condition,
    /// Only the last round of a loop counts.
    Loop,
    /// The wrapper that runs it drops its status.
    Wrapper,
}

impl Status {
    /// The status of a part whose whole has the status `self`.
    #[must_use]
    pub(super) fn of_part(self, part: Self) -> Self {
        match (self, part) {
            (Self::Masked(why), _) | (_, Self::Masked(why)) => Self::Masked(why),
            (Self::Conditional, _) | (_, Self::Conditional) => Self::Conditional,
            (Self::Decides, Self::Decides) => Self::Decides,
        }
    }
}
