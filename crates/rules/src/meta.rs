use counterfoil_model::{Code, Mode};

/// What a rule judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The agent's claims.
    Claim,
    /// The agent's calls.
    Call,
}

/// The metadata of a rule.
#[derive(Debug)]
pub struct Meta {
    /// The code, which never changes.
    pub code: Code,
    /// The name, which reads well after "allow".
    pub name: &'static str,
    /// What it judges.
    pub group: Group,
    /// The default mode.
    pub mode: Mode,
    /// A summary of what it finds, in one line.
    pub summary: &'static str,
    /// Its page: the Markdown of `spec/{code}.md`.
    pub page: &'static str,
}
