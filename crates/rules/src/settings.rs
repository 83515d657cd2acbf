use std::collections::BTreeMap;

use counterfoil_admission::{AdmissionSettings, FixationSettings};
use counterfoil_model::{Code, Mode};

use crate::obligation::Obligation;
use crate::rule::Meta;

/// Checked values that decide what is judged, and how strictly.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Modes that differ from a rule's own.
    pub modes: BTreeMap<Code, Mode>,
    /// How many seconds an execution may be cited after it began; 0 is the whole session.
    pub execution_window_secs: u64,
    /// How strictly calls are held against their tools.
    pub admission: AdmissionSettings,
    /// When repetition without progress counts.
    pub fixation: FixationSettings,
    /// What has to be done with certain work; none unless configured.
    pub obligations: Vec<Obligation>,
}

impl Settings {
    /// The mode in force for a rule.
    #[must_use]
    pub fn mode(&self, meta: &Meta) -> Mode {
        self.modes.get(&meta.code).copied().unwrap_or(meta.mode)
    }
}
