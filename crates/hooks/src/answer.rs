/// What an agent is told. The empty answer is "no opinion": whatever it would do, it does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// What is decided.
    pub decision: Option<Decision>,
    /// What the model should know.
    pub context: Option<String>,
    /// What the person should know.
    pub notice: Option<String>,
}

/// What is decided. Nothing here ever allows a tool: the agent's own permissions do.
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
    /// Only a word to the person.
    #[must_use]
    pub fn notice(text: impl Into<String>) -> Self {
        Self { notice: Some(text.into()), ..Self::default() }
    }

    /// One more line for the person.
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
