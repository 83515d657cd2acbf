use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use countersign_guard::{GateId, Verdict};
use countersign_model::{Arguments as CallArguments, Catalog, Tool, ToolCall};
use serde_json::{Value, json};

use super::shown::{as_json, call_line, outcome, said};
use super::surroundings::{Past, Surroundings};
use super::{Shape, gates};
use crate::catalog::read_catalog;
use crate::choices::Colour;
use crate::command::Global;
use crate::exit::{Complaint, Exit};
use crate::terminal::Paint;

/// Show what each gate would say to a call, which rule decides and why
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  countersign policy explain --tool shell --args '{\"command\": \"rm -rf build\"}'
  countersign policy explain --tool write --args '{\"path\": \"src/a.rs\"}' --trust untrusted
  countersign policy explain --tool deploy --phase planner --caller research --format json

Exit codes: 0 the call would run, 1 somebody would be asked or it would be denied, 2 usage or
input error.")]
pub(super) struct Arguments {
    /// The tool
    #[arg(long, value_name = "NAME")]
    tool: String,
    /// Its arguments: a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// A list of tools, which says what the tool is: OpenAI, Anthropic or MCP shape
    #[arg(long, value_name = "FILE", env = "COUNTERSIGN_TOOLS")]
    tools: Option<PathBuf>,
    /// How many calls the session has made
    #[arg(long, value_name = "N", default_value_t = 0)]
    calls_made: u64,
    /// Tools that succeeded in this session
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    completed: Vec<String>,
    #[command(flatten)]
    surroundings: Surroundings,
    /// How the answer is shown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Shape,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

pub(super) fn run(
    global: &Global,
    arguments: &Arguments,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let catalog = match &arguments.tools {
        Some(path) => read_catalog(path.clone())?,
        None => Catalog::unknown(),
    };
    let tool =
        catalog.get(&arguments.tool).cloned().unwrap_or_else(|| Tool::named(&arguments.tool));
    let call = ToolCall {
        id: String::new(),
        tool: tool.name.clone(),
        arguments: CallArguments::raw(&arguments.args),
        line: 0,
    };
    let mut past = Past { calls_made: arguments.calls_made, ..Past::default() };
    past.completed = arguments.completed.iter().cloned().collect();
    past.tools = catalog.iter().map(|tool| tool.name.clone()).chain([tool.name.clone()]).collect();
    let place = arguments.surroundings.place();
    let scene = place.scene(&past, None);
    let verdicts = gates(&global.place())?.rehearse(&call, &tool, &scene).map_err(|wrong| {
        Complaint::new(wrong.to_string()).help("write them as `--args '{\"name\": \"value\"}'`")
    })?;
    let outcome = outcome(&verdicts);
    match arguments.format {
        Shape::Json => {
            let answer = json!({
                "version": 1,
                "tool": tool.name,
                "arguments": call.arguments.parse().unwrap_or(Value::Null),
                "scene": {
                    "trust": scene.trust.name(),
                    "phase": scene.phase.name(),
                    "caller": scene.caller,
                },
                "verdict": outcome,
                "gates": as_json(&verdicts),
            });
            writeln!(out, "{}", countersign_report::json_pretty(&answer))?;
        }
        Shape::Text => {
            let paint = Paint::for_output(arguments.color);
            writeln!(out, "{}", paint.bold(&call_line(&tool.name, &arguments.args)))?;
            let caller = scene.caller.map_or("the main agent".to_owned(), |c| format!("`{c}`"));
            let (trust, phase) = (scene.trust.name(), scene.phase.name());
            writeln!(out, "called by {caller} in a turn that is {trust}, phase {phase}\n")?;
            show(&verdicts, paint, out)?;
            let end = match outcome {
                "allow" => "it would run",
                "ask" => "a person would be asked",
                _ => "it would be denied",
            };
            writeln!(out, "\n{}", paint.bold(end))?;
        }
    }
    Ok(if outcome == "allow" { Exit::Clean } else { Exit::Findings })
}

fn show(verdicts: &[(GateId, Verdict)], paint: Paint, out: &mut impl Write) -> anyhow::Result<()> {
    for (gate, verdict) in verdicts {
        let said = said(verdict);
        let word = match said.word {
            "deny" => paint.error("deny "),
            "ask" => paint.code("ask  "),
            _ => "allow".to_owned(),
        };
        let rule = said.rule.map(|rule| format!("by `{rule}`"));
        let mut lines = said.why.map(str::to_owned).into_iter().chain(rule);
        let first = lines.next().unwrap_or_default();
        writeln!(out, "{}", format!("  {:<12}{word}  {first}", gate.0).trim_end())?;
        for line in lines {
            writeln!(out, "{:21}{line}", "")?;
        }
        if let Some(help) = said.help {
            writeln!(out, "{:21}{}: {help}", "", paint.help("help"))?;
        }
    }
    Ok(())
}
