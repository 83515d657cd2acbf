use counterfoil_model::Transcript;
use counterfoil_record::{Execution, executions};

/// All executions of a transcript, in the order of their calls.
#[derive(Debug, Default)]
pub(crate) struct Record<'t> {
    executions: Vec<Execution<'t>>,
}

impl<'t> Record<'t> {
    /// Joins the calls of a transcript with their results.
    pub(crate) fn new(transcript: &'t Transcript) -> Self {
        Self { executions: executions(transcript) }
    }

    /// All executions.
    pub(crate) fn executions(&self) -> &[Execution<'t>] {
        &self.executions
    }

    /// The executions whose call is before message `turn`.
    pub(crate) fn before(&self, turn: usize) -> std::slice::Iter<'_, Execution<'t>> {
        self.executions.get(..self.count_before(turn)).unwrap_or_default().iter()
    }

    /// The number of executions before message `turn`.
    pub(crate) fn count_before(&self, turn: usize) -> usize {
        self.executions.partition_point(|e| e.called_at < turn)
    }
}
