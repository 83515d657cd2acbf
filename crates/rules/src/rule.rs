use counterfoil_model::{Code, Mode};

use crate::facts::Facts;
use crate::findings::Findings;
use crate::meta::{Group, Meta};

/// A rule.
#[derive(Debug)]
pub struct Rule {
    meta: Meta,
    check: Check,
}

/// Judges the facts of a transcript, and adds findings. Pure: same facts, same findings.
type Check = fn(&Facts<'_>, &mut Findings<'_>);

impl Rule {
    /// `page` is the Markdown of `spec/{code}.md`.
    pub(crate) const fn new(
        group: Group,
        code: Code,
        name: &'static str,
        mode: Mode,
        summary: &'static str,
        page: &'static str,
        check: Check,
    ) -> Self {
        Self { meta: Meta { code, name, group, mode, summary, page }, check }
    }

    /// The rule's metadata.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Judges the facts, and adds findings.
    pub(crate) fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        (self.check)(facts, findings);
    }
}
