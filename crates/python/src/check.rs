use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::Path;

use counterfoil_formats::{Options, ReadError, Reading, decompressed, log_name, read, read_tools};
use counterfoil_guard::LiveJudge;
use counterfoil_judge::{AnswerJudge as _, answers};
use counterfoil_model::{Catalog, Finding, Format, Mode, Problem, Severity, Transcript};
use counterfoil_report::{
    Checked, Claims, Document, Fragment, Look, Renderer, ReportFormat, Summary, Unread,
};
use counterfoil_rules::{Settings, check as check_rules, rules as all_rules, set_aside_feedback};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::failure::failed;
use crate::judge::PythonJudge;

/// A request to check a log, as JSON.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CheckRequest {
    /// The name of a transcript without an id; defaults to the name of the file.
    name: Option<String>,
    /// The log format; detected if not given.
    form: Option<String>,
    /// The modes, by rule code.
    modes: BTreeMap<String, Mode>,
    execution_window: u64,
    /// The minimum severity; findings below it are left out.
    severity: Option<Severity>,
    /// The judge's name, if there is a judge.
    judge_name: Option<String>,
    /// The minimum confidence for the judge's opinion to count.
    judge_threshold: Option<f64>,
}

/// A validated request.
struct Job {
    path: String,
    reading: Options,
    settings: Settings,
    catalog: Option<Catalog>,
    least: Severity,
    judge: Option<LiveJudge>,
    renderer: Box<dyn Renderer>,
}

/// Checks every session in `data`. Returns `(report, worst severity or None, whether nothing could
/// be read)`.
#[pyfunction]
#[pyo3(signature = (data, wanted, tools=None, judge=None))]
pub(crate) fn check(
    py: Python<'_>,
    data: &[u8],
    wanted: &str,
    tools: Option<&str>,
    judge: Option<Py<PyAny>>,
) -> PyResult<(String, Option<&'static str>, bool)> {
    let job = Job::new(wanted, None, tools, judge)?;
    // Python must not change the bytes while they are read.
    let data = data.to_vec();
    py.detach(|| job.run(decompressed(Cursor::new(data)).map_err(ReadError::Io)))
}

/// Like `check`, for a file, which may be compressed.
#[pyfunction]
#[pyo3(signature = (path, wanted, tools=None, judge=None))]
pub(crate) fn check_file(
    py: Python<'_>,
    path: &str,
    wanted: &str,
    tools: Option<&str>,
    judge: Option<Py<PyAny>>,
) -> PyResult<(String, Option<&'static str>, bool)> {
    let job = Job::new(wanted, Some(path), tools, judge)?;
    py.detach(|| {
        let file = File::open(Path::new(path));
        let opened = file.and_then(|file| decompressed(BufReader::with_capacity(64 * 1024, file)));
        job.run(opened.map_err(ReadError::Io))
    })
}

/// Returns `(code, name, mode, summary)` of every rule.
#[pyfunction]
pub(crate) fn rules() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let metas = all_rules().map(|rule| rule.meta());
    metas.map(|meta| (meta.code.0, meta.name, meta.mode.name(), meta.summary)).collect()
}

impl Job {
    fn new(
        wanted: &str,
        path: Option<&str>,
        tools: Option<&str>,
        judge: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let wanted: CheckRequest = serde_json::from_str(wanted).map_err(failed)?;
        let name = wanted.name.unwrap_or_else(|| log_name(path.unwrap_or_default()));
        let shown = path.map_or_else(|| name.clone(), str::to_owned);
        let mut reading = Options::new(name);
        if let Some(form) = &wanted.form {
            let known = Format::from_name(form);
            let known = known.ok_or_else(|| failed(format!("`{form}` is not a log format")))?;
            reading.format = Some(known);
        }
        let metas = || all_rules().map(|rule| rule.meta());
        let modes = wanted.modes.into_iter().filter_map(|(code, mode)| {
            metas().find(|meta| meta.code.0 == code).map(|meta| (meta.code, mode))
        });
        let settings = Settings {
            modes: modes.collect(),
            execution_window_secs: wanted.execution_window,
            ..Settings::default()
        };
        let look =
            Look { show_supported: true, version: env!("CARGO_PKG_VERSION"), ..Look::default() };
        Ok(Self {
            path: shown,
            reading,
            settings,
            catalog: tools.map(catalog).transpose()?,
            least: wanted.severity.unwrap_or(Severity::Note),
            judge: judge.map(|function| {
                let name = wanted.judge_name.unwrap_or_else(|| "judge".to_owned());
                PythonJudge::live(function, name, wanted.judge_threshold)
            }),
            renderer: ReportFormat::Json.renderer(look),
        })
    }

    fn run(
        &self,
        input: Result<Box<dyn BufRead + '_>, ReadError>,
    ) -> PyResult<(String, Option<&'static str>, bool)> {
        let (mut fragments, mut summary, mut worst) = (Vec::new(), Summary::default(), None);
        let judged = input.and_then(|input| {
            read(input, &self.reading, &mut |reading| {
                self.judge(reading, &mut fragments, &mut summary, &mut worst);
            })
        });
        let mut unreadable = false;
        match judged {
            Ok(read) => {
                self.unread(&read.problems, false, &mut fragments, &mut summary);
                if let Some(broken) = read.broken {
                    unreadable = true;
                    self.unread(&[broken], true, &mut fragments, &mut summary);
                } else if summary.messages == 0 {
                    unreadable = true;
                    let nothing = summary.nothing_read(read.format, self.reading.format.is_some());
                    self.unread(&[nothing], true, &mut fragments, &mut summary);
                }
            }
            Err(error) => {
                unreadable = true;
                self.unread(&[error.problem_of(&self.path)], true, &mut fragments, &mut summary);
            }
        }
        let mut document = Document::begin(self.renderer.as_ref(), Vec::new()).map_err(failed)?;
        fragments.iter().try_for_each(|fragment| document.push(fragment)).map_err(failed)?;
        let text = document.finish(&summary).map_err(failed)?;
        let text = String::from_utf8(text).map_err(failed)?;
        Ok((text, worst.map(Severity::name), unreadable))
    }

    fn judge(
        &self,
        reading: Reading,
        fragments: &mut Vec<Fragment>,
        summary: &mut Summary,
        worst: &mut Option<Severity>,
    ) {
        let Reading { mut transcript, problems, .. } = reading;
        set_aside_feedback(&mut transcript);
        if let Some(catalog) = self.catalog.as_ref().filter(|_| !transcript.catalog.is_known()) {
            transcript.catalog = catalog.clone();
        }
        let mut report = check_rules(&transcript, &self.settings);
        let mut findings = report.findings;
        let read = self.read_answers(&transcript, &mut findings, summary);
        report.counts.add_read(&read, &findings);
        *worst = (*worst).max(findings.iter().map(|finding| finding.severity).max());
        let before = findings.len();
        findings.retain(|finding| finding.severity >= self.least);
        summary.hidden += before - findings.len();
        summary.unchecked_calls += report.counts.unchecked_calls;
        summary.unread_answers += report.counts.unread_answers;
        summary.foreign_answers += report.counts.foreign_answers;
        summary.without_tools += usize::from(report.counts.lacks_tools);
        let checked = Checked {
            path: &self.path,
            transcript: &transcript,
            findings: &findings,
            unchanged: None,
            judgements: &report.judgements,
            readings: &[],
            claims: Claims::from_counts(&report.counts.claims),
            known: 0,
            accepted: &[],
        };
        fragments.push(self.renderer.transcript(&checked));
        summary.add(&checked);
        self.unread(&problems, false, fragments, summary);
    }

    /// Has the judge, if any, read the answers that end a turn; returns the turns it read.
    fn read_answers(
        &self,
        transcript: &Transcript,
        findings: &mut Vec<Finding>,
        summary: &mut Summary,
    ) -> Vec<usize> {
        let mut read = Vec::new();
        let Some(judge) = &self.judge else { return read };
        let judged = summary.judged.get_or_insert_default();
        for turn in answers(transcript) {
            match judge.read(transcript, turn) {
                Ok(reading) => {
                    judged.asked += 1;
                    judged.dropped += reading.dropped;
                    reading.join(turn, findings);
                    read.push(turn);
                }
                Err(why) => *judged.unjudged.entry(why).or_default() += 1,
            }
        }
        findings.sort_by_key(|finding| finding.turn);
        read
    }

    fn unread(
        &self,
        problems: &[Problem],
        fatal: bool,
        fragments: &mut Vec<Fragment>,
        summary: &mut Summary,
    ) {
        if !problems.is_empty() {
            let unread = Unread { path: &self.path, problems, fatal };
            fragments.push(self.renderer.unread(&unread));
            summary.add_unread(&unread);
        }
    }
}

/// Reads the catalog from a list of tools in the shape of OpenAI, Anthropic or MCP.
pub(crate) fn catalog(tools: &str) -> PyResult<Catalog> {
    let value = serde_json::from_str(tools).map_err(failed)?;
    Ok(Catalog::known(read_tools(&value).map_err(failed)?).0)
}
