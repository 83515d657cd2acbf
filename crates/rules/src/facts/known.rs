//! What the rules look up in a transcript, whatever the settings.

use std::cell::OnceCell;

use counterfoil_model::Transcript;

use super::deed::Deeds;
use super::families::ToolName;
use super::index::Index;
use super::record::Record;
use super::upshot::Upshot;
use crate::tool_use::Names;
use crate::values::Given;

/// What is known about a transcript, independent of settings.
#[derive(Debug)]
pub(crate) struct Known<'t> {
    pub(super) transcript: &'t Transcript,
    pub(super) record: Record<'t>,
    pub(super) deeds: Deeds<'t>,
    pub(super) given: OnceCell<Given<'t>>,
    pub(super) tool_names: OnceCell<Vec<ToolName>>,
    /// The names of the tools that the agent had.
    pub(super) names: OnceCell<Names>,
    pub(super) index: Index,
    /// The same session as typed facts, which outcome claims are also checked against.
    pub(super) typed: OnceCell<counterfoil_record::Record<'t>>,
}

impl<'t> Known<'t> {
    pub(crate) fn new(transcript: &'t Transcript) -> Self {
        let record = Record::new(transcript);
        let deeds = Deeds::new(record.executions().len());
        Self {
            transcript,
            record,
            deeds,
            given: OnceCell::new(),
            tool_names: OnceCell::new(),
            names: OnceCell::new(),
            index: Index::default(),
            typed: OnceCell::new(),
        }
    }

    /// The upshot of the execution at an index of the record.
    pub(crate) fn upshot(&self, at: usize) -> Option<Upshot> {
        let execution = self.record.executions().get(at)?;
        Some(self.deeds.get(at, execution, &self.transcript.catalog)?.upshot())
    }
}
