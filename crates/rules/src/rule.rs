use counterfoil_model::{Code, Mode};

use crate::facts::Facts;
use crate::findings::Findings;

/// Judges a transcript. Pure: same facts, same findings.
pub trait Rule: Sync {
    /// What the rule is.
    fn meta(&self) -> &'static Meta;
    /// Judges, and puts what it finds into `findings`.
    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>);
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// What the agent says.
    Claim,
    /// The calls it makes.
    Call,
}

/// What is known about a rule without running it.
#[derive(Debug)]
pub struct Meta {
    /// Stable for ever.
    pub code: Code,
    /// Reads well after "allow".
    pub name: &'static str,
    /// What it looks at.
    pub group: Group,
    /// The mode when nobody configured one.
    pub mode: Mode,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Its page: the Markdown of `spec/{code}.md`.
    pub page: &'static str,
}

/// Every rule, claim rules first, each group in the order of its table.
pub fn rules() -> impl Iterator<Item = &'static dyn Rule> {
    let claims = crate::claims::RULES.iter().chain(crate::citation::RULES);
    claims.chain(crate::call::RULES).copied()
}
