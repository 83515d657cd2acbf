use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use counterfoil_model::{Format, Gap, Problem, Transcript};
use serde::Serialize;

use crate::baseline::KnownFinding;
use crate::checked::{Checked, Claims, Unread};
use crate::severities::Severities;
use crate::statistics::Statistics;

/// The maximum number of problems and unrecognised files that are listed; the rest are only
/// counted.
const LISTED: usize = 100;
/// The maximum number of known findings that are named below a report.
const NAMED: usize = 10;

/// The totals over all transcripts. Partial summaries are combined with [`Summary::merge`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Transcripts read.
    pub transcripts: usize,
    /// Transcripts with at least one finding.
    pub transcripts_with_findings: usize,
    /// Messages in these transcripts.
    pub messages: usize,
    /// Tool calls in these transcripts.
    pub calls: usize,
    /// Calls that cannot be checked because their tool's schema is unusable; 0 if the call rules
    /// are off.
    pub unchecked_calls: usize,
    /// Answers too long to be read completely.
    #[serde(skip_serializing_if = "is_zero")]
    pub unread_answers: usize,
    /// Answers with prose in a language other than English, which rules do not read.
    #[serde(skip_serializing_if = "is_zero")]
    pub foreign_answers: usize,
    /// Transcripts without a list of tools that would make more of their claims checkable.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_tools: usize,
    /// Claims by verdict.
    pub claims: Claims,
    /// The share of claims that were judged; `None` without claims.
    pub coverage: Option<f64>,
    /// Findings by severity.
    pub severities: Severities,
    /// Findings by rule code.
    pub findings: BTreeMap<&'static str, usize>,
    /// Findings in the baseline: counted, not shown.
    pub baselined: usize,
    /// The rules of the accepted findings, for formats that list these.
    #[serde(skip)]
    pub accepted_rules: BTreeSet<&'static str>,
    /// Accepted findings that no longer occur in the transcripts that were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<KnownFinding>,
    /// The comparison with an earlier report; `None` unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Comparison>,
    /// Findings below the minimum severity: counted, not shown.
    pub hidden: usize,
    /// The answers that a judge was asked to read, by outcome; `None` without a judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// Transcripts with an incomplete record, by kind of gap.
    pub gaps: BTreeMap<Gap, usize>,
    /// Skipped lines and fields, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// The number of problems found while reading.
    pub problem_count: usize,
    /// The first of these problems.
    pub problems: Vec<ProblemAt>,
    /// The number of files in directories whose format is not recognised.
    pub unrecognised_count: usize,
    /// The first of these files.
    pub unrecognised: Vec<String>,
    /// Why the run fails apart from its findings: broken limits, nothing to check, and with
    /// `--strict` what was not read or judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// Counts by rule, model, tool and log format; kept only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
}

/// The findings of a run compared with an earlier report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Not in the earlier report.
    pub new: Vec<KnownFinding>,
    /// In both; not shown otherwise.
    pub same: Vec<KnownFinding>,
    /// Only in the earlier report, although this run looked for them.
    pub gone: Vec<KnownFinding>,
    /// The number of findings in the earlier report that this run did not look for: their rule was
    /// off, or their transcript was not read completely.
    #[serde(skip_serializing_if = "is_zero")]
    pub unchecked: usize,
}

impl Comparison {
    /// Adds the findings of `other`.
    pub fn merge(&mut self, other: Self) {
        self.new.extend(other.new);
        self.same.extend(other.same);
        self.gone.extend(other.gone);
        self.unchecked += other.unchecked;
    }

    /// The lines below a report: the counts, then the findings that no longer occur.
    fn changes(&self) -> Vec<String> {
        let Self { new, same, gone, unchecked } = self;
        let counts = [(new, "new"), (gone, "gone"), (same, "same")];
        let mut counts =
            counts.map(|(findings, word)| format!("{} {word}", findings.len())).to_vec();
        counts.extend((*unchecked > 0).then(|| format!("{unchecked} not looked for")));
        let counts = format!("compared with the earlier report: {}", counts.join(", "));
        std::iter::once(counts).chain(named("gone", gone)).collect()
    }
}

/// Names the first of some findings, each after `word`, and counts the others.
fn named(word: &str, findings: &[KnownFinding]) -> Vec<String> {
    let first = findings.iter().take(NAMED).map(|finding| {
        let KnownFinding { rule, transcript, message, path, .. } = finding;
        let path = path.as_deref().filter(|path| !path.contains(transcript.as_str()));
        let path = path.map(|path| format!(" ({path})")).unwrap_or_default();
        format!("{word}: {rule} in {transcript}{path}: {message}")
    });
    let more = findings.len().saturating_sub(NAMED);
    first.chain((more > 0).then(|| format!("{word}: {}", counted(more, "other finding")))).collect()
}

/// Answers that a judge was asked to read, by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Read by a model in this run.
    pub asked: usize,
    /// Read earlier, with the opinion kept.
    pub kept: usize,
    /// Not read, by reason.
    pub unjudged: BTreeMap<String, usize>,
    /// Opinions that were dropped because a quotation is not where the judge says it is.
    pub dropped: usize,
    /// Tokens that the judge read and wrote; 0 if it does not report them.
    pub tokens: u64,
}

impl Judged {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: Self) {
        self.asked += other.asked;
        self.kept += other.kept;
        for (reason, count) in other.unjudged {
            *self.unjudged.entry(reason).or_default() += count;
        }
        self.dropped += other.dropped;
        self.tokens += other.tokens;
    }

    /// The number of answers that were not read.
    #[must_use]
    pub fn unjudged_count(&self) -> usize {
        self.unjudged.values().sum()
    }

    /// The lines about judged answers below a report.
    fn lines(&self) -> Vec<String> {
        let read = self.asked + self.kept;
        let mut lines: Vec<String> = Vec::new();
        let mut line = format!("{} read by a judge", counted(read, "answer"));
        if self.kept > 0 {
            line.push_str(&format!(", {} of them from saved opinions", self.kept));
        }
        if self.dropped > 0 {
            let dropped = counted(self.dropped, "opinion");
            line.push_str(&format!("; {dropped} dropped: a quotation was not found"));
        }
        if self.tokens > 0 {
            line.push_str(&format!("; {} tokens", self.tokens));
        }
        if read > 0 {
            lines.push(line);
        }
        let unjudged = |(why, count): (&String, &usize)| {
            format!("{} unjudged: {why}", counted(*count, "answer"))
        };
        lines.extend(self.unjudged.iter().map(unjudged));
        lines
    }
}

/// A problem found while reading, with its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProblemAt {
    /// The file as the user named it.
    pub path: String,
    /// What is wrong.
    #[serde(flatten)]
    pub problem: Problem,
    /// Whether the file could not be read, or not to its end.
    pub fatal: bool,
}

impl Summary {
    /// Creates an empty summary; `statistics` enables counts by rule, model, tool and log format.
    #[must_use]
    pub fn new(statistics: bool) -> Self {
        Self { statistics: statistics.then(Statistics::default), ..Self::default() }
    }

    /// Counts one transcript and its findings.
    pub fn add(&mut self, checked: &Checked<'_>) {
        let transcript = checked.transcript;
        self.transcripts += 1;
        self.transcripts_with_findings += usize::from(!checked.findings.is_empty());
        self.messages += transcript.messages.len();
        self.calls += transcript.messages.iter().map(|m| m.calls.len()).sum::<usize>();
        self.add_claims(checked.claims);
        for finding in checked.findings {
            *self.findings.entry(finding.code.0).or_default() += 1;
            self.severities.add(finding.severity);
        }
        self.accepted_rules.extend(checked.accepted.iter().map(|known| known.finding.code.0));
        if let Some(statistics) = &mut self.statistics {
            statistics.add(checked);
        }
        for gap in kinds_of_gaps(transcript) {
            *self.gaps.entry(gap).or_default() += 1;
        }
        for (reason, count) in &transcript.skipped {
            *self.skipped.entry(reason.clone()).or_default() += count;
        }
    }

    /// Counts the problems of one file.
    pub fn add_unread(&mut self, unread: &Unread<'_>) {
        self.problem_count += unread.problems.len();
        let room = LISTED.saturating_sub(self.problems.len());
        self.problems.extend(unread.problems.iter().take(room).map(|problem| ProblemAt {
            path: unread.path.to_owned(),
            problem: problem.clone(),
            fatal: unread.fatal,
        }));
    }

    /// Describes an input in a known format of which nothing could be read; `named` says whether
    /// the user named the format.
    #[must_use]
    pub fn nothing_read(&self, form: Format, named: bool) -> Problem {
        let skipped: Vec<String> = self
            .skipped
            .iter()
            .take(5)
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        let what = if skipped.is_empty() {
            String::new()
        } else {
            format!(" (skipped: {})", skipped.join(", "))
        };
        let form = form.name();
        let message = format!("read as `{form}`, but no message of an agent was found{what}");
        let help = if named {
            "omit `--from` to detect the format"
        } else {
            "nothing was checked; export the messages with their tool calls"
        };
        Problem::at(0, message).with_help(help)
    }

    /// Counts a file in a directory whose format is not recognised.
    pub fn add_unrecognised(&mut self, path: &str) {
        self.unrecognised_count += 1;
        if self.unrecognised.len() < LISTED {
            self.unrecognised.push(path.to_owned());
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.transcripts_with_findings += other.transcripts_with_findings;
        self.messages += other.messages;
        self.calls += other.calls;
        self.unchecked_calls += other.unchecked_calls;
        self.unread_answers += other.unread_answers;
        self.foreign_answers += other.foreign_answers;
        self.without_tools += other.without_tools;
        self.add_claims(other.claims);
        self.severities.merge(other.severities);
        if let Some(statistics) = other.statistics {
            self.statistics.get_or_insert_default().merge(statistics);
        }
        for (code, count) in other.findings {
            *self.findings.entry(code).or_default() += count;
        }
        self.baselined += other.baselined;
        self.accepted_rules.extend(other.accepted_rules);
        self.stale.extend(other.stale);
        if let Some(against) = other.against {
            self.against.get_or_insert_default().merge(against);
        }
        self.hidden += other.hidden;
        if let Some(judged) = other.judged {
            self.judged.get_or_insert_default().merge(judged);
        }
        for (gap, count) in other.gaps {
            *self.gaps.entry(gap).or_default() += count;
        }
        for (reason, count) in other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
        self.failures.extend(other.failures);
        self.problem_count += other.problem_count;
        let room = LISTED.saturating_sub(self.problems.len());
        self.problems.extend(other.problems.into_iter().take(room));
        self.unrecognised_count += other.unrecognised_count;
        let room = LISTED.saturating_sub(self.unrecognised.len());
        self.unrecognised.extend(other.unrecognised.into_iter().take(room));
    }

    fn add_claims(&mut self, claims: Claims) {
        self.claims.merge(claims);
        self.coverage = self.claims.coverage();
    }

    /// The number of findings shown.
    #[must_use]
    pub fn shown(&self) -> usize {
        self.severities.error + self.severities.warning + self.severities.note
    }

    /// Formats a line for people: `3 errors, 1 warning in 2 of 9 transcripts (41 claims: …)`.
    #[must_use]
    pub fn line(&self) -> String {
        let found: Vec<String> = [
            (self.severities.error, "error"),
            (self.severities.warning, "warning"),
            (self.severities.note, "note"),
        ]
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
        let transcripts = counted(self.transcripts, "transcript");
        let head = match found.as_slice() {
            [] => format!("{} in {transcripts}", self.nothing()),
            _ if self.transcripts == 1 => format!("{} in 1 transcript", found.join(", ")),
            _ => {
                format!(
                    "{} in {} of {transcripts}",
                    found.join(", "),
                    self.transcripts_with_findings
                )
            }
        };
        format!("{head} ({})", self.claims_line())
    }

    /// Says that no finding is shown, without denying those that are known or hidden.
    fn nothing(&self) -> &'static str {
        let same = self.against.as_ref().is_some_and(|against| !against.same.is_empty());
        match (self.hidden > 0, self.baselined > 0 || same) {
            (true, _) => "no findings shown",
            (false, true) => "no new findings",
            (false, false) => "no findings",
        }
    }

    /// Describes what was not shown, not read or incomplete, one line each, with counts. A
    /// comparison ends with the unchanged findings.
    #[must_use]
    pub fn beside(&self) -> Vec<String> {
        let same = self.against.iter().flat_map(|against| named("same", &against.same));
        self.changes().into_iter().chain(same).collect()
    }

    /// [`Summary::beside`], but only counts the unchanged findings of a comparison.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut also = |count: usize, text: String| {
            if count > 0 {
                lines.push(text);
            }
        };
        let known = counted(self.baselined, "accepted finding");
        also(self.baselined, format!("{known} not shown"));
        also(self.stale.len(), self.stale_line());
        let hidden = counted(self.hidden, "finding");
        also(self.hidden, format!("{hidden} below the minimum severity not shown"));
        let unchecked = counted(self.unchecked_calls, "call");
        let why = "the tool's schema cannot be used";
        also(self.unchecked_calls, format!("{unchecked} not checked: {why}"));
        let unread = counted(self.unread_answers, "answer");
        also(self.unread_answers, format!("{unread} only partly read: longer than 1 MiB"));
        let foreign = counted(self.foreign_answers, "answer");
        let why = "rules support English only; a judge (`--judge`) reads any language";
        also(self.foreign_answers, format!("{foreign} not read or only partly read: {why}"));
        let without = counted(self.without_tools, "transcript");
        let how = "pass one with `--tools FILE` to check more claims";
        also(self.without_tools, format!("no list of tools in {without}; {how}"));
        let gaps: usize = self.gaps.values().sum();
        also(gaps, format!("incomplete logs: {}", self.gaps_line()));
        let problems = counted(self.problem_count, "problem");
        also(self.problem_count, format!("{problems} while reading"));
        let others = counted(self.unrecognised_count, "file");
        let names: Vec<&str> = self.unrecognised.iter().take(3).map(String::as_str).collect();
        let dots = if self.unrecognised_count > names.len() { ", …" } else { "" };
        let formats =
            if self.unrecognised_count == 1 { "an unknown format" } else { "unknown formats" };
        let left_out = format!("{others} in {formats} skipped: {}{dots}", names.join(", "));
        also(self.unrecognised_count, left_out);
        lines.extend(self.judged.iter().flat_map(Judged::lines));
        lines.extend(self.against.iter().flat_map(Comparison::changes));
        lines
    }

    /// Names the accepted findings that no longer occur, and says how to remove them.
    fn stale_line(&self) -> String {
        let named =
            self.stale.iter().take(NAMED).map(|known| {
                format!("{} ({} in {})", known.fingerprint, known.rule, known.transcript)
            });
        let dots = if self.stale.len() > NAMED { ", …" } else { "" };
        let these = match self.stale.len() {
            1 => "1 accepted finding no longer occurs; delete its entry from the baseline",
            many => &format!(
                "{many} accepted findings no longer occur; delete their entries from the baseline"
            ),
        };
        let all = "or rewrite it with `--write-baseline`, which also accepts new findings";
        format!("{these}, {all}: {}{dots}", named.collect::<Vec<_>>().join(", "))
    }

    fn gaps_line(&self) -> String {
        let parts = self.gaps.iter().map(|(gap, count)| {
            let what = match gap {
                Gap::LossyFormat => "a format that omits calls or results",
                Gap::CutStart => "the start is missing",
                Gap::CutEnd => "cut off at the end",
                Gap::Compacted => "earlier messages replaced by a summary",
                Gap::Unreadable => "unreadable lines",
                Gap::MissingResults => "calls without a result",
                Gap::UnrecordedSubagent => "sub-agents with unrecorded calls",
                Gap::UnreadParts => "unrecognised parts that may contain calls",
                Gap::UnknownCalls => "results of unrecorded calls",
            };
            format!("{what} ({})", counted(*count, "transcript"))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    fn claims_line(&self) -> String {
        let claims = &self.claims;
        let Some(coverage) = claims.coverage() else {
            return "no claims to check".to_owned();
        };
        let parts: Vec<String> = [
            (claims.supported, "supported"),
            (claims.contradicted, "contradicted"),
            (claims.unsupported, "unsupported"),
            (claims.read, "read"),
            (claims.not_checkable, "not checkable"),
            (claims.not_judged, "not judged"),
        ]
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, verdict)| format!("{count} {verdict}"))
        .collect();
        format!(
            "{}: {}; coverage {}%",
            counted(claims.total(), "claim"),
            parts.join(", "),
            percent(coverage)
        )
    }
}

/// Returns each kind of gap once, in order.
pub(crate) fn kinds_of_gaps(transcript: &Transcript) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = transcript.completeness.gaps().iter().map(|&(gap, _)| gap).collect();
    gaps.sort_unstable();
    gaps.dedup();
    gaps
}

/// A share as a rounded percentage; only the whole is 100.
fn percent(share: f64) -> f64 {
    let rounded = (share * 100.0).round();
    if share < 1.0 { rounded.min(99.0) } else { rounded }
}

/// Formats a count with its noun: `1 error`, `2 errors`.
#[must_use]
pub fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser gives a reference")]
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}
