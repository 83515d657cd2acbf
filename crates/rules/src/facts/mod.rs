//! What the rules know about a transcript: the calls joined with their results, and the claims.

mod record;

use std::sync::OnceLock;

use countersign_model::Transcript;

use crate::call::Admissions;
use crate::settings::Settings;

pub use record::{Execution, Record};

/// Everything a rule may look at.
#[derive(Debug)]
pub struct Facts<'t> {
    transcript: &'t Transcript,
    settings: &'t Settings,
    record: Record<'t>,
    admissions: OnceLock<Admissions>,
}

impl<'t> Facts<'t> {
    /// Joins calls and results.
    #[must_use]
    pub fn new(transcript: &'t Transcript, settings: &'t Settings) -> Self {
        Self { transcript, settings, record: Record::of(transcript), admissions: OnceLock::new() }
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

    /// What is wrong with the calls; found when the first call rule asks.
    pub(crate) fn admissions(&self) -> &Admissions {
        self.admissions.get_or_init(|| Admissions::of(self))
    }
}
