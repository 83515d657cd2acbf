use countersign_model::{Message, Outcome, Role};
use countersign_rules::Context;

/// What may ground the values of a call in a live session: policy, user text, earlier results.
/// What the agent itself said does not.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Everything in lower case, pieces apart by a line break.
    text: String,
}

impl Heard {
    pub(crate) fn message(&mut self, message: &Message) {
        if matches!(message.role, Role::System | Role::User) {
            self.add(&message.text);
        }
        for outcome in &message.outcomes {
            self.outcome(outcome);
        }
    }

    /// A failure that repeats an argument does not ground it: only successes count.
    fn outcome(&mut self, outcome: &Outcome) {
        if outcome.is_error != Some(true) {
            self.add(&outcome.text);
        }
    }

    fn add(&mut self, text: &str) {
        self.text.push('\n');
        self.text.extend(text.chars().map(|c| c.to_ascii_lowercase()));
    }
}

impl Context for Heard {
    fn mentions(&self, text: &str) -> bool {
        self.text.contains(&text.to_ascii_lowercase())
    }

    /// The guard does not look: whoever executes the call finds out, and suspicion never blocks.
    fn is_missing(&self, _path: &str) -> bool {
        false
    }
}
