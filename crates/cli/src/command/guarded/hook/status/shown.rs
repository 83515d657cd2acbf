//! The status, and its text for people.

use std::fmt::Write as _;

use counterfoil_report::{shorten, visible};
use serde::Serialize;
use serde_json::Value;

use super::installed::Installed;
use super::seen::{Gap, Judgement, Seen, SessionSeen};
use crate::exit::Exit;
use crate::state::State;
use crate::terminal::Paint;

/// The maximum number of calls without a receipt listed for a session.
const LISTED: usize = 20;

/// Everything that is shown.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    pub(super) schema_version: u32,
    pub(super) version: &'static str,
    pub(super) state: StateStatus,
    pub(super) agents: Vec<AgentStatus>,
    /// Sessions compared with the ledger.
    pub(super) coverage: Vec<SessionSeen>,
}

/// The folder in which hooks record.
#[derive(Debug, Serialize)]
pub(super) struct StateStatus {
    pub(super) folder: String,
    /// Why nothing can be recorded there, if so.
    pub(super) problem: Option<String>,
}

impl StateStatus {
    pub(super) fn new(state: State) -> Self {
        let folder = state.folder().path().display().to_string();
        let problem = state.writable().err().map(|error| error.to_string());
        Self { folder, problem }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct AgentStatus {
    pub(super) agent: &'static str,
    pub(super) installed: Vec<Installed>,
    /// Whether a plugin ran the hook in the newest session, and no settings contain it.
    pub(super) by_plugin: bool,
    /// The latest event of the compared sessions.
    pub(super) last_event: Option<Seen>,
    /// The latest judgement of an answer.
    pub(super) last_judgement: Option<Judgement>,
}

impl Status {
    pub(super) fn exit(&self, named: bool) -> Exit {
        let hooks = || self.agents.iter().flat_map(|agent| &agent.installed);
        let plugin = self.agents.iter().any(|agent| agent.by_plugin);
        let missing = named && hooks().next().is_none() && !plugin;
        let faulty = hooks().any(|hook| !hook.problems.is_empty());
        let gaps = self.coverage.iter().any(|session| session.gaps().next().is_some());
        let recorded = self.state.problem.is_none();
        if missing || faulty || gaps || !recorded { Exit::Findings } else { Exit::Clean }
    }
}

pub(super) fn text(status: &Status, paint: Paint) -> String {
    let mut out = String::new();
    if let Some(problem) = &status.state.problem {
        let label = paint.error("problem");
        let _ = writeln!(out, "{label}: nothing can be recorded: {}", visible(problem));
    }
    for agent in &status.agents {
        agent_text(agent, paint, &mut out);
    }
    let _ = writeln!(out, "{}", paint.bold("tool calls without a receipt"));
    if status.coverage.is_empty() {
        let _ = writeln!(out, "  no session log found");
    }
    for session in &status.coverage {
        session_text(session, paint, &mut out);
    }
    out
}

fn agent_text(agent: &AgentStatus, paint: Paint, out: &mut String) {
    let _ = writeln!(out, "{}", paint.bold(agent.agent));
    if agent.by_plugin {
        let _ = writeln!(
            out,
            "  the hook is not in any settings file; a plugin ran it in the newest session"
        );
    } else if agent.installed.is_empty() {
        let name = agent.agent;
        let _ = writeln!(out, "  not installed: run `counterfoil hook install {name}`");
    }
    for hook in &agent.installed {
        let what = hook.command.as_deref().map_or_else(String::new, |c| format!(": {c}"));
        let plugin = hook.command.is_none() && hook.problems.is_empty();
        let what = if plugin { ": installed by the plugin".to_owned() } else { what };
        let _ = writeln!(out, "  {:<8} {}{}", hook.scope, hook.file, visible(&what));
        for problem in &hook.problems {
            let _ = writeln!(out, "           {}: {}", paint.error("problem"), visible(problem));
        }
    }
    match &agent.last_event {
        Some(seen) => {
            let session = visible(&seen.session);
            let _ = writeln!(out, "  last event {}: {}, session {session}", seen.time, seen.event);
        }
        None => {
            let _ = writeln!(out, "  no events from its sessions");
        }
    }
    if let Some(judgement) = &agent.last_judgement {
        judgement_text(judgement, out);
    }
}

fn judgement_text(judgement: &Judgement, out: &mut String) {
    let Judgement { time, findings, .. } = judgement;
    let findings = findings.as_array().map(Vec::as_slice).unwrap_or_default();
    let count = match findings.len() {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        many => format!("{many} findings"),
    };
    let _ = writeln!(out, "  last judgement {time}: {count}");
    for finding in findings {
        let word = |name: &str| finding.get(name).and_then(Value::as_str).unwrap_or_default();
        let message = visible(word("message")).into_owned();
        let _ = writeln!(out, "    {} {}", word("code"), shorten(&message, 200));
    }
}

/// The numbers of calls of each kind.
struct Counts {
    calls: usize,
    with_receipt: usize,
    without: usize,
    earlier: usize,
    refused: usize,
}

impl Counts {
    fn text(&self, paint: Paint) -> String {
        let Self { calls, with_receipt, without, earlier, refused } = self;
        let without = match without {
            0 => "0 without".to_owned(),
            many => paint.error(&format!("{many} without")),
        };
        let refused = match refused {
            0 => String::new(),
            many => format!(", {many} refused by the agent itself"),
        };
        format!(
            "{calls} calls, {with_receipt} with a receipt, {without}, {earlier} from before the \
             hook was active{refused}"
        )
    }
}

fn session_text(session: &SessionSeen, paint: Paint, out: &mut String) {
    let SessionSeen { calls, with_receipt, before_the_hook, uncovered, .. } = session;
    let counts = Counts {
        calls: *calls,
        with_receipt: *with_receipt,
        without: uncovered.len(),
        earlier: *before_the_hook,
        refused: session.refused_by_the_agent,
    };
    let _ =
        writeln!(out, "  {} {}: {}", session.agent, visible(&session.session), counts.text(paint),);
    if let Some(helpers) = &session.subagents {
        let counts = Counts {
            calls: helpers.calls,
            with_receipt: helpers.with_receipt,
            without: helpers.uncovered.len(),
            earlier: helpers.before_the_hook,
            refused: helpers.refused_by_the_agent,
        };
        let _ = writeln!(out, "    sub-agents ({} logs): {}", helpers.logs, counts.text(paint));
    }
    if session.gaps().next().is_some() {
        let _ = writeln!(out, "    {}", session.file);
    }
    for Gap { tool, call_id, time, line, subagent } in session.gaps().take(LISTED) {
        let time = time.as_deref().unwrap_or("(no time)");
        let by = subagent.as_deref().map_or_else(String::new, |name| format!(", by {name}"));
        let what = format!("{tool} {call_id}{by}");
        let _ = writeln!(out, "    line {line:<6} {time}  {}", visible(&what));
    }
    if let Some(more) = session.gaps().count().checked_sub(LISTED).filter(|more| *more > 0) {
        let _ = writeln!(out, "    and {more} more: `--format json` lists all");
    }
}
