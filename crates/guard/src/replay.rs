//! Recorded calls, judged by two policies: what changes from one to the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use counterfoil_ledger::{Phase, Requested, TrustLevel};
use counterfoil_model::{ExactValue, Message, Role, Tool, ToolCall, Transcript};
use counterfoil_redact::without_hidden;
use counterfoil_tools::Scene;
use serde::Serialize;
use serde_json::Value;

use crate::explained::{deciding_reasons, verdict_word, verdicts_json};
use crate::gate::Gates;

/// Surroundings in which a recorded call is judged again.
#[derive(Debug, Clone, Default)]
pub struct RehearsalPlace {
    /// How far the turn is trusted.
    pub trust: TrustLevel,
    /// When in the agent's cycle the call is made.
    pub phase: Phase,
    /// The sub-agent that calls, whoever is recorded.
    pub caller: Option<String>,
    /// The project's root.
    pub workspace: PathBuf,
    /// Variables that the host passes on.
    pub environment: BTreeMap<String, String>,
}

/// What a session has done up to a call.
#[derive(Debug, Clone, Default)]
pub struct SessionPast {
    /// Calls.
    pub calls_made: u64,
    /// Tools that succeeded.
    pub completed: BTreeSet<String>,
    /// Every tool that there was.
    pub tools: BTreeSet<String>,
    /// Those that the user named last.
    pub mentioned: BTreeSet<String>,
}

impl RehearsalPlace {
    /// The scene of one call. `caller` is the one that is recorded, if any.
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

/// One call on which two policies differ.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayChange {
    /// Where the session was read from; empty for the ledger.
    pub log: String,
    /// 1-based line there; 0 when unknown.
    pub line: usize,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: ExactValue,
    /// What the old policy says: `allow`, `ask` or `deny`.
    pub before: &'static str,
    /// What the new one says.
    pub after: &'static str,
    /// What every gate of the new one says.
    pub gates: Value,
    /// Why: the reasons of the new one, or those that no longer hold.
    #[serde(skip)]
    pub why: Vec<String>,
}

/// Everything that was judged by both.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// Calls.
    pub calls: usize,
    /// Those with arguments that are not a JSON object.
    pub unreadable: usize,
    /// Those on which the two differ.
    pub changes: Vec<ReplayChange>,
}

impl Replay {
    /// Judges every call of a session in its order, each with what the session had done until
    /// then, by the old policy and the new one.
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
    /// Takes note of what a message says and which calls it answers.
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
            let mentioned = self.tools.iter().filter(|tool| message.text.contains(*tool));
            self.mentioned = mentioned.cloned().collect();
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
