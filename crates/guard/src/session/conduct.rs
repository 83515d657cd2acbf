use counterfoil_admission::{Corrections, Ending, Fixation, RejectionLog, Step};

/// How the model of a session makes its calls: whether it repeats itself, and what was rejected.
pub(crate) struct Conduct {
    pub(crate) fixation: Fixation,
    /// `fixation` knows what was done before this process joined.
    past_known: bool,
    pub(crate) rejections: RejectionLog,
    /// Rounds of correction since the user spoke, or a call succeeded.
    corrections: Option<Corrections>,
}

impl Conduct {
    pub(super) fn new(fixation: Fixation) -> Self {
        let rejections = RejectionLog::default();
        Self { fixation, past_known: false, rejections, corrections: None }
    }

    /// `fixation` knows the whole past.
    pub(super) fn knowing(fixation: Fixation) -> Self {
        Self { past_known: true, ..Self::new(fixation) }
    }

    pub(crate) fn past_known(&self) -> bool {
        self.past_known
    }

    /// Takes note of what was done before this process joined.
    pub(crate) fn know_past(&mut self, fixation: Fixation) {
        self.fixation = fixation;
        self.past_known = true;
    }

    pub(super) fn went(&mut self, step: Step<'_>) -> Option<String> {
        if step.ending == Ending::Succeeded {
            self.corrections = None;
        }
        self.fixation.record(step)
    }

    /// The rounds of correction that are left, out of `limit`.
    pub(crate) fn corrections(&mut self, limit: u32) -> &mut Corrections {
        self.corrections.get_or_insert(Corrections::limited_to(limit))
    }

    /// The user spoke: what went before was another task.
    pub(crate) fn new_task(&mut self) {
        self.corrections = None;
        self.fixation.reset();
    }
}
