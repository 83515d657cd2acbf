use counterfoil_model::{Evidence, EvidenceSource, Finding, Mode, Subject};
use serde_json::{Map, Value, json};

use crate::checked::{Accepted, Checked, Unread};
use crate::fingerprint::Fingerprint;
use crate::message::quoting;
use crate::record::line_of;
use crate::renderer::{Fragment, Look, Renderer, RuleCard};
use crate::summary::Summary;
use crate::visible::{json_line, shorten};

/// The maximum length of a section of a rule's help, in characters.
const HELP: usize = 3_000;
/// The maximum length of a rule's description, in characters.
const FULL: usize = 1_000;

/// SARIF 2.1.0. Results come first because they are written while transcripts are read; the rules
/// that fired, problems and totals follow.
pub(crate) struct Sarif {
    root: String,
    version: &'static str,
    rules: Vec<RuleCard>,
}

impl Sarif {
    pub(crate) fn new(look: Look) -> Self {
        Self { root: look.root, version: look.version, rules: look.rules }
    }

    fn result(&self, checked: &Checked<'_>, finding: &Finding) -> Map<String, Value> {
        let mut result = Map::new();
        result.insert("ruleId".into(), finding.code.0.into());
        result.insert("level".into(), finding.severity.name().into());
        result.insert("message".into(), json!({ "text": text_of(finding) }));
        result.insert("locations".into(), json!([self.location(checked, finding)]));
        let related: Vec<Value> = finding
            .evidence
            .iter()
            .enumerate()
            .filter_map(|(at, evidence)| self.related(checked, at, evidence))
            .collect();
        if !related.is_empty() {
            result.insert("relatedLocations".into(), related.into());
        }
        let fingerprint = Fingerprint::new(checked.transcript, finding);
        result.insert(
            "partialFingerprints".into(),
            json!({ "counterfoil/v2": fingerprint.as_str() }),
        );
        let mut properties = json!({
            "transcript": checked.transcript.id,
            "turn": finding.turn,
            "verdict": finding.verdict,
            "confidence": finding.confidence,
            "mode": finding.mode,
            "grade": finding.grade,
        });
        if let (Some(judge), Some(map)) = (&finding.judge, properties.as_object_mut()) {
            map.insert("judge".into(), json!(judge));
        }
        if let (Subject::Claim { span, .. }, Some(map)) =
            (&finding.subject, properties.as_object_mut())
        {
            map.insert("span".into(), json!(span));
        }
        result.insert("properties".into(), properties);
        result
    }

    fn location(&self, checked: &Checked<'_>, finding: &Finding) -> Value {
        let snippet = match &finding.subject {
            Subject::Claim { claim, .. } => claim.text.as_str(),
            Subject::Call(call) => call.actual.as_deref().unwrap_or(&call.tool),
        };
        let mut place = self.physical(checked.path, finding.line, Some(snippet));
        let name = match &finding.subject {
            Subject::Claim { .. } => format!("messages[{}].text", finding.turn),
            Subject::Call(call) => format!("messages[{}].calls[{}]", finding.turn, call.id),
        };
        if let Some(map) = place.as_object_mut() {
            map.insert(
                "logicalLocations".into(),
                json!([{ "fullyQualifiedName": name, "kind": "member" }]),
            );
        }
        place
    }

    fn related(&self, checked: &Checked<'_>, at: usize, evidence: &Evidence) -> Option<Value> {
        let line = match (&evidence.source, evidence.line) {
            (EvidenceSource::Message { turn }, 0) => {
                line_of(checked.transcript, *turn).unwrap_or(0)
            }
            (_, line) => line,
        };
        let mut place = self.physical(checked.path, line, Some(&evidence.excerpt));
        let map = place.as_object_mut()?;
        map.insert("id".into(), at.into());
        let tool = evidence.tool.as_deref().unwrap_or("evidence");
        let at = [tool, evidence.pointer.as_str()].map(str::trim).into_iter();
        let at: Vec<&str> = at.filter(|part| !part.is_empty()).collect();
        let text = format!("{}: {}", at.join(" "), shorten(&evidence.excerpt, 200));
        map.insert("message".into(), json!({ "text": text }));
        Some(place)
    }

    /// A location in a file, or the whole file if there is no line.
    fn physical(&self, path: &str, line: usize, snippet: Option<&str>) -> Value {
        let mut place = json!({ "artifactLocation": self.artifact(path) });
        if let (true, Some(map)) = (line > 0, place.as_object_mut()) {
            let mut region = json!({ "startLine": line });
            if let (Some(snippet), Some(region)) = (snippet, region.as_object_mut()) {
                region.insert("snippet".into(), json!({ "text": snippet }));
            }
            map.insert("region".into(), region);
        }
        json!({ "physicalLocation": place })
    }

    /// A file: relative to the root of the sources, which the reader of the report knows.
    fn artifact(&self, path: &str) -> Value {
        if path == "-" {
            return json!({ "uri": "stdin", "description": { "text": "standard input" } });
        }
        let under = path.strip_prefix(self.root.as_str()).filter(|_| !self.root.is_empty());
        let path = under.and_then(|rest| rest.strip_prefix(['/', '\\'])).unwrap_or(path);
        let uri = uri(path);
        match path.starts_with('/') {
            true => json!({ "uri": format!("file://{uri}") }),
            false => json!({ "uri": uri, "uriBaseId": "%SRCROOT%" }),
        }
    }
}

impl Renderer for Sarif {
    fn head(&self) -> String {
        "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\
         \"version\":\"2.1.0\",\"runs\":[{\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
            .to_owned()
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        let new = checked.findings.iter().map(|finding| (finding, "new"));
        let unchanged = checked.unchanged.into_iter().flatten();
        let all = new.chain(unchanged.map(|finding| (finding, "unchanged")));
        let results = all.map(|(finding, state)| {
            let mut result = self.result(checked, finding);
            if checked.unchanged.is_some() {
                result.insert("baselineState".into(), state.into());
            }
            json_line(&result)
        });
        let accepted = checked.accepted.iter().map(|Accepted { finding, reason }| {
            let mut result = self.result(checked, finding);
            let mut suppression = json!({ "kind": "external", "status": "accepted" });
            if let (Some(reason), Some(map)) = (reason, suppression.as_object_mut()) {
                map.insert("justification".into(), json!(reason));
            }
            result.insert("suppressions".into(), json!([suppression]));
            json_line(&result)
        });
        Fragment::body(results.chain(accepted).collect::<Vec<_>>().join(self.separator()))
    }

    fn unread(&self, _: &Unread<'_>) -> Fragment {
        // The invocation lists them.
        Fragment::default()
    }

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn tail(&self, summary: &Summary, _: &str) -> String {
        let problems = summary.problems.iter().map(|at| {
            let level = if at.fatal { "error" } else { "warning" };
            json!({
                "level": level,
                "message": { "text": at.problem.message },
                "locations": [self.physical(&at.path, at.problem.line, None)],
            })
        });
        let beside = summary.changes().into_iter();
        let beside = beside.map(|text| json!({ "level": "note", "message": { "text": text } }));
        let failures = summary.failures.iter();
        let failures =
            failures.map(|text| json!({ "level": "error", "message": { "text": text } }));
        let notifications: Vec<Value> = problems.chain(failures).chain(beside).collect();
        let invocation = json_line(&json!({
            "executionSuccessful": !summary.problems.iter().any(|at| at.fatal),
            "toolExecutionNotifications": notifications,
        }));
        let properties = json!({
            "transcripts": summary.transcripts,
            "claims": summary.claims,
            "coverage": summary.coverage,
            "baselined": summary.baselined,
            "stale": summary.stale,
            "against": summary.against,
        });
        let same = || summary.against.iter().flat_map(|against| &against.same);
        let fired = |rule: &&RuleCard| {
            summary.findings.contains_key(rule.code)
                || summary.accepted_rules.contains(rule.code)
                || same().any(|known| known.rule == rule.code)
        };
        let rules: Vec<Value> = self.rules.iter().filter(fired).map(descriptor).collect();
        let driver = json!({
            "name": "counterfoil",
            "semanticVersion": self.version,
            "rules": rules,
        });
        format!(
            "\n],\"tool\":{{\"driver\":{driver}}},\
             \"invocations\":[{invocation}],\"properties\":{properties}}}]}}\n"
        )
    }
}

fn descriptor(rule: &RuleCard) -> Value {
    let more = format!("`counterfoil explain {}` prints the whole page.", rule.code);
    let sections = ["What it finds", "Why it matters"].map(|title| section(rule, title));
    let help = sections.into_iter().chain([more]).filter(|text| !text.is_empty());
    let help = help.collect::<Vec<_>>().join("\n\n");
    let level = match rule.mode {
        Mode::Block => "error",
        Mode::Warn | Mode::Off => "warning",
        Mode::Shadow => "note",
    };
    let found = section(rule, "What it finds");
    let found = if found.is_empty() { rule.summary } else { found.as_str() };
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": shorten(found, FULL) },
        "help": { "text": help.replace('`', ""), "markdown": help },
        "defaultConfiguration": { "level": level },
    })
}

/// Returns a section of a rule's page; empty if the page has none with this title.
fn section(rule: &RuleCard, title: &str) -> String {
    let (_, section) = rule.page.split_once(&format!("## {title}\n")).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default().trim();
    shorten(section, HELP).into_owned()
}

fn text_of(finding: &Finding) -> String {
    let mut text = quoting(finding);
    if let Some(help) = &finding.help {
        text.push_str("\nHelp: ");
        text.push_str(help);
    }
    text
}

/// Formats a path as a relative URI reference: `/` as separator, and invalid characters escaped.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'\\' => uri.push('/'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
