//! The record of a session made ready: what any answer can be held against.

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

/// A transcript whose calls, results and deeds are worked out, for whoever judges it more than
/// once: under other settings, or from another message on.
///
/// What the rules look up while they judge is kept; results are read when the first claim asks
/// for them.
#[derive(Debug)]
pub struct Indexed<'t>(Rc<Known<'t>>);

/// What is known of a transcript whatever is asked of it.
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
    /// The same session as typed facts: what proves a check is held against both.
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

    /// What came of the execution at a place of the record.
    #[must_use]
    pub fn upshot(&self, at: usize) -> Option<Upshot> {
        let execution = self.0.record.executions().get(at)?;
        Some(self.0.deeds.get(at, execution, &self.0.transcript.catalog)?.upshot())
    }

    /// Judges the messages from position `first` on, as [`crate::check_from`] does.
    #[must_use]
    pub fn check_from(&self, settings: &'t Settings, first: usize) -> Report {
        judge(&Facts::within(Rc::clone(&self.0), settings, first), settings)
    }

    /// How every clause of what the agent said was read, in order.
    #[must_use]
    pub fn readings(&self, settings: &'t Settings) -> Vec<ClauseReading> {
        readings(&Facts::within(Rc::clone(&self.0), settings, 0))
    }
}
