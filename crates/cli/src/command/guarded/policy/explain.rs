use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use counterfoil_admission::{CallReport, Issue};
use counterfoil_guard::{
    Asking, GateId, HostedCall, Reason, RehearsalPlace, SessionPast, Verdict, VerdictParts,
    verdict_word, verdicts_json,
};
use counterfoil_hooks::{Questions, asking};
use counterfoil_model::{
    Agent, Arguments as CallArguments, Catalog, ExactValue, Tool, ToolCall, take_hidden_out,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::shown::call_line;
use super::surroundings::Surroundings;
use crate::agents::AgentName;
use crate::catalog::read_catalog;
use crate::choices::{ShownWhole, WholeFormat};
use crate::config::{self, Options};
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::guard::{Making, settings_of_hook};
use crate::suggest::did_you_mean;
use crate::terminal::Paint;

/// Show what each gate would decide about a call, which rule applies and why
///
/// A tool of `counterfoil run` is judged as with `run --from-agent`, including its arguments. Any
/// other tool is judged only by its name, or by its definition if `--tools` has one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil policy explain --tool shell --args '{\"command\": \"rm -rf build\"}'
  counterfoil policy explain --tool write --args '{\"path\": \"src/a.rs\"}' --trust untrusted
  counterfoil policy explain --tool deploy --phase planner --caller research --format json
  counterfoil policy explain --agent claude-code --tool Bash --args '{\"command\": \"git push -f\"}'

Exit codes: 0 the call would run, 1 it would need approval or be denied, 2 usage or input error.")]
pub(super) struct Arguments {
    /// The name of the tool
    #[arg(long, value_name = "NAME")]
    tool: String,
    /// The arguments of the call, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// A file with the tool's definition, in OpenAI, Anthropic or MCP format
    #[arg(long, value_name = "FILE", env = "COUNTERFOIL_TOOLS")]
    tools: Option<PathBuf>,
    /// Judge the call as this coding agent's hook would, with its settings and tools
    #[arg(long, value_name = "AGENT", conflicts_with = "tools")]
    agent: Option<AgentName>,
    /// Assume that the user has turned off the agent's permission prompts (`bypassPermissions`)
    #[arg(long, requires = "agent")]
    without_questions: bool,
    /// Number of calls already made in the session
    #[arg(long, value_name = "N", default_value_t = 0)]
    calls_made: u64,
    /// Tools that have already succeeded in the session
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    completed: Vec<String>,
    #[command(flatten)]
    surroundings: Surroundings,
    #[command(flatten)]
    shown: ShownWhole,
}

pub(super) fn run(
    global: &Global,
    arguments: &Arguments,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let mut rehearsal = rehearse(global, arguments)?;
    // Arguments for the model's hidden thinking are not shown.
    let (call, only_thought) = take_hidden_out(rehearsal.call);
    rehearsal.call = call;
    if only_thought {
        let reason = Reason::only_thinking();
        rehearsal.verdicts = vec![(reason.gate, Verdict::Deny(reason))];
    }
    let verdicts = &rehearsal.verdicts;
    let outcome = match arguments.agent {
        Some(agent) => by_hook(global, agent.into(), arguments.without_questions, verdicts)?,
        None => verdict_word(verdicts),
    };
    match arguments.shown.format {
        WholeFormat::Json => write_json(&rehearsal, outcome, out)?,
        WholeFormat::Text => write_text(&rehearsal, outcome, arguments, out)?,
    }
    Ok(if matches!(outcome, "allow" | "note") { Exit::Clean } else { Exit::Findings })
}

fn write_json(rehearsal: &Rehearsal, outcome: &str, out: &mut impl Write) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Explained<'e> {
        version: u32,
        tool: &'e str,
        arguments: ExactValue,
        scene: Value,
        verdict: &'e str,
        tool_of_run: bool,
        gates: Value,
    }
    let scene = rehearsal.place.scene(&rehearsal.past, None);
    let answer = Explained {
        version: 1,
        tool: &rehearsal.tool.name,
        arguments: rehearsal.call.arguments.exact().unwrap_or_default(),
        scene: json!({
            "trust": scene.trust.name(),
            "phase": scene.phase.name(),
            "caller": scene.caller,
        }),
        verdict: outcome,
        tool_of_run: rehearsal.ours,
        gates: verdicts_json(&rehearsal.verdicts),
    };
    writeln!(out, "{}", counterfoil_report::json_pretty(&answer))?;
    Ok(())
}

fn write_text(
    rehearsal: &Rehearsal,
    outcome: &str,
    arguments: &Arguments,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let Rehearsal { tool, call, verdicts, place, past, ours, others } = rehearsal;
    let (paint, name, scene) =
        (Paint::for_output(arguments.shown.color), &tool.name, place.scene(past, None));
    writeln!(out, "{}", paint.bold(&call_line(name, call.arguments.as_str())))?;
    let caller = scene.caller.map_or("the main agent".to_owned(), |c| format!("`{c}`"));
    let (trust, phase) = (scene.trust.name(), scene.phase.name());
    writeln!(out, "caller: {caller}, turn: {trust}, phase: {phase}\n")?;
    show(verdicts, paint, out)?;
    let unknown = !ours && arguments.tools.is_none() && arguments.agent.is_none();
    let end = match (outcome, arguments.agent) {
        ("allow", None) if unknown => "no gate would object",
        ("allow", None) => "the call would run",
        ("allow", Some(_)) => "the hook would not object: the agent's own permissions decide",
        ("ask", _) => "the user would be asked for approval",
        ("note", _) => "the call would run, with a note: permission prompts are turned off",
        _ => "the call would be denied",
    };
    writeln!(out, "\n{}", paint.bold(end))?;
    let (note, known) = (paint.help("note"), || others.iter().map(String::as_str));
    if unknown {
        let more = did_you_mean(name, known());
        let more = more.unwrap_or_else(|| "pass its definition with `--tools FILE`".to_owned());
        writeln!(
            out,
            "{note}: Counterfoil itself has no tool `{name}`, so only its name was judged, as for \
             a tool of an MCP server; {more}"
        )?;
    }
    // Which tools an agent or an MCP server has is not known here.
    let foreign = |name: &str| arguments.agent.is_some() || name.contains("__");
    let strange =
        |name: &&String| !others.contains(name) && !past.tools.contains(*name) && !foreign(name);
    for name in arguments.completed.iter().filter(strange) {
        let meant = did_you_mean(name, known());
        let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
        writeln!(out, "{note}: `--completed` contains the unknown tool `{name}`{meant}")?;
    }
    Ok(())
}

/// Returns what an agent's hook makes of the verdicts; not every agent can ask its user.
fn by_hook(
    global: &Global,
    agent: Agent,
    without_questions: bool,
    verdicts: &[(GateId, Verdict)],
) -> anyhow::Result<&'static str> {
    let hooks = config::find(&global.place())?.options.hooks.resolve()?;
    let questions = if without_questions { Questions::SwitchedOff } else { Questions::SwitchedOn };
    let lasting = verdicts.iter().any(|(_, verdict)| match verdict {
        Verdict::Ask(question) => question.stake.is_lasting(),
        _ => false,
    });
    Ok(match (verdict_word(verdicts), asking(agent, questions, &hooks)) {
        ("ask", Asking::Person) => "ask",
        ("ask", Asking::SwitchedOff) if !lasting => "note",
        ("ask", _) => "deny",
        (word, _) => word,
    })
}

/// A call and the verdicts on it.
struct Rehearsal {
    tool: Tool,
    call: ToolCall,
    verdicts: Vec<(GateId, Verdict)>,
    place: RehearsalPlace,
    past: SessionPast,
    /// Whether it is a tool of `counterfoil run`.
    ours: bool,
    /// The tools of `counterfoil run`, if it is not one of them.
    others: Vec<String>,
}

/// Judges the call. A tool in the given list is judged only by the gates, because another program
/// runs it. Any other tool is judged as a tool of `counterfoil run`, including admission, if it is
/// one.
fn rehearse(global: &Global, arguments: &Arguments) -> anyhow::Result<Rehearsal> {
    let listed = match &arguments.tools {
        Some(path) => read_catalog(path.clone())?,
        None => Catalog::unknown(),
    };
    let options = config::find(&global.place())?.options;
    let call = ToolCall {
        id: String::new(),
        tool: arguments.tool.clone(),
        arguments: CallArguments::raw(&arguments.args),
        line: 0,
    };
    let place = arguments.surroundings.place();
    let mut past = SessionPast { calls_made: arguments.calls_made, ..SessionPast::default() };
    past.completed = arguments.completed.iter().cloned().collect();
    if let Some(agent) = arguments.agent {
        return by_an_agent(global, agent.into(), options, call, place, past);
    }
    let mut others = Vec::new();
    if listed.get(&arguments.tool).is_none() {
        let workspace = Some(place.workspace.clone());
        let state = global.state().ok();
        let making = Making { state, workspace, ..Making::new(&options) };
        let guard = making.rehearsing()?;
        others = guard.catalog().iter().map(|tool| tool.name.clone()).collect();
        past.tools = others.iter().cloned().collect();
        match guard.rehearse(call.clone()) {
            Ok(admitted) => {
                let scene = place.scene(&past, None);
                let mut verdicts = guard.gates().explain(&admitted, &scene);
                let refusal = guard.refusal(&admitted, &scene);
                verdicts.extend(refusal.map(|reason| (reason.gate, Verdict::Deny(reason))));
                let tool = admitted.tool().clone();
                return Ok(Rehearsal { tool, call, verdicts, place, past, ours: true, others });
            }
            Err(report) => {
                if let Some(tool) = guard.catalog().get(&arguments.tool).cloned() {
                    let verdicts = refused(&report);
                    return Ok(Rehearsal { tool, call, verdicts, place, past, ours: true, others });
                }
            }
        }
    }
    let tool = listed.get(&arguments.tool).cloned();
    let tool = tool.unwrap_or_else(|| Tool::named(&arguments.tool));
    past.tools = listed.iter().map(|tool| tool.name.clone()).chain([tool.name.clone()]).collect();
    let gates =
        crate::guard::gates(&options, global.state().ok().map(|state| state.folder()).as_ref())?;
    let verdicts = gates.rehearse(&call, &tool, &place.scene(&past, None)).map_err(|wrong| {
        Complaint::new(wrong.to_string()).help("pass arguments as `--args '{\"name\": \"value\"}'`")
    })?;
    Ok(Rehearsal { tool, call, verdicts, place, past, ours: false, others })
}

/// Judges the call with the gates of an agent's hook.
fn by_an_agent(
    global: &Global,
    agent: Agent,
    options: Options,
    call: ToolCall,
    mut place: RehearsalPlace,
    mut past: SessionPast,
) -> anyhow::Result<Rehearsal> {
    let tool = counterfoil_hooks::tool(agent, &call.tool);
    let hosted = HostedCall::new(call.clone(), tool.clone());
    let state = global.state().ok().map(|state| state.folder());
    let asks_model = options.tools.adversarial_policy.consults_model();
    let gates = settings_of_hook(agent, Some(&hosted), options, state.as_ref())?.gates().for_host();
    let gates = if asks_model { gates.with_judge() } else { gates }.build();
    past.tools.insert(tool.name.clone());
    if let Ok(home) = std::env::var("HOME") {
        place.environment.entry("HOME".to_owned()).or_insert(home);
    }
    let verdicts = gates.rehearse(&call, &tool, &place.scene(&past, None)).map_err(|wrong| {
        Complaint::new(wrong.to_string()).help("pass arguments as `--args '{\"name\": \"value\"}'`")
    })?;
    Ok(Rehearsal { tool, call, verdicts, place, past, ours: false, others: Vec::new() })
}

/// Turns the issues of admission into a verdict of a gate before the others.
fn refused(report: &CallReport) -> Vec<(GateId, Verdict)> {
    let gate = GateId("admission");
    let one = |issue: &Issue| {
        let help = issue.expected.as_ref().map(|expected| format!("expected: {expected}"));
        let message = issue.message.clone();
        let reason = Reason { gate, code: issue.code.0, message, matched: None, help };
        (gate, Verdict::Deny(reason))
    };
    report.blocking().map(one).collect()
}

fn show(verdicts: &[(GateId, Verdict)], paint: Paint, out: &mut impl Write) -> anyhow::Result<()> {
    for (gate, verdict) in verdicts {
        let parts = VerdictParts::new(verdict);
        let word = match parts.word {
            "deny" => paint.error("deny "),
            "ask" => paint.code("ask  "),
            _ => "allow".to_owned(),
        };
        let rule = parts.rule.map(|rule| format!("by `{rule}`"));
        let mut lines = parts.why.map(str::to_owned).into_iter().chain(rule);
        let first = lines.next().unwrap_or_default();
        writeln!(out, "{}", format!("  {:<12}{word}  {first}", gate.0).trim_end())?;
        for line in lines {
            writeln!(out, "{:21}{line}", "")?;
        }
        if let Some(help) = parts.help {
            writeln!(out, "{:21}{}: {help}", "", paint.help("help"))?;
        }
    }
    Ok(())
}
