use counterfoil_model::{Finding, Severity};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::checked::{Checked, Unread};
use crate::renderer::{Fragment, Renderer};
use crate::summary::Summary;
use crate::visible::{visible, visible_lines};

/// JUnit XML: a transcript is a suite, each finding a failed case; a transcript without findings
/// is one case that passes. Notes do not fail. What was not read or not shown is skipped cases.
pub(crate) struct Junit;

impl Renderer for Junit {
    fn head(&self) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"counterfoil\">\n".to_owned()
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        let mut suite = TestSuite::new(visible(checked.path).as_ref());
        suite.add_property(("transcript", visible(&checked.transcript.id).as_ref()));
        suite.add_property(("format", checked.transcript.format.name()));
        if checked.findings.is_empty() {
            suite.add_test_case(case("every claim is covered", checked, TestCaseStatus::success()));
        }
        for finding in checked.findings {
            let mut status = match finding.severity {
                Severity::Error | Severity::Warning => {
                    TestCaseStatus::non_success(NonSuccessKind::Failure)
                }
                Severity::Note => TestCaseStatus::skipped(),
            };
            status.set_type(finding.severity.name());
            status.set_message(visible(&finding.message).as_ref());
            status.set_description(description(checked, finding));
            let name = format!("{} {} turn {}", finding.code, finding.name, finding.turn);
            suite.add_test_case(case(&name, checked, status));
        }
        Fragment::body(suite_xml(suite))
    }

    fn unread(&self, unread: &Unread<'_>) -> Fragment {
        if !unread.fatal {
            return Fragment::default();
        }
        let mut suite = TestSuite::new(visible(unread.path).as_ref());
        for problem in unread.problems {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(visible(&problem.message).as_ref());
            if let Some(help) = &problem.help {
                status.set_description(visible_lines(help));
            }
            suite.add_test_case(TestCase::new("could be read", status));
        }
        Fragment::body(suite_xml(suite))
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn tail(&self, summary: &Summary, _: &str) -> String {
        let beside = summary.beside();
        if beside.is_empty() {
            return "</testsuites>\n".to_owned();
        }
        let mut suite = TestSuite::new("what was not read or not shown");
        for line in beside {
            suite.add_test_case(TestCase::new(visible(&line).as_ref(), TestCaseStatus::skipped()));
        }
        format!("{}</testsuites>\n", suite_xml(suite))
    }
}

fn case(name: &str, checked: &Checked<'_>, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(visible(&checked.transcript.id).as_ref());
    case
}

fn description(checked: &Checked<'_>, finding: &Finding) -> String {
    let mut text = finding.message.clone();
    if finding.line > 0 {
        text.push_str(&format!("\nat {}:{}", checked.path, finding.line));
    }
    for evidence in &finding.evidence {
        text.push_str("\nevidence: ");
        text.push_str(&evidence.excerpt);
    }
    if let Some(help) = &finding.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    visible_lines(&text)
}

/// The suite alone: the library writes whole reports, and a whole report would have to hold every
/// transcript of a run.
fn suite_xml(suite: TestSuite) -> String {
    let mut report = Report::new("counterfoil");
    report.add_test_suite(suite);
    let xml = report.to_string().unwrap_or_default();
    let Some((_, from)) = xml.split_once("<testsuite ") else { return String::new() };
    let Some((body, _)) = from.rsplit_once("</testsuites>") else { return String::new() };
    format!("    <testsuite {body}")
}
