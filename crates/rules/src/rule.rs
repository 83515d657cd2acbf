use crate::facts::Facts;
use crate::findings::Findings;
use crate::meta::Meta;

/// Judges a transcript. Pure: same facts, same findings.
pub trait Rule: Sync {
    /// The rule's metadata.
    fn meta(&self) -> &'static Meta;
    /// Judges the facts, and adds findings to `findings`.
    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>);
}
