//! Shows lines of the log to people and programs.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};
use counterfoil_ledger::{
    AuditFiles, AuditFilter, AuditLine, AuditProblem, AuditResult, ExitCode, Reading, tail_audit,
};
use counterfoil_report::{shorten, visible};
use jiff::Timestamp;

use super::sources::problem_line;
use crate::choices::Colour;
use crate::exit::{Complaint, Exit};
use crate::terminal::{self, Paint};
use counterfoil_report::counted;

#[derive(Debug, Args)]
pub(super) struct Shown {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: LineFormat,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LineFormat {
    /// For people
    Text,
    /// The lines of the file as a JSON array
    Json,
    /// The unchanged lines of the file
    Jsonl,
}

pub(super) fn tail(files: AuditFiles, count: usize, shown: &Shown) -> anyhow::Result<Exit> {
    let lines = tail_audit(files, count).map_err(Complaint::from_error)?;
    let mut page = Page::new(shown);
    lines.iter().try_for_each(|line| page.add(line.as_ref()))?;
    page.end()
}

pub(super) fn query(
    files: AuditFiles,
    filter: &AuditFilter,
    limit: Option<usize>,
    shown: &Shown,
) -> anyhow::Result<Exit> {
    let mut page = Page::new(shown);
    let mut written = Ok(());
    // With a limit, the newest lines are known only at the end.
    let mut newest = VecDeque::new();
    files
        .lines(&mut |line| {
            let wanted = line.as_ref().map_or(true, |line| filter.wants(line));
            match (wanted, limit, line) {
                (true, Some(limit), Ok(line)) => {
                    newest.push_back(line);
                    if newest.len() > limit {
                        newest.pop_front();
                    }
                }
                (true, _, line) => written = page.add(line.as_ref()),
                (false, ..) => {}
            }
            if written.is_ok() { Reading::GoOn } else { Reading::Stop }
        })
        .map_err(Complaint::from_error)?;
    written?;
    newest.iter().try_for_each(|line| page.add(Ok(line)))?;
    page.end()
}

/// The output, written line by line instead of collected first.
struct Page {
    out: BufWriter<io::StdoutLock<'static>>,
    format: LineFormat,
    paint: Paint,
    width: usize,
    lines: usize,
    problems: usize,
}

impl Page {
    fn new(shown: &Shown) -> Self {
        Self {
            out: BufWriter::new(io::stdout().lock()),
            format: shown.format,
            paint: Paint::for_output(shown.color),
            width: terminal::width(),
            lines: 0,
            problems: 0,
        }
    }

    fn add(&mut self, line: Result<&AuditLine, &AuditProblem>) -> io::Result<()> {
        let line = match line {
            Ok(line) => line,
            Err(problem) => {
                self.problems += 1;
                self.out.flush()?;
                return problem_line(problem);
            }
        };
        self.lines += 1;
        let json = line.json().unwrap_or_default();
        match self.format {
            LineFormat::Jsonl => writeln!(self.out, "{json}"),
            LineFormat::Json => {
                write!(self.out, "{}\n{json}", if self.lines == 1 { "[" } else { "," })
            }
            LineFormat::Text => {
                let text = shown(line, self.paint, self.width);
                self.out.write_all(text.as_bytes())
            }
        }
    }

    fn end(mut self) -> anyhow::Result<Exit> {
        if matches!(self.format, LineFormat::Json) {
            writeln!(self.out, "{}", if self.lines == 0 { "[]" } else { "\n]" })?;
        }
        self.out.flush()?;
        if matches!(self.format, LineFormat::Text) && self.lines == 0 && self.problems == 0 {
            writeln!(io::stderr(), "no matching calls")?;
        }
        Ok(if self.problems == 0 { Exit::Clean } else { Exit::Findings })
    }
}

/// Formats a call on one line, with the reason below if it failed.
fn shown(line: &AuditLine, paint: Paint, width: usize) -> String {
    let entry = &line.entry;
    let time = Timestamp::from_millisecond(line.at).unwrap_or_default();
    let word = format!("{:<8}", entry.result.word());
    let word = match entry.result {
        AuditResult::Success => paint.code(&word),
        _ => paint.error(&word),
    };
    let exit = match &entry.exit_code {
        ExitCode::Code(0) | ExitCode::NoShell | ExitCode::Missing(_) => String::new(),
        ExitCode::Code(code) => format!("exit {code}  "),
    };
    let tool = visible(&entry.tool).into_owned();
    let call = entry.call.to_string();
    // The columns taken by the date, the result and the spaces between them.
    let room = match width {
        0 => usize::MAX,
        width => width.saturating_sub(33 + tool.chars().count() + exit.len()).max(20),
    };
    let call = visible(&call).into_owned();
    let mut text = format!(
        "{}  {word}  {}  {exit}{}\n",
        time.strftime("%Y-%m-%d %H:%M:%SZ"),
        paint.bold(&tool),
        shorten(&call, room),
    );
    for detail in details(line) {
        let detail = visible(&detail).into_owned();
        let room = if width == 0 { usize::MAX } else { width.saturating_sub(22).max(20) };
        text += &format!("{:22}{}\n", "", shorten(&detail, room));
    }
    text
}

fn details(line: &AuditLine) -> Vec<String> {
    let entry = &line.entry;
    let mut details = Vec::new();
    if let Some(category) = entry.result.category() {
        details.push(match &entry.result {
            AuditResult::Blocked { reason: why, .. } | AuditResult::Error { message: why, .. } => {
                format!("{category}: {why}")
            }
            AuditResult::Rollback { restored, deleted, .. } => {
                format!("{category}: {restored} files restored, {deleted} deleted")
            }
            AuditResult::Success | AuditResult::Timeout => category.to_string(),
        });
    }
    let named = [
        ("id", &entry.execution_id),
        ("session", &entry.session_id),
        ("caller", &entry.caller_id),
        ("server", &entry.server),
        ("rule", &entry.policy_match),
    ];
    let named =
        named.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_deref()?)));
    let named: Vec<String> = named.chain(entry.approved_by.as_deref().map(permission)).collect();
    if !named.is_empty() {
        details.push(named.join(" · "));
    }
    if line.missed > 0 {
        let calls = counted(line.missed, "call");
        details.push(format!("{calls} before this one could not be logged"));
    }
    if line.set_aside > 0 {
        details.push(format!("{} bytes of an incomplete line precede this one", line.set_aside));
    }
    details
}

/// Says who or what let a call run.
fn permission(approved_by: &str) -> String {
    match approved_by {
        "auto" => "allowed by the gates, without asking the user".to_owned(),
        "host" => "allowed by the program that made the call".to_owned(),
        "reported" => "reported after it ran".to_owned(),
        person => format!("approved by {person}"),
    }
}
