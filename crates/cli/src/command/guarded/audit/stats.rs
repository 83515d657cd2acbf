use std::io::{self, Write as _};

use comfy_table::{CellAlignment, Table};
use counterfoil_ledger::{AuditFiles, AuditFilter, AuditResult, AuditStats, Reading};
use counterfoil_report::visible;
use jiff::Timestamp;

use super::sources::problem_line;
use crate::choices::{ShownWhole, WholeFormat};
use crate::exit::{Complaint, Exit};
use crate::tables::table;
use crate::terminal::Paint;

pub(super) fn run(
    files: AuditFiles,
    filter: &AuditFilter,
    shown: ShownWhole,
) -> anyhow::Result<Exit> {
    let mut stats = AuditStats::default();
    let mut exit = Exit::Clean;
    files
        .lines(&mut |line| {
            match line {
                Ok(line) if filter.wants(&line) => stats.add(&line),
                Ok(_) => {}
                Err(problem) => {
                    exit = Exit::Findings;
                    let _ = problem_line(&problem);
                }
            }
            Reading::GoOn
        })
        .map_err(Complaint::from_error)?;
    let mut out = io::stdout().lock();
    match shown.format {
        WholeFormat::Json => writeln!(out, "{}", counterfoil_report::json_pretty(&stats))?,
        WholeFormat::Text => write!(out, "{}", text(&stats, Paint::for_output(shown.color)))?,
    }
    Ok(exit)
}

fn text(stats: &AuditStats, paint: Paint) -> String {
    let AuditStats { calls, ran_ahead, rejected, failed, missed, .. } = stats;
    let span = match (stats.first, stats.last) {
        (Some(first), Some(last)) => format!(", {} to {}", minute(first), minute(last)),
        _ => String::new(),
    };
    let noun = if *calls == 1 { "call" } else { "calls" };
    let mut text = format!("{} {noun}{span}\n", paint.bold(&calls.to_string()));
    text += &format!("{failed} failed, {rejected} of them rejected before they ran\n");
    if *ran_ahead > 0 {
        text += &format!("{ran_ahead} ran speculatively, ahead of the model\n");
    }
    if *missed > 0 {
        text += &format!("{missed} could not be logged\n");
    }
    if *calls == 0 {
        return text;
    }
    let words = AuditResult::WORDS.map(str::to_uppercase);
    let mut tools = table(["TOOL".to_owned(), "CALLS".to_owned()].into_iter().chain(words));
    let mut by_tool: Vec<_> = stats
        .by_tool
        .iter()
        .map(|(tool, results)| (results.values().sum::<u64>(), tool, results))
        .collect();
    by_tool.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    for (calls, tool, results) in by_tool {
        let counts = AuditResult::WORDS.map(|word| match results.get(word) {
            Some(count) => count.to_string(),
            None => "-".to_owned(),
        });
        let row = [visible(tool).into_owned(), calls.to_string()].into_iter().chain(counts);
        tools.add_row(row);
    }
    (1..=6).for_each(|column| right(&mut tools, column));
    text += &format!("\n{}\n", tools.trim_fmt());
    if !stats.by_category.is_empty() {
        let mut table = table(["CATEGORY", "CALLS"]);
        for (category, count) in &stats.by_category {
            table.add_row([(*category).to_owned(), count.to_string()]);
        }
        right(&mut table, 1);
        text += &format!("\n{}\n", table.trim_fmt());
    }
    text += &format!("\n{}\n", hours(stats));
    text
}

/// Renders a bar for each of the latest hours with calls; the busiest has the longest bar.
fn hours(stats: &AuditStats) -> String {
    const MOST: usize = 48;
    const LONGEST: u64 = 40;
    let most = stats.by_hour.values().copied().max().unwrap_or(1).max(1);
    let mut table = table(["HOUR", "CALLS", ""]);
    for (hour, count) in stats.by_hour.iter().skip(stats.by_hour.len().saturating_sub(MOST)) {
        let bar = usize::try_from((count * LONGEST).div_ceil(most)).unwrap_or_default();
        table.add_row([hour.clone(), count.to_string(), "▇".repeat(bar)]);
    }
    right(&mut table, 1);
    table.trim_fmt()
}

fn right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn minute(at: i64) -> String {
    Timestamp::from_millisecond(at).unwrap_or_default().strftime("%Y-%m-%d %H:%MZ").to_string()
}
