use std::collections::BTreeMap;

use counterfoil_admission::{AdmissionSettings, FixationSettings};
use counterfoil_model::{Code, Mode};

use crate::meta::Meta;
use crate::obligation::Obligation;

/// Validated settings: what is judged, and how strictly.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Modes that differ from a rule's own.
    pub modes: BTreeMap<Code, Mode>,
    /// The maximum age of a cited execution in seconds; 0 means the whole session.
    pub execution_window_secs: u64,
    /// How strictly calls are checked by admission.
    pub admission: AdmissionSettings,
    /// When repetition counts as lack of progress.
    pub fixation: FixationSettings,
    /// Work that must accompany other work; none by default.
    pub obligations: Vec<Obligation>,
}

impl Settings {
    /// The mode in force for a rule.
    #[must_use]
    pub fn mode(&self, meta: &Meta) -> Mode {
        self.modes.get(&meta.code).copied().unwrap_or(meta.mode)
    }
}
