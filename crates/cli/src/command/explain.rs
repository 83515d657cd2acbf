use std::io::{self, Write as _};

use clap::Args;

use crate::choices::Colour;
use crate::exit::Exit;
use crate::rule_names::find;
use crate::terminal::Paint;

/// Show a rule's page: what it finds, why it matters, what it leaves alone
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  counterfoil explain UNKNOWN_TOOL\n  counterfoil explain unknown-tool | less -R"
)]
pub(crate) struct Arguments {
    /// The rule's code or name
    #[arg(value_name = "RULE")]
    rule: String,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let meta = find(&arguments.rule)?;
    let page = if meta.page.trim().is_empty() { meta.summary } else { meta.page };
    let paint = Paint::for_output(arguments.color);
    let text = if paint.is_on() { painted(page, paint) } else { page.trim_end().to_owned() };
    let mode = meta.mode.name();
    let mut out = io::stdout().lock();
    writeln!(out, "{}", paint.bold(&format!("{} {} [{mode}]", meta.code, meta.name)))?;
    writeln!(out, "\n{text}")?;
    Ok(Exit::Clean)
}

/// Markdown as a terminal shows it: headings bold without their marks, code coloured.
fn painted(page: &str, paint: Paint) -> String {
    let mut lines = Vec::new();
    let mut fenced = false;
    for line in page.trim_end().lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            lines.push(format!("    {}", paint.code(line)));
        } else if let Some(heading) = line.strip_prefix('#') {
            lines.push(paint.bold(heading.trim_start_matches('#').trim()));
        } else {
            lines.push(with_code(line, paint));
        }
    }
    lines.join("\n")
}

/// The parts between back-ticks as code. A lone back-tick stays.
fn with_code(line: &str, paint: Paint) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return line.to_owned();
    }
    parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at % 2 == 1 { paint.code(part) } else { (*part).to_owned() })
        .collect()
}
