//! Judges recorded calls by two policies and reports the differences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use counterfoil_ledger::{Phase, Requested, TrustLevel};
use counterfoil_model::{ExactValue, Message, Role, Tool, ToolCall, Transcript, without_hidden};
use counterfoil_tools::Scene;
use serde::Serialize;
use serde_json::Value;

use crate::explained::{deciding_reasons, verdict_word, verdicts_json};
use crate::gate::Gates;
use crate::named::named;

/// The surroundings in which recorded calls are judged again.
#[derive(Debug, Clone, Default)]
pub struct RehearsalPlace {
    /// How far the turn is trusted.
    pub trust: TrustLevel,
    /// The phase of the agent's cycle in which the call is made.
    pub phase: Phase,
    /// The sub-agent that calls, overriding the recorded one.
    pub caller: Option<String>,
    /// The root of the project.
    pub workspace: PathBuf,
    /// Variables that the host passes on.
    pub environment: BTreeMap<String, String>,
}

/// What a session has done before a call.
#[derive(Debug, Clone, Default)]
pub struct SessionPast {
    /// The number of calls.
    pub calls_made: u64,
    /// Tools that succeeded.
    pub completed: BTreeSet<String>,
    /// All tools of the session.
    pub tools: BTreeSet<String>,
    /// The tools that the latest user message names.
    pub mentioned: BTreeSet<String>,
}

impl RehearsalPlace {
    /// The scene of one call. `caller` is the recorded one, if any.
    #[must_use]
    pub fn scene<'s>(&'s self, past: &'s SessionPast, caller: Option<&'s str>) -> Scene<'s> {
        Scene {
            session: "rehearsal",
            phase: self.phase,
            trust: self.trust,
            caller: self.caller.as_deref().or(caller),
            model: None,
            requested: Requested::ByModel,
            workspace: &self.workspace,
            environment: &self.environment,
            calls_made: past.calls_made,
            completed: &past.completed,
            tools: &past.tools,
            mentioned: &past.mentioned,
            recent: &[],
            claim_source: None,
            trace: None,
            tainted_by: None,
            now: 0,
        }
    }
}

/// A call on which the two policies differ.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayChange {
    /// The log that the session was read from; empty for the ledger.
    pub log: String,
    /// The 1-based line in that log; 0 if unknown.
    pub line: usize,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: ExactValue,
    /// The old policy's decision: `allow`, `ask` or `deny`.
    pub before: &'static str,
    /// The new policy's decision.
    pub after: &'static str,
    /// The verdict of every gate of the new policy.
    pub gates: Value,
    /// The reasons of the new policy, or those of the old one that no longer apply.
    #[serde(skip)]
    pub why: Vec<String>,
}

/// The result of judging calls by both policies.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// The number of calls.
    pub calls: usize,
    /// The number of calls whose arguments are not a JSON object.
    pub unreadable: usize,
    /// The calls on which the two policies differ.
    pub changes: Vec<ReplayChange>,
}

impl Replay {
    /// Judges every call of a session in order, by the old policy and the new one, each with what
    /// the session had done before it.
    pub fn add(
        &mut self,
        transcript: &Transcript,
        log: &str,
        policies: [&Gates; 2],
        place: &RehearsalPlace,
    ) {
        let mut past = SessionPast::default();
        let called = transcript.messages.iter().flat_map(|message| &message.calls);
        let named = called.map(|call| call.tool.clone());
        past.tools = transcript.catalog.iter().map(|tool| tool.name.clone()).chain(named).collect();
        let mut open: BTreeMap<&str, &str> = BTreeMap::new();
        for message in &transcript.messages {
            past.hear(message, &mut open);
            for call in &message.calls {
                self.calls += 1;
                let tool = transcript.catalog.get(&call.tool).cloned();
                let tool = tool.unwrap_or_else(|| Tool::named(&call.tool));
                let scene = place.scene(&past, message.agent.as_deref());
                match difference(call, &tool, &scene, policies) {
                    Ok(Some(change)) => self.changes.push(ReplayChange {
                        log: log.to_owned(),
                        session: transcript.id.clone(),
                        ..change
                    }),
                    Ok(None) => {}
                    Err(_) => self.unreadable += 1,
                }
                past.calls_made += 1;
                open.insert(&call.id, &call.tool);
            }
        }
    }
}

impl SessionPast {
    /// Updates the past with what a message says and which calls it answers.
    fn hear<'m>(&mut self, message: &'m Message, open: &mut BTreeMap<&'m str, &'m str>) {
        for outcome in &message.outcomes {
            let succeeded = outcome.is_error != Some(true)
                && !outcome.refused
                && !outcome.running
                && !outcome.unread
                && outcome.exit_code.is_none_or(|code| code == 0);
            if let Some(tool) = open.remove(outcome.call_id.as_str()).filter(|_| succeeded) {
                self.completed.insert(tool.to_owned());
            }
        }
        if message.role == Role::User && !message.text.is_empty() {
            self.mentioned = named(&message.text, self.tools.iter());
        }
    }
}

fn difference(
    call: &ToolCall,
    tool: &Tool,
    scene: &Scene<'_>,
    [old, new]: [&Gates; 2],
) -> Result<Option<ReplayChange>, crate::gate::RehearseError> {
    let (before, after) = (old.rehearse(call, tool, scene)?, new.rehearse(call, tool, scene)?);
    let (was, is) = (verdict_word(&before), verdict_word(&after));
    Ok((was != is).then(|| ReplayChange {
        log: String::new(),
        line: call.line,
        session: String::new(),
        tool: call.tool.clone(),
        arguments: without_hidden(call.clone()).arguments.exact().unwrap_or_default(),
        before: was,
        after: is,
        gates: verdicts_json(&after),
        why: deciding_reasons(if is == "allow" { &before } else { &after }),
    }))
}
