use std::fmt::Write as _;

use counterfoil_model::{Finding, Severity};

use crate::checked::{Checked, Unread};
use crate::message::quoting;
use crate::renderer::{Fragment, Look, Renderer};
use crate::summary::Summary;
use crate::visible::{visible, visible_lines};

/// JUnit XML: a transcript is a suite and each finding a case; a transcript without findings is one
/// passing case. Only what fails the run is a failure: new findings from the fail level on, and
/// broken limits. Other findings, and anything not read or not shown, are skipped cases.
pub(crate) struct Junit {
    fail_on: Option<Severity>,
}

impl Junit {
    pub(crate) fn new(look: &Look) -> Self {
        Self { fail_on: look.fail_on }
    }
}

impl Renderer for Junit {
    fn head(&self) -> String {
        // The totals come before the suites, so the tail writes everything.
        String::new()
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        let mut suite = Suite::named(&checked.name());
        suite.properties.push(("transcript", visible(&checked.transcript.id).into_owned()));
        suite.properties.push(("format", checked.transcript.format.name().to_owned()));
        let class = Some(visible(&checked.transcript.id).into_owned());
        let unchanged = checked.unchanged.unwrap_or_default();
        if checked.findings.is_empty() && unchanged.is_empty() {
            let what = if checked.known > 0 { "no new findings" } else { "no findings" };
            suite.push(Case {
                name: format!("{what} in {}", visible(checked.path)),
                class,
                outcome: Outcome::Passed,
            });
            return suite.fragment();
        }
        let new = checked.findings.iter().map(|finding| (finding, false));
        for (finding, is_known) in new.chain(unchanged.iter().map(|finding| (finding, true))) {
            let detail = Detail {
                severity: Some(finding.severity.name()),
                message: message(finding, is_known),
                description: Some(description(checked, finding)),
            };
            let (code, rule, turn) = (finding.code, finding.name, finding.turn);
            suite.push(Case {
                name: format!("{code} {rule} in {} turn {turn}", visible(checked.path)),
                class: class.clone(),
                outcome: match self.fail_on {
                    Some(least) if finding.severity >= least && !is_known => {
                        Outcome::Failed(detail)
                    }
                    _ => Outcome::Skipped(Some(detail)),
                },
            });
        }
        suite.fragment()
    }

    fn unread(&self, unread: &Unread<'_>) -> Fragment {
        let mut suite = Suite::named(&format!("reading {}", unread.path));
        for problem in unread.problems {
            let line = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
            let place = format!("{}{line}", visible(unread.path));
            let help = problem.help.as_deref().map(|help| format!("\nhelp: {help}"));
            let detail = Detail {
                severity: None,
                message: format!("{place}: {}", visible(&problem.message)),
                description: help.as_deref().map(visible_lines),
            };
            let outcome = match unread.fatal {
                true => Outcome::Errored(detail),
                false => Outcome::Skipped(Some(detail)),
            };
            let class = Some(visible(unread.path).into_owned());
            suite.push(Case { name: format!("{place} could be read"), class, outcome });
        }
        suite.fragment()
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn tail(&self, summary: &Summary, aside: &str) -> String {
        let mut limits = Suite::named("limits");
        for line in &summary.failures {
            let message = visible(line).into_owned();
            let detail = Detail { severity: None, message: message.clone(), description: None };
            limits.push(Case { name: message, class: None, outcome: Outcome::Failed(detail) });
        }
        let mut beside = Suite::named("not read or not shown");
        beside.cases.extend(summary.changes().iter().map(|line| Case {
            name: visible(line).into_owned(),
            class: None,
            outcome: Outcome::Skipped(None),
        }));
        let suites = [limits, beside].into_iter().filter(|suite| !suite.cases.is_empty());
        let suites = aside.to_owned() + &suites.map(|suite| suite.xml()).collect::<String>();
        // Texts are escaped, so these are elements.
        let count = |element: &str| suites.matches(element).count();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"counterfoil\" tests=\"{}\" \
             skipped=\"{}\" errors=\"{}\" failures=\"{}\">\n{suites}</testsuites>\n",
            count("<testcase "),
            count("<skipped"),
            count("<error "),
            count("<failure "),
        )
    }
}

fn message(finding: &Finding, is_known: bool) -> String {
    let start = if is_known { "unchanged since the earlier report: " } else { "" };
    start.to_owned() + &visible(&quoting(finding))
}

fn description(checked: &Checked<'_>, finding: &Finding) -> String {
    let mut text = quoting(finding);
    if finding.line > 0 {
        text.push_str(&format!("\nat {}:{}", checked.path, finding.line));
    }
    for evidence in &finding.evidence {
        text.push_str("\nevidence: ");
        text.push_str(&evidence.excerpt);
    }
    if let Some(judge) = &finding.judge {
        text.push_str(&format!("\njudge: {judge}"));
    }
    if let Some(help) = &finding.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    visible_lines(&text)
}

/// A `testsuite` element.
struct Suite {
    name: String,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
}

/// A `testcase` element.
struct Case {
    name: String,
    class: Option<String>,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    Skipped(Option<Detail>),
    Failed(Detail),
    Errored(Detail),
}

/// Why a case did not pass.
struct Detail {
    severity: Option<&'static str>,
    message: String,
    description: Option<String>,
}

impl Suite {
    fn named(name: &str) -> Self {
        Self { name: visible(name).into_owned(), properties: Vec::new(), cases: Vec::new() }
    }

    /// Adds a case. Programs that show reports know a case by its name, so a repeated name gets a
    /// number.
    fn push(&mut self, case: Case) {
        let again = |name: &str| self.cases.iter().any(|other| other.name == name);
        let numbered = (2..).map(|at| format!("{} ({at})", case.name));
        let mut names = std::iter::once(case.name.clone()).chain(numbered);
        let name = names.find(|name| !again(name)).unwrap_or_default();
        self.cases.push(Case { name, ..case });
    }

    fn count(&self, wanted: fn(&Outcome) -> bool) -> usize {
        self.cases.iter().filter(|case| wanted(&case.outcome)).count()
    }

    fn fragment(&self) -> Fragment {
        Fragment { body: String::new(), aside: self.xml() }
    }

    fn xml(&self) -> String {
        let mut xml = format!(
            "    <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" errors=\"{}\" failures=\"{}\">\n",
            escape(&self.name),
            self.cases.len(),
            self.count(|outcome| matches!(outcome, Outcome::Skipped(_))),
            self.count(|outcome| matches!(outcome, Outcome::Errored(_))),
            self.count(|outcome| matches!(outcome, Outcome::Failed(_))),
        );
        if !self.properties.is_empty() {
            xml += "        <properties>\n";
            for (name, value) in &self.properties {
                let value = escape(value);
                _ = writeln!(xml, "            <property name=\"{name}\" value=\"{value}\"/>");
            }
            xml += "        </properties>\n";
        }
        for case in &self.cases {
            xml += &case.xml();
        }
        xml + "    </testsuite>\n"
    }
}

impl Case {
    fn xml(&self) -> String {
        let mut open = format!("        <testcase name=\"{}\"", escape(&self.name));
        if let Some(class) = &self.class {
            _ = write!(open, " classname=\"{}\"", escape(class));
        }
        let status = match &self.outcome {
            Outcome::Passed => return open + "/>\n",
            Outcome::Skipped(None) => "<skipped/>".to_owned(),
            Outcome::Skipped(Some(detail)) => detail.xml("skipped"),
            Outcome::Failed(detail) => detail.xml("failure"),
            Outcome::Errored(detail) => detail.xml("error"),
        };
        format!("{open}>\n            {status}\n        </testcase>\n")
    }
}

impl Detail {
    fn xml(&self, element: &str) -> String {
        let mut open = format!("<{element} message=\"{}\"", escape(&self.message));
        if let Some(severity) = self.severity {
            _ = write!(open, " type=\"{severity}\"");
        }
        match &self.description {
            None => open + "/>",
            Some(description) => format!("{open}>{}</{element}>", escape(description)),
        }
    }
}

/// Escapes a text for XML. [`visible`] has already replaced its control characters.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            c => out.push(c),
        }
    }
    out
}
