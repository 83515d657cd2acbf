/// The reason if the sentence may describe what someone else did.
pub(crate) const NOT_OWN: &str = "the sentence does not clearly say that the agent did it itself";

/// What the record says about a claimed action. Numbers are indices of executions in
/// the record, unless they say otherwise.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ActionVerdict {
    /// It shows a deed that may be the action.
    Possible(usize),
    /// It shows that the action was tried and failed, or was refused.
    Failed(usize),
    /// It shows a deed of this kind, but on another object.
    Elsewhere(usize),
    /// It shows nothing of the kind, and would if it had happened.
    Absent,
    /// It mentions the object of the claim at this index nowhere: in no call, result or instruction.
    Unseen(usize),
    /// It cannot show the action, for this reason.
    NotCheckable(&'static str),
}
