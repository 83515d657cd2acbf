use counterfoil_model::{Code, Mode};

use crate::facts::Facts;
use crate::findings::Findings;

/// Judges a transcript. Pure: same facts, same findings.
pub trait Rule: Sync {
    /// The rule's metadata.
    fn meta(&self) -> &'static Meta;
    /// Judges the facts, and adds findings to `findings`.
    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>);
}

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

/// All rules, claim rules first, each group in the order of its table.
pub fn rules() -> impl Iterator<Item = &'static dyn Rule> {
    let claims = crate::claims::RULES.iter().chain(crate::citation::RULES);
    claims.chain(crate::call::RULES).copied()
}
