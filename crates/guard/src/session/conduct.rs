use counterfoil_admission::{Corrections, Ending, Fixation, RejectionLog, Step};

/// How a session's model makes its calls: its repetitions and its rejected calls.
pub(crate) struct Conduct {
    pub(crate) fixation: Fixation,
    /// Whether `fixation` includes what happened before this process joined.
    past_known: bool,
    pub(crate) rejections: RejectionLog,
    /// Rounds of correction since the user's last message or the last successful call.
    corrections: Option<Corrections>,
}

impl Conduct {
    pub(super) fn new(fixation: Fixation) -> Self {
        let rejections = RejectionLog::default();
        Self { fixation, past_known: false, rejections, corrections: None }
    }

    /// Creates it with a `fixation` that covers the whole past.
    pub(super) fn knowing(fixation: Fixation) -> Self {
        Self { past_known: true, ..Self::new(fixation) }
    }

    pub(crate) fn past_known(&self) -> bool {
        self.past_known
    }

    /// Adds what happened before this process joined.
    pub(crate) fn know_past(&mut self, fixation: Fixation) {
        self.fixation = fixation;
        self.past_known = true;
    }

    pub(super) fn went(&mut self, step: Step<'_>) -> Option<String> {
        self.ended(step.ending);
        self.fixation.record(step)
    }

    /// A call ended. After a successful one, the rounds of correction begin again.
    pub(crate) fn ended(&mut self, ending: Ending) {
        if ending == Ending::Succeeded {
            self.corrections = None;
        }
    }

    /// The rounds of correction that remain out of `limit`.
    pub(crate) fn corrections(&mut self, limit: u32) -> &mut Corrections {
        self.corrections.get_or_insert(Corrections::limited_to(limit))
    }

    /// Resets the counts after a message of the user, which starts another task.
    pub(crate) fn new_task(&mut self) {
        self.corrections = None;
        self.fixation.reset();
    }
}
