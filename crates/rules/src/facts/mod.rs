//! What the rules know about a transcript: the calls joined with their results, and the claims.

mod record;

use countersign_model::Transcript;

use crate::settings::Settings;

pub use record::{Execution, Record};

/// Everything a rule may look at.
#[derive(Debug)]
pub struct Facts<'t> {
    transcript: &'t Transcript,
    settings: &'t Settings,
    record: Record<'t>,
}

impl<'t> Facts<'t> {
    /// Joins calls and results.
    #[must_use]
    pub fn new(transcript: &'t Transcript, settings: &'t Settings) -> Self {
        Self { transcript, settings, record: Record::of(transcript) }
    }

    /// The transcript itself.
    #[must_use]
    pub fn transcript(&self) -> &'t Transcript {
        self.transcript
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &'t Settings {
        self.settings
    }

    /// The calls with their results.
    #[must_use]
    pub fn record(&self) -> &Record<'t> {
        &self.record
    }
}
