use std::collections::BTreeMap;
use std::io::{self, Write as _};

use clap::Args;
use comfy_table::{CellAlignment, Table};
use counterfoil_guard::{CallStats, HallucinatedTool, repetitions};
use counterfoil_report::visible;
use serde::Serialize;

use crate::choices::{ShownWhole, WholeFormat};
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::guard::ledger;
use crate::tables::table;
use crate::terminal::Paint;

/// Show statistics from the ledger: calls by tool and model, rejections, false claims, repetition
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil stats
  counterfoil stats --session fix-42
  counterfoil stats --format json | jq .hallucinated_tools")]
pub(crate) struct Arguments {
    /// Count only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    shown: ShownWhole,
}

/// All counts.
#[derive(Debug, Serialize)]
struct Counted {
    schema_version: u32,
    sessions: usize,
    #[serde(flatten)]
    stats: CallStats,
    /// Sorted by frequency, the most frequent first.
    hallucinated_tools: Vec<HallucinatedTool>,
    /// Repetitions without progress.
    repetitions: Vec<Repetition>,
}

#[derive(Debug, Serialize)]
struct Repetition {
    session: String,
    tool: String,
    /// The number of calls, or of rounds of a cycle.
    count: usize,
    refused: bool,
}

impl Repetition {
    /// Whether `next` is a later state of the same run. A count that has reached the window of a
    /// streak stays there.
    fn is_before(&self, next: &Self, threshold: usize) -> bool {
        let goes_on =
            self.count + 1 == next.count || (self.count == next.count && next.count > threshold);
        goes_on && self.session == next.session && self.tool == next.tool
    }
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let ledger = ledger(&global.state()?, &options)?;
    let mut sessions = ledger.sessions()?;
    if let Some(wanted) = &arguments.session {
        sessions.retain(|session| session == wanted);
        if sessions.is_empty() {
            return Err(Complaint::new(format!("no session `{wanted}`"))
                .help(
                    "`counterfoil audit tail --format json` shows the sessions of the latest calls",
                )
                .into());
        }
    }
    let mut stats = CallStats::default();
    let fixation = crate::guard::settings(&options)?.fixation;
    let mut repeated: Vec<Repetition> = Vec::new();
    for session in &sessions {
        let events = ledger.events(session)?;
        events.iter().for_each(|event| stats.add(event));
        for event in repetitions(&events, &fixation) {
            let row = Repetition {
                session: session.clone(),
                tool: event.tool,
                count: event.count,
                refused: event.refused,
            };
            // Keep only the last and longest state of a run of repetitions.
            match repeated.last_mut() {
                Some(last) if last.is_before(&row, event.threshold) => *last = row,
                _ => repeated.push(row),
            }
        }
    }
    let counted = Counted {
        schema_version: 1,
        sessions: sessions.len(),
        hallucinated_tools: stats.most_hallucinated(),
        repetitions: repeated,
        stats,
    };
    let mut out = io::stdout().lock();
    match arguments.shown.format {
        WholeFormat::Json => writeln!(out, "{}", counterfoil_report::json_pretty(&counted))?,
        WholeFormat::Text => {
            write!(out, "{}", text(&counted, Paint::for_output(arguments.shown.color)))?
        }
    }
    Ok(Exit::Clean)
}

fn text(counted: &Counted, paint: Paint) -> String {
    let Counted { sessions, stats, hallucinated_tools, repetitions, .. } = counted;
    let many = |count: u64, noun: &str| counterfoil_report::counted(count, noun);
    let statuses: Vec<String> =
        stats.by_status.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let colon = if statuses.is_empty() { "" } else { ": " };
    let mut text = format!(
        "{} in {}{colon}{}\n",
        paint.bold(&many(stats.calls, "call")),
        many(*sessions as u64, "session"),
        statuses.join(", ")
    );
    if stats.answers > 0 {
        let of = many(stats.answers, "answer");
        text += &format!("{} of {of} with findings\n", stats.answers_with_findings);
        let codes = stats.findings.iter().map(|(code, count)| (code.as_str(), *count));
        text += &counts(["FOUND IN ANSWERS", "FINDINGS"], codes);
    }
    if stats.calls > 0 {
        text += &crossed("TOOL", &stats.by_tool, &stats.by_status);
        text += &crossed("MODEL", &stats.by_model, &stats.by_status);
    }
    let codes = stats.by_code.iter().map(|(code, count)| (code.as_str(), *count));
    text += &counts(["REJECTED FOR", "CALLS"], codes);
    let filters = stats.filters.iter().map(|(filter, count)| (filter.as_str(), *count));
    text += &counts(["RESULT FILTER", "CHANGED"], filters);
    text += &invented(hallucinated_tools);
    let repeated = repetitions.iter().map(|r| (r.tool.as_str(), r.count as u64));
    text += &counts(["REPEATED WITHOUT PROGRESS", "TIMES"], repeated);
    text
}

/// Creates a table with a row per name and a column per status, sorted by frequency.
fn crossed(
    title: &str,
    rows: &BTreeMap<String, BTreeMap<&'static str, u64>>,
    statuses: &BTreeMap<&'static str, u64>,
) -> String {
    let heads = statuses.keys().map(|status| status.to_uppercase());
    let mut table = table([title.to_owned(), "CALLS".to_owned()].into_iter().chain(heads));
    let mut rows: Vec<(u64, &String, &BTreeMap<&str, u64>)> =
        rows.iter().map(|(name, counts)| (counts.values().sum(), name, counts)).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    for (calls, name, counts) in rows {
        let cells = statuses.keys().map(|status| match counts.get(status) {
            Some(count) => count.to_string(),
            None => "-".to_owned(),
        });
        table.add_row([visible(name).into_owned(), calls.to_string()].into_iter().chain(cells));
    }
    shown(table)
}

fn invented(tools: &[HallucinatedTool]) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let mut table = table(["TOOLS THAT DO NOT EXIST", "CALLED", "CLAIMED"]);
    for HallucinatedTool { tool, calls, claims } in tools {
        table.add_row([visible(tool).into_owned(), calls.to_string(), claims.to_string()]);
    }
    shown(table)
}

fn counts<'c>(titles: [&str; 2], rows: impl Iterator<Item = (&'c str, u64)>) -> String {
    let mut rows: Vec<(&str, u64)> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let mut table = table(titles);
    for (name, count) in rows {
        table.add_row([visible(name).into_owned(), count.to_string()]);
    }
    shown(table)
}

/// Renders a table after an empty line, with numbers right-aligned.
fn shown(mut table: Table) -> String {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("\n{}\n", table.trim_fmt())
}
