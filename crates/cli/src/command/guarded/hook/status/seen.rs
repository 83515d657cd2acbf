//! Compares session logs with the ledger, to find what the hook did not see.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use counterfoil_formats::{Options as ReadOptions, read};
use counterfoil_guard::{Draft, Event, Ledger};
use counterfoil_hooks::{Agent, Coverage, Memory, Receipted, Uncovered, coverage};
use counterfoil_model::{Format, Transcript};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::agents::{Homes, logs};
use crate::config;
use crate::exit::Complaint;
use crate::global::Global;
use crate::guard::ledger;
use crate::inputs::Input;

/// The selected sessions.
pub(super) struct Wanted<'a> {
    /// Session ids; empty means all.
    pub(super) sessions: &'a [String],
    /// Log files named by the user.
    pub(super) files: &'a [PathBuf],
    /// The number of newest sessions per agent, if no log is named.
    pub(super) newest: usize,
}

/// One session and the events seen of it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SessionSeen {
    pub(super) agent: &'static str,
    pub(super) session: String,
    pub(super) file: String,
    /// When it began, in milliseconds since the Unix epoch, if the log says.
    #[serde(skip)]
    pub(super) began: Option<i64>,
    /// Tool calls in the log.
    pub(super) calls: usize,
    pub(super) with_receipt: usize,
    /// Calls without a receipt from before the first event seen of the session.
    pub(super) before_the_hook: usize,
    /// Calls without a receipt that the agent itself refused.
    pub(super) refused_by_the_agent: usize,
    /// Calls with two receipts, because two hooks answered each event.
    pub(super) recorded_twice: usize,
    pub(super) uncovered: Vec<Gap>,
    /// The calls of its sub-agents, if they have separate logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagents: Option<SubAgents>,
    pub(super) last_event: Option<Seen>,
    #[serde(skip)]
    pub(super) last_judgement: Option<Judgement>,
}

/// The calls of a session's sub-agents.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct SubAgents {
    /// The number of logs.
    pub(super) logs: usize,
    pub(super) calls: usize,
    pub(super) with_receipt: usize,
    pub(super) before_the_hook: usize,
    pub(super) refused_by_the_agent: usize,
    pub(super) uncovered: Vec<Gap>,
}

/// A tool call without a receipt.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Gap {
    pub(super) tool: String,
    pub(super) call_id: String,
    pub(super) time: Option<String>,
    pub(super) line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent: Option<String>,
}

/// An event in the ledger.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Seen {
    #[serde(skip)]
    pub(super) at: i64,
    pub(super) time: String,
    pub(super) session: String,
    pub(super) event: &'static str,
}

/// The judgement of an answer.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Judgement {
    #[serde(skip)]
    pub(super) at: i64,
    pub(super) time: String,
    pub(super) session: String,
    /// The findings as recorded in the ledger.
    pub(super) findings: Value,
}

/// The ledger, if there is one.
pub(super) struct Record(Option<Ledger>);

impl Record {
    pub(super) fn open(global: &Global) -> anyhow::Result<Self> {
        let state = global.state()?;
        let options = config::find(&global.place())?.options;
        if options.ledger.url.is_none() && !state.folder().ledger().exists() {
            return Ok(Self(None));
        }
        Ok(Self(Some(ledger(&state, &options)?)))
    }

    /// Returns the sessions in the named logs.
    pub(super) fn named(&self, wanted: &Wanted<'_>) -> anyhow::Result<Vec<SessionSeen>> {
        let mut sessions = Vec::new();
        for path in wanted.files {
            let transcripts = transcripts(path).map_err(|error| {
                Complaint::new(format!("`{}` cannot be read: {error}", path.display()))
            })?;
            for transcript in transcripts {
                let Some(agent) = agent_of(transcript.format) else {
                    let form = transcript.format.name();
                    return Err(Complaint::new(format!(
                        "`{}` has the log format {form}, which no agent that supports hooks writes",
                        path.display()
                    ))
                    .help("pass a log of claude-code, codex or gemini-cli")
                    .into());
                };
                if wanted.sessions.is_empty() || wanted.sessions.contains(&transcript.id) {
                    sessions.push(self.held(agent, path, &transcript, &[], None)?);
                }
            }
        }
        Ok(sessions)
    }

    /// Returns the newest sessions of an agent on this machine; `installed` is since when the
    /// user's settings have had the hook. Unreadable logs are left out.
    pub(super) fn newest(
        &self,
        homes: &Homes,
        agent: Agent,
        wanted: &Wanted<'_>,
        installed: Option<i64>,
    ) -> anyhow::Result<Vec<SessionSeen>> {
        let mut sessions = Vec::new();
        let all = logs(homes, agent);
        let count = if wanted.sessions.is_empty() { wanted.newest } else { all.len() };
        for log in all.into_iter().take(count) {
            // The file name contains at least the first characters of the id.
            let name = log.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let may_be = |id: &String| {
                let head: String = id.chars().take(8).collect();
                name.contains(&head)
            };
            if !wanted.sessions.is_empty() && !wanted.sessions.iter().any(may_be) {
                continue;
            }
            let helpers = log.of_sub_agents();
            for transcript in transcripts(&log.path).unwrap_or_default() {
                if wanted.sessions.is_empty() || wanted.sessions.contains(&transcript.id) {
                    sessions.push(self.held(agent, &log.path, &transcript, &helpers, installed)?);
                }
            }
        }
        Ok(sessions)
    }

    fn held(
        &self,
        agent: Agent,
        path: &Path,
        transcript: &Transcript,
        helpers: &[PathBuf],
        installed: Option<i64>,
    ) -> anyhow::Result<SessionSeen> {
        let events = match &self.0 {
            Some(ledger) => ledger.events(&transcript.id)?,
            None => Vec::new(),
        };
        let receipts: Vec<Receipted> = events.iter().filter_map(receipted).collect();
        let began = transcript.messages.iter().find_map(|message| message.time);
        // A session that began after the hook was installed should be seen from its start.
        let installed = installed.filter(|since| began.is_some_and(|began| began > *since));
        let heard = events.first().map(|event| event.at);
        let since = installed.into_iter().chain(heard).min();
        let found: Coverage = coverage(transcript, &receipts, since);
        let subagents = of_sub_agents(helpers, &receipts, since);
        let session = &transcript.id;
        Ok(SessionSeen {
            agent: agent.name(),
            session: session.clone(),
            file: path.display().to_string(),
            began,
            calls: found.calls,
            with_receipt: found.covered(),
            before_the_hook: found.earlier,
            refused_by_the_agent: found.refused,
            recorded_twice: twice(&receipts),
            subagents,
            last_event: events.last().map(|event| Seen {
                at: event.at,
                time: time(event.at),
                session: session.clone(),
                event: event.draft.name(),
            }),
            last_judgement: events.iter().rev().find_map(|event| match &event.draft {
                Draft::Judged { findings, .. } => Some(Judgement {
                    at: event.at,
                    time: time(event.at),
                    session: session.clone(),
                    findings: findings.clone(),
                }),
                _ => None,
            }),
            uncovered: found.uncovered.into_iter().map(Gap::from).collect(),
        })
    }
}

impl SessionSeen {
    /// Returns the calls that lack a receipt, including those of sub-agents.
    pub(super) fn gaps(&self) -> impl Iterator<Item = &Gap> {
        let helpers = self.subagents.iter().flat_map(|helpers| &helpers.uncovered);
        self.uncovered.iter().chain(helpers)
    }
}

impl From<Uncovered> for Gap {
    fn from(call: Uncovered) -> Self {
        Self {
            tool: call.tool,
            call_id: call.call_id,
            time: call.time.map(time),
            line: call.line,
            subagent: call.agent,
        }
    }
}

/// Counts the calls in the logs of sub-agents, whose receipts are in the main agent's session.
fn of_sub_agents(
    logs: &[PathBuf],
    receipts: &[Receipted],
    since: Option<i64>,
) -> Option<SubAgents> {
    let mut all = SubAgents::default();
    for log in logs {
        let name = log.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for transcript in transcripts(log).unwrap_or_default() {
            let found = coverage(&transcript, receipts, since);
            all.logs += 1;
            all.calls += found.calls;
            all.with_receipt += found.covered();
            all.before_the_hook += found.earlier;
            all.refused_by_the_agent += found.refused;
            let gaps = found.uncovered.into_iter().map(Gap::from);
            all.uncovered.extend(gaps.map(|gap| Gap { subagent: Some(name.clone()), ..gap }));
        }
    }
    (all.logs > 0).then_some(all)
}

/// Returns the number of calls with more than one receipt.
fn twice(receipts: &[Receipted]) -> usize {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for receipt in receipts.iter().filter(|receipt| !receipt.call_id.is_empty()) {
        *counts.entry(receipt.call_id.as_str()).or_default() += 1;
    }
    counts.values().filter(|count| **count > 1).count()
}

/// Whether a plugin ran the hook in the newest session.
pub(super) fn newest_is_by_plugin(memories: &Path, sessions: &[SessionSeen]) -> bool {
    let newest = sessions.iter().max_by_key(|session| session.began);
    newest.is_some_and(|session| Memory::is_by_plugin(memories, &session.session))
}

fn receipted(event: &Event) -> Option<Receipted> {
    let call = match &event.draft {
        Draft::Opened(opened) => opened,
        Draft::Rejected(rejected) => &rejected.call,
        _ => return None,
    };
    Some(Receipted { call_id: call.call_id.clone(), arguments: call.arguments_digest })
}

fn transcripts(path: &Path) -> anyhow::Result<Vec<Transcript>> {
    let input = Input::file(path);
    let mut found = Vec::new();
    let options = ReadOptions::new(input.name());
    read(input.open(|_| {})?, &options, &mut |reading| found.push(reading.transcript))?;
    Ok(found)
}

fn agent_of(format: Format) -> Option<Agent> {
    match format {
        Format::ClaudeCode => Some(Agent::ClaudeCode),
        Format::Codex => Some(Agent::Codex),
        Format::GeminiCli => Some(Agent::Gemini),
        _ => None,
    }
}

fn time(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
