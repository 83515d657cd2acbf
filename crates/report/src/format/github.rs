use counterfoil_model::Severity;

use crate::checked::{Checked, Unread};
use crate::message::quoting;
use crate::renderer::{Fragment, Look, Renderer};
use crate::summary::Summary;
use crate::visible::{visible, visible_lines};

/// Workflow commands that a GitHub runner shows as annotations.
pub(crate) struct Github {
    quiet: bool,
}

impl Github {
    pub(crate) fn new(look: &Look) -> Self {
        Self { quiet: look.quiet }
    }
}

impl Renderer for Github {
    fn head(&self) -> String {
        String::new()
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        let mut body = String::new();
        for finding in checked.findings {
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            let title = format!("{} {}", finding.code, finding.name);
            let mut message = quoting(finding);
            for evidence in &finding.evidence {
                message.push_str("\nevidence: ");
                message.push_str(&evidence.excerpt);
            }
            if let Some(judge) = &finding.judge {
                message.push_str(&format!("\njudge: {judge}"));
            }
            if let Some(help) = &finding.help {
                message.push_str("\nhelp: ");
                message.push_str(help);
            }
            body.push_str(&command(level, checked.path, finding.line, &title, &message));
        }
        Fragment::body(body)
    }

    fn unread(&self, unread: &Unread<'_>) -> Fragment {
        let level = if unread.fatal { "error" } else { "warning" };
        let lines = unread.problems.iter().map(|problem| {
            command(level, unread.path, problem.line, "could not be read", &problem.message)
        });
        Fragment::body(lines.collect())
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn tail(&self, summary: &Summary, _: &str) -> String {
        let annotation =
            |level: &str, line: &str| format!("::{level} title=counterfoil::{}\n", message(line));
        let mut lines: String =
            summary.failures.iter().map(|line| annotation("error", line)).collect();
        if !self.quiet {
            let notices = std::iter::once(summary.line()).chain(summary.changes());
            lines.extend(notices.map(|line| annotation("notice", &line)));
        }
        lines
    }
}

fn command(level: &str, path: &str, line: usize, title: &str, text: &str) -> String {
    let line = if line > 0 { format!(",line={line}") } else { String::new() };
    let (file, title) = (property(path), property(title));
    format!("::{level} file={file}{line},title={title}::{}\n", message(text))
}

/// Escapes a command's message: removes cursor control, and keeps line breaks as `%0A`.
fn message(text: &str) -> String {
    visible_lines(text).replace('%', "%25").replace('\n', "%0A")
}

/// Escapes a command's property: a single line, which must not contain `,` or `:`.
fn property(text: &str) -> String {
    visible(text).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
}
