mod calls;

use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use counterfoil_admission::{
    Admission, AdmissionOptions, AdmissionSettings, CallReport, IssueSeverity, rejection_text,
};
use counterfoil_model::ToolCall;
use serde::Serialize;
use serde_json::json;

use self::calls::{Calls, Wrong};
use crate::catalog::read_catalog;
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::global::Global;

/// Check tool calls against a list of tools, before they are run
///
/// Reads calls as JSON objects: one per line, spread over several lines, or in a list. A call is
/// `{"name", "arguments"}`, an OpenAI `tool_call` (`{"id", "function": {"name", "arguments"}}`),
/// Anthropic `tool_use` (`{"id", "name", "input"}`) or MCP `tools/call` (`{"id", "params": {"name",
/// "arguments"}}`). Arguments may be an object or a JSON string. Prints one verdict per line, in
/// the same order.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// File with tool definitions in OpenAI, Anthropic or MCP format
    #[arg(long, value_name = "FILE", env = "COUNTERFOIL_TOOLS")]
    tools: PathBuf,
    /// File with the calls, or - for standard input
    #[arg(value_name = "CALLS", default_value = "-")]
    calls: PathBuf,
    /// Apply lossless corrections (such as "42" to 42), and print the corrected arguments
    #[arg(long)]
    coerce: bool,
    /// Warn about text arguments longer than this, for all parameters or for one (repeatable)
    #[arg(long, value_name = "[TOOL.PARAMETER=]CHARS")]
    longest_text: Vec<String>,
    /// The model that made the calls, included in the verdicts
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: VerdictFormat,
    /// Print a tool message for each rejected call, and nothing for valid calls
    #[arg(long, conflicts_with = "format")]
    as_tool_result: bool,
}

const AFTER: &str = "\
Examples:
  counterfoil validate --tools tools.json calls.jsonl
  echo '{\"name\": \"get_order\", \"arguments\": {\"id\": \"7\"}}' |
    counterfoil validate --tools tools.json --coerce --format text

Exit codes: 0 all calls are valid, 1 at least one call is rejected, 2 usage or input error.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerdictFormat {
    /// One JSON object per line.
    Json,
    /// One line per call, with one below it for each issue.
    Text,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let catalog = read_catalog(arguments.tools.clone())?;
    let settings = settings(arguments, options.tools.admission)?;
    let (admission, issues) = Admission::compile(&catalog, settings);
    let mut exit = Exit::Clean;
    for issue in &issues {
        let word = match issue.severity {
            IssueSeverity::Block => "error",
            _ if issue.code.0 == "UNCHECKED_KEYWORD" => "warning",
            _ => continue,
        };
        let (tools, tool, message) = (arguments.tools.display(), &issue.tool, &issue.message);
        writeln!(io::stderr(), "{word}: {tools}: tool `{tool}`: {message}")?;
        if issue.severity == IssueSeverity::Block {
            exit = Exit::Input;
        }
    }
    let named = arguments.calls.display();
    let calls =
        read(&arguments.calls).with_context(|| format!("cannot read the calls from {named}"))?;
    let mut out = BufWriter::new(io::stdout().lock());
    for call in Calls::new(&calls) {
        match call {
            Ok(call) => {
                let report = admission.admit(&call, None);
                if !report.valid() {
                    exit = exit.max(Exit::Findings);
                }
                show(arguments, &call, &report, &mut out)?;
            }
            Err(Wrong { line, message }) => {
                exit = Exit::Input;
                out.flush()?;
                writeln!(io::stderr(), "error: {named}:{line}: {message}")?;
            }
        }
    }
    out.flush()?;
    Ok(exit)
}

/// Reads all of a file, or of standard input.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        files::open(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Returns the settings of the configuration, overridden by the flags.
fn settings(
    arguments: &Arguments,
    mut options: AdmissionOptions,
) -> Result<AdmissionSettings, Complaint> {
    options.coerce |= arguments.coerce;
    for word in &arguments.longest_text {
        let (place, count) = word.rsplit_once('=').unwrap_or(("", word));
        let count: usize = count.parse().map_err(|_| {
            Complaint::new(format!("`{word}`: expected a number of characters, got `{count}`"))
                .help("write `--longest-text 20000` or `--longest-text write_file.content=200000`")
        })?;
        match place.rsplit_once('.') {
            None if place.is_empty() => options.longest_text = count,
            None => {
                let wrong = format!("`{place}` does not name a parameter");
                return Err(Complaint::new(wrong).help("write the parameter as TOOL.PARAMETER"));
            }
            Some((tool, parameter)) => {
                let of_tool = options.longest_text_of.entry(tool.to_owned()).or_default();
                of_tool.insert(parameter.to_owned(), count);
            }
        }
    }
    Ok(options.resolve())
}

fn show(
    arguments: &Arguments,
    call: &ToolCall,
    report: &CallReport,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if arguments.as_tool_result {
        if !report.valid() {
            let message = json!({
                "role": "tool",
                "tool_call_id": call.id,
                "content": rejection_text(report),
            });
            writeln!(out, "{message}")?;
        }
        return Ok(());
    }
    match arguments.format {
        VerdictFormat::Text => {
            writeln!(out, "{report}")?;
            if let Some(corrected) = &report.corrected_arguments {
                writeln!(out, "  corrected: {corrected}")?;
            }
        }
        VerdictFormat::Json => {
            #[derive(Serialize)]
            struct Record<'r> {
                line: usize,
                #[serde(skip_serializing_if = "str::is_empty")]
                id: &'r str,
                #[serde(skip_serializing_if = "Option::is_none")]
                model: Option<&'r str>,
                valid: bool,
                #[serde(flatten)]
                report: &'r CallReport,
            }
            let model = arguments.model.as_deref();
            let record =
                Record { line: call.line, id: &call.id, model, valid: report.valid(), report };
            writeln!(out, "{}", serde_json::to_string(&record)?)?;
        }
    }
    Ok(())
}
