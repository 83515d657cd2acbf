use std::io::{self, Write as _};

use clap::Args;
use counterfoil_report::RuleCard;

use crate::choices::Colour;
use crate::exit::Exit;
use crate::rule_names::{card, find, is_judge, judge_card};
use crate::terminal::{self, Paint};

/// The maximum number of lines of a section in the short form.
const LINES: usize = 7;

/// Show what a rule finds, why it matters, and what it does not report
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  counterfoil explain UNKNOWN_TOOL\n  counterfoil explain unknown-tool --cases"
)]
pub(crate) struct Arguments {
    /// The rule's code or name, as shown in reports
    #[arg(value_name = "RULE")]
    rule: String,
    /// Show the full page, including the cases that run as tests
    #[arg(long)]
    cases: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let (card, mode) = if is_judge(&arguments.rule) {
        (judge_card(), String::new())
    } else {
        let meta = find(&arguments.rule)?;
        (card(meta), format!(" [{}]", meta.mode.name()))
    };
    let RuleCard { code, name, summary, page, .. } = card;
    let paint = Paint::for_output(arguments.color);
    let columns = match terminal::width() {
        0 => 100,
        width => width.clamp(40, 100),
    };
    let head = paint.bold(&format!("{code} {name}{mode}"));
    let page = if page.trim().is_empty() { summary } else { page };
    // The title is already printed above.
    let page = page.split_once("\n## ").map_or(page, |(_, sections)| sections);
    let sections = page.split("\n## ").filter_map(|section| section.split_once('\n'));
    let mut text = format!("{head}\n{}\n", textwrap::fill(summary, columns));
    for (title, body) in sections {
        if !arguments.cases && matches!(title, "Cases" | "References") {
            continue;
        }
        let body =
            if arguments.cases { body.trim_end().to_owned() } else { beginning(body, columns) };
        let body = if paint.is_on() { painted(&body, paint) } else { body };
        text.push_str(&format!("\n{}\n{body}\n", paint.bold(title)));
    }
    if !arguments.cases {
        let more = format!("`counterfoil explain {code} --cases` shows the full page.");
        text.push_str(&format!("\n{more}\n"));
    }
    if !terminal::paged(&text) {
        io::stdout().lock().write_all(text.as_bytes())?;
    }
    Ok(Exit::Clean)
}

/// Returns the first lines of a section: whole paragraphs and list items, at terminal width.
fn beginning(body: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in body.trim().lines().filter(|line| !line.trim().is_empty()) {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let options = textwrap::Options::new(columns).subsequent_indent(indent);
        let wrapped = textwrap::wrap(line, options);
        if !lines.is_empty() && lines.len() + wrapped.len() > LINES {
            lines.push("…".to_owned());
            break;
        }
        lines.extend(wrapped.into_iter().map(std::borrow::Cow::into_owned));
    }
    lines.join("\n")
}

/// Formats Markdown for a terminal: bold headings without marks, coloured code.
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

/// Colours the parts between back-ticks as code. An unpaired back-tick is kept.
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
