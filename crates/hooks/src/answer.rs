/// The answer to a coding agent. The empty answer means "no opinion": the agent does what it would
/// do anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The decision, if any.
    pub decision: Option<Decision>,
    /// A note for the model.
    pub context: Option<String>,
    /// A note for the person.
    pub notice: Option<String>,
}

/// A decision. None of them allows a tool: the agent's own permissions do that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The tool may not run, for this reason.
    Deny(String),
    /// A person has to agree first, for this reason.
    Ask(String),
    /// The agent may not stop yet, for this reason.
    GoOn(String),
}

impl Answer {
    /// An answer with only a note for the person.
    #[must_use]
    pub fn notice(text: impl Into<String>) -> Self {
        Self { notice: Some(text.into()), ..Self::default() }
    }

    /// Adds a line to the note for the person.
    pub fn add_notice(&mut self, text: &str) {
        match &mut self.notice {
            Some(notice) => {
                notice.push('\n');
                notice.push_str(text);
            }
            None => self.notice = Some(text.to_owned()),
        }
    }
}
