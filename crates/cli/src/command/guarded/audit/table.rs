//! The audit log as a CSV table with one row per call, for warehouses and notebooks.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use counterfoil_ledger::{AuditFiles, AuditFilter, AuditLine, AuditResult, ExitCode, Reading};
use jiff::Timestamp;

use super::sources::problem_line;
use crate::exit::{Complaint, Exit};

/// The columns, named after the members of a line.
const COLUMNS: [(&str, fn(&AuditLine) -> String); 23] = [
    ("seq", |line| line.seq.to_string()),
    ("ts", |line| time(line.at)),
    ("tool", |line| line.entry.tool.clone()),
    ("call", |line| line.entry.call.to_string()),
    ("result", |line| line.entry.result.word().to_owned()),
    ("message", |line| message(&line.entry.result)),
    ("error_category", |line| {
        line.entry.result.category().map_or_else(String::new, |category| category.name().to_owned())
    }),
    ("trust", |line| line.entry.trust.name().to_owned()),
    ("phase", |line| line.entry.phase.name().to_owned()),
    ("approved_by", |line| line.entry.approved_by.clone().unwrap_or_default()),
    ("policy_match", |line| line.entry.policy_match.clone().unwrap_or_default()),
    ("exit_code", |line| exit_code(&line.entry.exit_code)),
    ("truncated", |line| line.entry.truncated.to_string()),
    ("claim_source", |line| line.entry.claim_source.clone().unwrap_or_default()),
    ("session_id", |line| line.entry.session_id.clone().unwrap_or_default()),
    ("caller_id", |line| line.entry.caller_id.clone().unwrap_or_default()),
    ("execution_id", |line| line.entry.execution_id.clone().unwrap_or_default()),
    ("correlation_id", |line| line.entry.correlation_id.clone().unwrap_or_default()),
    ("speculative", |line| line.entry.speculative.to_string()),
    ("cached_from", |line| line.entry.cached_from.clone().unwrap_or_default()),
    ("server", |line| line.entry.server.clone().unwrap_or_default()),
    ("warnings", |line| line.entry.warnings.join(",")),
    ("digest", |line| line.digest.to_string()),
];

/// Formats a time as RFC 3339 in UTC, or as a number if it is outside the calendar.
pub(super) fn time(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds)
        .map_or_else(|_| milliseconds.to_string(), |time| time.to_string())
}

fn message(result: &AuditResult) -> String {
    match result {
        AuditResult::Blocked { reason, .. } => reason.clone(),
        AuditResult::Error { message, .. } => message.clone(),
        AuditResult::Success | AuditResult::Timeout | AuditResult::Rollback { .. } => String::new(),
    }
}

fn exit_code(code: &ExitCode) -> String {
    match code {
        ExitCode::Code(code) => code.to_string(),
        ExitCode::NoShell | ExitCode::Missing(_) => String::new(),
    }
}

/// Writes the lines that match the filter. Broken lines are reported and left out.
pub(super) fn write(files: AuditFiles, filter: &AuditFilter, path: &Path) -> anyhow::Result<Exit> {
    let file = File::create_new(path).map_err(|error| {
        let shown = path.display();
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let advice = "use another file name, or delete the existing file first";
            return Complaint::new(format!("`{shown}` already exists")).help(advice);
        }
        Complaint::new(format!("cannot create `{shown}`: {error}"))
    })?;
    let mut table = csv::Writer::from_writer(file);
    let mut problems = 0_usize;
    let mut written = table.write_record(COLUMNS.map(|(name, _)| name)).map_err(Into::into);
    files
        .lines(&mut |line| {
            match line {
                Ok(line) if filter.wants(&line) => {
                    let cells = COLUMNS.map(|(_, cell)| cell(&line));
                    written = table.write_record(cells).map_err(anyhow::Error::from);
                }
                Ok(_) => {}
                Err(problem) => {
                    problems += 1;
                    written = problem_line(&problem).map_err(Into::into);
                }
            }
            if written.is_ok() { Reading::GoOn } else { Reading::Stop }
        })
        .map_err(Complaint::from_error)?;
    written.and_then(|()| Ok(table.flush()?)).with_context(|| path.display().to_string())?;
    Ok(if problems == 0 { Exit::Clean } else { Exit::Findings })
}
