//! The audit log as a table in Parquet: a row a call, for warehouses and notebooks.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use counterfoil_guard::{AuditFiles, AuditFilter, AuditLine, AuditResult, ExitCode, Reading};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::problem_line;
use crate::exit::{Complaint, Exit};

/// Rows that are held before they are written: some 20 MB at most calls' size.
const ROWS: usize = 50_000;

type Get<T> = fn(&AuditLine) -> T;

/// What a column holds.
enum Cells {
    Number(Get<i64>),
    /// Milliseconds since the Unix epoch, in UTC.
    Time(Get<i64>),
    Flag(Get<bool>),
    Text(Get<String>),
    MaybeNumber(Get<Option<i64>>),
    MaybeText(Get<Option<String>>),
}

/// The columns, named as the members of a line.
const COLUMNS: [(&str, Cells); 20] = [
    ("seq", Cells::Number(|line| i64::try_from(line.seq).unwrap_or(i64::MAX))),
    ("ts", Cells::Time(|line| line.at)),
    ("tool", Cells::Text(|line| line.entry.tool.clone())),
    ("call", Cells::Text(|line| line.entry.call.to_string())),
    ("result", Cells::Text(|line| line.entry.result.word().to_owned())),
    ("message", Cells::MaybeText(|line| message(&line.entry.result))),
    (
        "error_category",
        Cells::MaybeText(|line| line.entry.result.category().map(|c| c.name().to_owned())),
    ),
    ("trust", Cells::Text(|line| line.entry.trust.name().to_owned())),
    ("phase", Cells::Text(|line| line.entry.phase.name().to_owned())),
    ("approved_by", Cells::MaybeText(|line| line.entry.approved_by.clone())),
    ("policy_match", Cells::MaybeText(|line| line.entry.policy_match.clone())),
    ("exit_code", Cells::MaybeNumber(|line| exit_code(&line.entry.exit_code))),
    ("truncated", Cells::Flag(|line| line.entry.truncated)),
    ("claim_source", Cells::MaybeText(|line| line.entry.claim_source.clone())),
    ("session_id", Cells::MaybeText(|line| line.entry.session_id.clone())),
    ("caller_id", Cells::MaybeText(|line| line.entry.caller_id.clone())),
    ("execution_id", Cells::MaybeText(|line| line.entry.execution_id.clone())),
    ("correlation_id", Cells::MaybeText(|line| line.entry.correlation_id.clone())),
    ("warnings", Cells::Text(|line| line.entry.warnings.join(","))),
    ("digest", Cells::Text(|line| line.digest.to_string())),
];

fn message(result: &AuditResult) -> Option<String> {
    match result {
        AuditResult::Blocked { reason, .. } => Some(reason.clone()),
        AuditResult::Error { message, .. } => Some(message.clone()),
        AuditResult::Success | AuditResult::Timeout | AuditResult::Rollback { .. } => None,
    }
}

fn exit_code(code: &ExitCode) -> Option<i64> {
    match code {
        ExitCode::Code(code) => Some(i64::from(*code)),
        ExitCode::NoShell | ExitCode::Missing(_) => None,
    }
}

/// Writes the lines that are wanted. What is broken in the log is named, and left out.
pub(super) fn write(files: AuditFiles, filter: &AuditFilter, path: &Path) -> anyhow::Result<Exit> {
    let file = File::create_new(path).map_err(|error| {
        let there = error.kind() == std::io::ErrorKind::AlreadyExists;
        Complaint::new(format!("{} cannot be made: {error}", path.display()))
            .maybe_help(there.then(|| "name a file that is not there yet".to_owned()))
    })?;
    let schema = Arc::new(parse_message_type(&schema()).context("the columns")?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))
        .with_context(|| path.display().to_string())?;
    let (mut rows, mut problems, mut failed) = (Vec::new(), 0_usize, Ok(()));
    files
        .lines(&mut |line| {
            match line {
                Ok(line) if filter.wants(&line) => rows.push(line),
                Ok(_) => {}
                Err(problem) => {
                    problems += 1;
                    failed = problem_line(&problem).map_err(anyhow::Error::from);
                }
            }
            if failed.is_ok() && rows.len() >= ROWS {
                failed = group(&mut writer, &std::mem::take(&mut rows));
            }
            if failed.is_ok() { Reading::GoOn } else { Reading::Stop }
        })
        .map_err(|error| Complaint::new(error.to_string()))?;
    failed?;
    group(&mut writer, &rows)?;
    writer.close().with_context(|| path.display().to_string())?;
    Ok(if problems == 0 { Exit::Clean } else { Exit::Findings })
}

/// The columns in the language of Parquet's schemas.
fn schema() -> String {
    let columns = COLUMNS.iter().map(|(name, cells)| match cells {
        Cells::Number(_) => format!("required int64 {name};"),
        Cells::Time(_) => format!("required int64 {name} (TIMESTAMP(MILLIS,true));"),
        Cells::Flag(_) => format!("required boolean {name};"),
        Cells::Text(_) => format!("required binary {name} (STRING);"),
        Cells::MaybeNumber(_) => format!("optional int64 {name};"),
        Cells::MaybeText(_) => format!("optional binary {name} (STRING);"),
    });
    format!("message calls {{ {} }}", columns.collect::<Vec<_>>().join(" "))
}

fn group(writer: &mut SerializedFileWriter<File>, rows: &[AuditLine]) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = writer.next_row_group()?;
    for (_, cells) in &COLUMNS {
        let mut column = group.next_column()?.context("the schema has this column")?;
        fill(&mut column, cells, rows)?;
        column.close()?;
    }
    group.close()?;
    Ok(())
}

fn fill(
    column: &mut SerializedColumnWriter<'_>,
    cells: &Cells,
    rows: &[AuditLine],
) -> anyhow::Result<()> {
    let text = |text: String| ByteArray::from(text.into_bytes());
    match cells {
        Cells::Number(get) | Cells::Time(get) => {
            let values: Vec<i64> = rows.iter().map(get).collect();
            column.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Cells::Flag(get) => {
            let values: Vec<bool> = rows.iter().map(get).collect();
            column.typed::<BoolType>().write_batch(&values, None, None)?;
        }
        Cells::Text(get) => {
            let values: Vec<ByteArray> = rows.iter().map(get).map(text).collect();
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
        Cells::MaybeNumber(get) => {
            let all: Vec<Option<i64>> = rows.iter().map(get).collect();
            let there: Vec<i64> = all.iter().copied().flatten().collect();
            column.typed::<Int64Type>().write_batch(&there, Some(&levels(&all)), None)?;
        }
        Cells::MaybeText(get) => {
            let all: Vec<Option<String>> = rows.iter().map(get).collect();
            let levels = levels(&all);
            let there: Vec<ByteArray> = all.into_iter().flatten().map(text).collect();
            column.typed::<ByteArrayType>().write_batch(&there, Some(&levels), None)?;
        }
    }
    Ok(())
}

/// 1 where there is a value, 0 where there is none.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}
