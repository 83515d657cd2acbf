//! An indexed session, against which any answer can be checked.

use std::cell::OnceCell;
use std::rc::Rc;

use counterfoil_model::{ClauseReading, Transcript};

use super::Facts;
use super::deed::Deeds;
use super::families::ToolName;
use super::index::Index;
use super::record::Record;
use super::upshot::Upshot;
use crate::check::{Report, judge};
use crate::settings::Settings;
use crate::tool_use::Names;
use crate::values::Given;
use crate::why::readings;

/// A transcript with its calls, results and deeds prepared, for checking it repeatedly: with other
/// settings, or from another message on.
///
/// What the rules look up is cached. Results are read when the first claim needs them.
#[derive(Debug)]
pub struct Indexed<'t>(Rc<Known<'t>>);

/// What is known about a transcript, independent of settings.
#[derive(Debug)]
pub(super) struct Known<'t> {
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

impl<'t> Indexed<'t> {
    /// Joins calls and results. Linear in the number of messages.
    #[must_use]
    pub fn of(transcript: &'t Transcript) -> Self {
        let record = Record::of(transcript);
        let deeds = Deeds::new(record.executions().len());
        Self(Rc::new(Known {
            transcript,
            record,
            deeds,
            given: OnceCell::new(),
            tool_names: OnceCell::new(),
            names: OnceCell::new(),
            index: Index::default(),
            typed: OnceCell::new(),
        }))
    }

    /// The upshot of the execution at an index of the record.
    #[must_use]
    pub fn upshot(&self, at: usize) -> Option<Upshot> {
        let execution = self.0.record.executions().get(at)?;
        Some(self.0.deeds.get(at, execution, &self.0.transcript.catalog)?.upshot())
    }

    /// Checks the messages from position `first` on, like [`crate::check_from`].
    #[must_use]
    pub fn check_from(&self, settings: &'t Settings, first: usize) -> Report {
        judge(&Facts::within(Rc::clone(&self.0), settings, first), settings)
    }

    /// How every clause of the agent's answers was read, in order.
    #[must_use]
    pub fn readings(&self, settings: &'t Settings) -> Vec<ClauseReading> {
        readings(&Facts::within(Rc::clone(&self.0), settings, 0))
    }
}
