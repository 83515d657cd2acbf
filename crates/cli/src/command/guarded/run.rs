use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use counterfoil_guard::{Answer, Guard, Receipt, Requested, Session, SessionStart, Surroundings};
use counterfoil_model::{Arguments as CallArguments, Status, Tool, ToolCall};
use counterfoil_tools::FilterConfidence;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::approver::{Asks, AtTerminal};
use crate::call_choices::{Trust, When};
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::global::Global;
use crate::guard::Making;
use crate::servers;
use crate::signals::interrupted;
use crate::surroundings::{environment, runtime};
use crate::terminal::Paint;

/// Make one tool call through the guard, which validates, judges, runs and records it
///
/// The result, as an agent would see it, goes to standard output; the outcome of the call, with its
/// receipt id, goes to standard error. If a gate requires approval, you are asked on the terminal.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil run shell -- cargo test
  counterfoil run read_file path=src/main.rs
  counterfoil run shell --args '{\"command\": \"cargo test\"}'
  counterfoil run shell --args @call.json --session fix-42 --json | jq .receipt
  echo '{\"command\": \"ls\"}' | counterfoil run shell --args -
  counterfoil run shell --args '{\"command\": \"make deploy\"}' --yes

Exit codes: 0 completed, 1 failed, denied, refused or cancelled, 2 usage or input error.")]
pub(crate) struct Arguments {
    /// The name of the tool; `counterfoil tools` lists all tools
    tool: String,
    /// Arguments of the tool, each as `KEY=VALUE`; the value is parsed as JSON unless the tool
    /// expects text
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    members: Vec<String>,
    /// After `--`: a command line, for tools that take one
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["args", "members"])]
    line: Vec<String>,
    /// The arguments as a JSON object; - reads them from standard input, @FILE from a file
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// Resume the session with this id, or start one with this id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Approve every call that requires approval; denied and blocked calls stay denied
    #[arg(long, short)]
    yes: bool,
    /// Print the whole answer as JSON, with the fields execution_id, status, category, result,
    /// stdout and stderr (of a command), filtered (if filters shortened it), warnings, nudge,
    /// receipt
    #[arg(long)]
    json: bool,
    /// Trust level of the call
    #[arg(long, value_name = "LEVEL", default_value = "provisional")]
    trust: Trust,
    /// Phase of the agent loop in which the call is made
    #[arg(long, value_name = "PHASE", default_value = "executor")]
    phase: When,
    /// The sub-agent that makes the call
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// The model that requested the call, stored in the record
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Treat the call as requested by an agent instead of by you: it can use only links that
    /// appeared earlier in the session, and commands can be undone
    #[arg(long)]
    from_agent: bool,
    /// The project's root, to which the call is confined [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let state = global.state()?.create()?;
    let folder = state.folder();
    let guard = Making {
        state: Some(state),
        approver: Some(Arc::new(Asks::new(AtTerminal, arguments.yes))),
        workspace: arguments.workspace.clone(),
        ..Making::new(&options)
    }
    .guard()?;
    let runtime = runtime()?;
    let reached = servers::offer(&guard, &options, Some(&folder), Some(&arguments.tool));
    if let Some(why) = runtime.block_on(reached)?.left_out.into_iter().next() {
        return Err(Complaint::new(why).into());
    }
    let call = ToolCall {
        id: String::new(),
        tool: arguments.tool.clone(),
        arguments: CallArguments::raw(&given(arguments, guard.catalog().get(&arguments.tool))?),
        line: 0,
    };
    let paint = Paint::for_errors();
    for notice in guard.notices() {
        writeln!(io::stderr(), "{}: {notice}", paint.help("note"))?;
    }
    let session = guard.session(start(arguments))?;
    let before = latest(&guard, &session)?;
    let requested = if arguments.from_agent { Requested::ByModel } else { Requested::ByUser };
    let around = Surroundings {
        requested,
        phase: arguments.phase.into(),
        caller: arguments.caller.clone(),
        ..Surroundings::default()
    };
    let ended = runtime.block_on(async {
        tokio::select! {
            answer = session.call(call, around) => Some(answer),
            () = interrupted() => None,
        }
    });
    let answer = ended.transpose()?;
    if answer.is_none() || arguments.session.is_none() {
        // Comes after whatever is still on its way to the ledger, and is signed.
        runtime.block_on(session.end())?;
    }
    // A thread may still wait for the answer to a question.
    runtime.shutdown_background();
    let id = match &answer {
        Some(answer) => Some(answer.execution_id.clone()),
        None => latest(&guard, &session)?.filter(|id| before.as_ref() != Some(id)),
    };
    let receipt = id.map(|id| guard.ledger().receipt(&id)).transpose()?.flatten();
    show(arguments, &session, answer.as_ref(), receipt.as_ref())
}

/// The session for the call.
fn start(arguments: &Arguments) -> SessionStart {
    SessionStart {
        id: arguments.session.clone(),
        model: arguments.model.clone(),
        parent: None,
        trust: arguments.trust.into(),
        environment: environment(),
        reported: false,
    }
}

/// Returns the arguments of the call, from any of the three ways to give them.
fn given(arguments: &Arguments, tool: Option<&Tool>) -> anyhow::Result<String> {
    let schema = |name: &str| tool.and_then(|t| t.parameters.as_ref()?.pointer(name));
    if !arguments.line.is_empty() {
        if schema("/properties/command").is_none() {
            let wrong = format!("`{}` does not accept a command line", arguments.tool);
            return Err(Complaint::new(wrong).help("pass its arguments as `KEY=VALUE`").into());
        }
        // A single word is used unchanged as a command line: `-- 'ls | wc -l'`.
        let line = match arguments.line.as_slice() {
            [line] => line.clone(),
            words => shlex::try_join(words.iter().map(String::as_str))?,
        };
        return Ok(json!({ "command": line }).to_string());
    }
    if arguments.members.is_empty() {
        return written(&arguments.args);
    }
    let mut members: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
    for member in &arguments.members {
        let Some((name, text)) = member.split_once('=') else {
            let wrong = format!("expected KEY=VALUE, got `{member}`");
            return Err(Complaint::new(wrong)
                .help("to pass a command line, put it after `--`")
                .into());
        };
        let declared = schema(&format!("/properties/{name}/type"));
        let text_wanted = declared.is_none_or(|declared| declared == "string");
        let value = serde_json::from_str(text).ok().filter(|_| !text_wanted);
        let value = value.map_or_else(|| to_raw_value(text), Ok)?;
        members.insert(name, value);
    }
    Ok(serde_json::to_string(&members)?)
}

/// Returns the arguments as they were written.
fn written(text: &str) -> anyhow::Result<String> {
    if text == "-" {
        let mut input = String::new();
        io::stdin().lock().read_to_string(&mut input).context("cannot read standard input")?;
        return Ok(input);
    }
    match text.strip_prefix('@') {
        Some(path) => {
            files::read_text(path).with_context(|| format!("cannot read the arguments from {path}"))
        }
        None => Ok(text.to_owned()),
    }
}

/// Returns the id of the session's latest receipt.
fn latest(guard: &Guard, session: &Session) -> anyhow::Result<Option<String>> {
    Ok(guard.ledger().recent(Some(session.id()), 1)?.into_iter().next())
}

fn show(
    arguments: &Arguments,
    session: &Session,
    answer: Option<&Answer>,
    receipt: Option<&Receipt>,
) -> anyhow::Result<Exit> {
    let status = match (answer, receipt) {
        (Some(answer), _) => answer.status,
        (None, Some(receipt)) => receipt.status,
        (None, None) => Status::Cancelled,
    };
    let mut out = io::stdout().lock();
    if arguments.json {
        let whole = whole(answer, receipt, status);
        writeln!(out, "{}", counterfoil_report::json_pretty(&whole))?;
    } else if let Some(answer) = answer {
        let (output, _) = answer.for_a_person();
        let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        // A result may contain control sequences, so they are escaped on a terminal but not in a
        // pipe.
        let text = match io::stdout().is_terminal() {
            true => counterfoil_report::visible_output(&output),
            false => Cow::Borrowed(output.as_ref()),
        };
        write!(out, "{text}{gap}")?;
        out.flush()?;
    }
    if !arguments.json {
        let paint = Paint::for_errors();
        for doubt in answer.iter().flat_map(|answer| &answer.warnings) {
            let (code, message) = (doubt.code, counterfoil_report::visible(&doubt.message));
            writeln!(io::stderr(), "{}: [{code}] {message}", paint.help("warning"))?;
        }
        for nudge in answer.iter().filter_map(|answer| answer.nudge.as_deref()) {
            let nudge = counterfoil_report::visible(nudge);
            writeln!(io::stderr(), "{}: {nudge}", paint.help("warning"))?;
        }
        writeln!(io::stderr(), "{}", line(session, answer, receipt, status))?;
        if let Some(failed) = answer.and_then(|answer| answer.for_a_person().1) {
            writeln!(io::stderr(), "  {}", counterfoil_report::visible(failed))?;
        }
    }
    Ok(if status == Status::Completed { Exit::Clean } else { Exit::Findings })
}

/// The answer with its receipt, as printed.
#[derive(Serialize)]
struct Whole<'a> {
    execution_id: Option<&'a String>,
    status: &'static str,
    category: Option<&'static str>,
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filtered: Option<FilterConfidence>,
    warnings: &'a [counterfoil_admission::Issue],
    /// A hint for a model that repeats itself.
    nudge: Option<&'a str>,
    receipt: Option<&'a Receipt>,
}

fn whole<'a>(
    answer: Option<&'a Answer>,
    receipt: Option<&'a Receipt>,
    status: Status,
) -> Whole<'a> {
    let result = answer.map(|answer| match &answer.structured {
        Some(structured) => structured.clone(),
        None => Value::from(answer.text.as_str()),
    });
    let id = answer.map(|a| &a.execution_id).or(receipt.map(|r| &r.execution_id));
    let category = answer.and_then(|a| a.category).or(receipt.and_then(|r| r.category));
    let printed = answer.and_then(|answer| answer.envelope.as_ref());
    Whole {
        execution_id: id,
        status: status.name(),
        category: category.map(|category| category.name()),
        result,
        stdout: printed.map(|printed| printed.stdout.as_str()),
        stderr: printed.map(|printed| printed.stderr.as_str()),
        filtered: answer.and_then(|answer| answer.filtered),
        warnings: answer.map(|answer| answer.warnings.as_slice()).unwrap_or_default(),
        nudge: answer.and_then(|answer| answer.nudge.as_deref()),
        receipt,
    }
}

/// Describes the outcome of the call on one line.
fn line(
    session: &Session,
    answer: Option<&Answer>,
    receipt: Option<&Receipt>,
    status: Status,
) -> String {
    let paint = Paint::for_errors();
    let word = match status {
        Status::Completed => paint.bold(status.name()),
        _ => paint.error(status.name()),
    };
    let mut text = word;
    let codes = answer.map(|answer| answer.codes.as_slice()).unwrap_or_default();
    if !codes.is_empty() {
        text += &format!(" ({})", codes.join(", "));
    }
    let duration = receipt.and_then(|receipt| receipt.duration_us).filter(|_| status.ran());
    if let Some(micros) = duration {
        text += &format!(" in {} ms", micros.div_ceil(1000));
    }
    text += &match receipt {
        Some(receipt) => format!(", receipt {}", paint.code(&receipt.execution_id)),
        None => " before anything ran".to_owned(),
    };
    text += &format!(", session {}", session.id());
    let needs_approval = answer.is_some_and(|answer| !answer.questions.is_empty());
    if needs_approval {
        let help = "approve the call on a terminal, or pass `--yes`";
        text += &format!("\n  {}: {help}", paint.help("help"));
    }
    text
}
