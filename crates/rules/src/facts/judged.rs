use std::cell::OnceCell;

use crate::action::{ActionClaim, ActionVerdict};
use crate::call::Admissions;
use crate::citation::Citation;

/// What several rules report about: judged when the first of them asks, and kept for the others.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// All claims of completed side effects.
    pub(crate) actions: OnceCell<Vec<(ActionClaim, ActionVerdict)>>,
    /// The issues of the calls.
    pub(crate) admissions: OnceCell<Admissions>,
    /// All executions that the agent cites, compared with the record.
    pub(crate) citations: OnceCell<Vec<Citation>>,
}
