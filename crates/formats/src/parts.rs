use std::collections::HashSet;

use counterfoil_model::{Message, MessageKind, Outcome, Role, ToolCall};

use crate::content::join;
use crate::session::Session;

/// Collects the texts, calls and results of a multi-part message, in the order of its parts. Text
/// that follows a result becomes a message of its own after that result.
pub(crate) struct Parts<'s> {
    pub(crate) session: &'s mut Session,
    bare: Message,
    message: Message,
    reasoning: String,
    outcomes: Vec<Outcome>,
    /// Ids of this message's calls, and of those answered in this message.
    called: HashSet<String>,
    answered: HashSet<String>,
}

impl<'s> Parts<'s> {
    pub(crate) fn new(bare: Message, session: &'s mut Session) -> Self {
        let message = bare.clone();
        Self {
            session,
            bare,
            message,
            reasoning: String::new(),
            outcomes: Vec::new(),
            called: HashSet::new(),
            answered: HashSet::new(),
        }
    }

    pub(crate) fn line(&self) -> usize {
        self.bare.line
    }

    pub(crate) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.after_results();
            join(&mut self.message.text, text);
        }
    }

    pub(crate) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.after_results();
            join(&mut self.reasoning, text);
        }
    }

    /// Adds a call; a call that the message repeats counts once.
    pub(crate) fn call(&mut self, mut call: ToolCall) {
        if !call.id.is_empty() && !self.called.insert(call.id.clone()) {
            return;
        }
        self.after_results();
        if call.line == 0 {
            call.line = self.bare.line;
        }
        self.message.calls.push(call);
    }

    /// Adds a result; if the message repeats a result, the first counts.
    pub(crate) fn outcome(&mut self, mut outcome: Outcome) {
        if !outcome.call_id.is_empty() && !self.answered.insert(outcome.call_id.clone()) {
            return;
        }
        if outcome.line == 0 {
            outcome.line = self.bare.line;
        }
        self.outcomes.push(outcome);
    }

    fn after_results(&mut self) {
        if !self.outcomes.is_empty() {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let bare = || self.bare.clone();
        let reasoning = std::mem::take(&mut self.reasoning);
        if !reasoning.is_empty() {
            let kind = MessageKind::Reasoning;
            self.session.push(Message { kind, text: reasoning, ..bare() });
        }
        let message = std::mem::replace(&mut self.message, bare());
        if !message.text.is_empty() || !message.calls.is_empty() {
            self.session.push(message);
        }
        let outcomes = std::mem::take(&mut self.outcomes);
        if !outcomes.is_empty() {
            self.session.push(Message { role: Role::Tool, outcomes, ..bare() });
        }
    }

    /// Adds the messages to the session.
    pub(crate) fn done(mut self) {
        self.flush();
    }
}
