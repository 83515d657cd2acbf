use counterfoil_model::Severity;
use serde::Serialize;

/// Findings by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Severities {
    /// Provable.
    pub error: usize,
    /// Suspicious, or a problem that cannot be proved.
    pub warning: usize,
    /// For information.
    pub note: usize,
}

impl Severities {
    /// Counts one finding.
    pub(crate) fn add(&mut self, severity: Severity) {
        *match severity {
            Severity::Error => &mut self.error,
            Severity::Warning => &mut self.warning,
            Severity::Note => &mut self.note,
        } += 1;
    }

    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: Self) {
        self.error += other.error;
        self.warning += other.warning;
        self.note += other.note;
    }
}
