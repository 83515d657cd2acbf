use counterfoil_admission::Issue;

/// The issues of the calls of a transcript. They are computed once and used by every call rule.
#[derive(Debug, Default)]
pub(crate) struct Admissions {
    /// The index of the execution, and an issue of its call.
    pub(super) issues: Vec<(usize, Issue)>,
    /// The number of calls that cannot be checked because their tool's schema is invalid.
    pub(crate) unchecked: usize,
}
