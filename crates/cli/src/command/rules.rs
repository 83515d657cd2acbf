use std::io::{self, Write as _};

use clap::Args;
use counterfoil_model::Mode;
use counterfoil_rules::{Group, Meta};
use serde::Serialize;

use crate::choices::WholeFormat;
use crate::config;
use crate::exit::Exit;
use crate::global::Global;
use crate::rule_names::{Selection, metas};
use crate::tables::wide_table;

/// List the rules: code, name, current mode, and what each one finds
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  counterfoil rules\n  counterfoil rules --format json | jq -r '.[].code'"
)]
pub(crate) struct Arguments {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: WholeFormat,
}

#[derive(Serialize)]
struct Row {
    code: &'static str,
    name: &'static str,
    group: &'static str,
    mode: Mode,
    default_mode: Mode,
    summary: &'static str,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let selection = Selection { options: &options, ignored: &[], modes: &[], only: &[] };
    let settings = selection.settings()?;
    let row = |meta: &'static Meta| Row {
        code: meta.code.0,
        name: meta.name,
        group: match meta.group {
            Group::Claim => "claim",
            Group::Call => "call",
        },
        mode: settings.mode(meta),
        default_mode: meta.mode,
        summary: meta.summary,
    };
    let rows: Vec<Row> = metas().map(row).collect();
    let mut out = io::stdout().lock();
    match arguments.format {
        WholeFormat::Json => writeln!(out, "{}", counterfoil_report::json_pretty(&rows))?,
        WholeFormat::Text => writeln!(out, "{}", table(&rows))?,
    }
    Ok(Exit::Clean)
}

fn table(rows: &[Row]) -> String {
    let mut table = wide_table(["CODE", "NAME", "ABOUT", "MODE", "FINDS"]);
    for row in rows {
        table.add_row([row.code, row.name, row.group, row.mode.name(), row.summary]);
    }
    table.trim_fmt()
}
