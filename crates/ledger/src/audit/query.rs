use counterfoil_model::ToolErrorCategory;

use super::line::AuditLine;

/// Selects lines. Fields that are not set match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Calls of this tool.
    pub tool: Option<String>,
    /// Calls with this result: one of [`AuditResult::WORDS`](super::AuditResult::WORDS).
    pub result: Option<String>,
    /// Calls of this session.
    pub session_id: Option<String>,
    /// Calls of this sub-agent.
    pub caller_id: Option<String>,
    /// Calls that failed with this category.
    pub category: Option<ToolErrorCategory>,
    /// The call with this id.
    pub execution_id: Option<String>,
    /// Lines written at or after this time, in milliseconds since the Unix epoch.
    pub since: Option<i64>,
    /// Lines written before this time.
    pub until: Option<i64>,
}

impl AuditFilter {
    /// Whether the line matches.
    #[must_use]
    pub fn wants(&self, line: &AuditLine) -> bool {
        let entry = &line.entry;
        let is = |wanted: &Option<String>, there: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == there
        };
        is(&self.tool, Some(&entry.tool))
            && is(&self.result, Some(entry.result.word()))
            && is(&self.session_id, entry.session_id.as_deref())
            && is(&self.caller_id, entry.caller_id.as_deref())
            && is(&self.execution_id, entry.execution_id.as_deref())
            && (self.category.is_none() || self.category == entry.result.category())
            && self.since.is_none_or(|since| line.at >= since)
            && self.until.is_none_or(|until| line.at < until)
    }
}
