use std::borrow::Cow;
use std::collections::BTreeMap;

use counterfoil_model::{Evidence, EvidenceSource, Role, Status, execution_ids};
use serde_json::Value;

use super::stated::cited;
use crate::facts::{Facts, excerpt};
use crate::tool_use::same;

/// An execution that can be cited by its id.
#[derive(Debug)]
pub(crate) struct Known<'t> {
    /// The id.
    pub(crate) id: String,
    /// The names of the tool that ran: the called tool and, for a meta-tool, the inner one.
    pub(crate) tools: Vec<Cow<'t, str>>,
    /// How the execution ended.
    pub(crate) status: Status,
    /// Milliseconds since the Unix epoch, if recorded.
    pub(crate) started: Option<i64>,
    /// The recorded result, if there is one.
    pub(crate) result: Option<Cow<'t, Value>>,
    /// The first message that can cite it.
    since: usize,
    line: usize,
}

impl Known<'_> {
    /// The execution as evidence, with a pointer into its result.
    pub(crate) fn evidence(&self, pointer: &str) -> Evidence {
        let text = match self.result.as_deref() {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.pointer(pointer).unwrap_or(value).to_string(),
            None => String::new(),
        };
        Evidence {
            source: EvidenceSource::Execution { execution_id: self.id.clone() },
            tool: self.tools.first().map(|tool| tool.clone().into_owned()),
            pointer: pointer.to_owned(),
            excerpt: excerpt(&text),
            line: self.line,
        }
    }
}

/// All executions that can be cited, and all ids that the agent may have seen.
#[derive(Debug)]
pub(crate) struct Register<'t> {
    known: BTreeMap<String, Known<'t>>,
    seen: BTreeMap<&'t str, usize>,
    mentioned: BTreeMap<&'t str, usize>,
    drafted: BTreeMap<&'t str, usize>,
    filed: BTreeMap<&'t str, usize>,
    tools: Vec<Cow<'t, str>>,
    shown_from: Option<usize>,
}

impl<'f> Register<'f> {
    /// Collects the receipts that came with the transcript, and the ids in results.
    pub(crate) fn new(facts: &'f Facts<'_>) -> Self {
        let transcript = facts.transcript();
        let mut register = Self {
            known: BTreeMap::new(),
            seen: BTreeMap::new(),
            mentioned: BTreeMap::new(),
            drafted: BTreeMap::new(),
            filed: BTreeMap::new(),
            tools: transcript.catalog.iter().map(|t| Cow::Borrowed(t.name.as_str())).collect(),
            shown_from: None,
        };
        for (at, message) in transcript.messages.iter().enumerate() {
            if matches!(message.role, Role::User | Role::System) {
                for (_, id) in execution_ids(&message.text) {
                    register.mentioned.entry(id.id).or_insert(at);
                }
            }
            for (_, id) in message.outcomes.iter().flat_map(|o| execution_ids(&o.text)) {
                // A result that repeats what the agent wrote shows nothing.
                if !register.drafted.contains_key(id.id) {
                    register.seen.entry(id.id).or_insert(at);
                }
            }
            for call in &message.calls {
                for (_, id) in execution_ids(call.arguments.as_str()) {
                    register.drafted.entry(id.id).or_insert(at);
                }
            }
        }
        register.read_results(facts);
        register.read_receipts(facts);
        register
    }

    fn read_results(&mut self, facts: &'f Facts<'_>) {
        let end = facts.transcript().messages.len();
        for (execution, deed) in facts.deeds_before(end) {
            for tool in [Cow::Borrowed(execution.tool()), deed.tool.clone()] {
                if !tool.is_empty() && !self.tools.contains(&tool) {
                    self.tools.push(tool);
                }
            }
            if deed.edits_files() {
                for (_, id) in execution_ids(execution.arguments()) {
                    self.filed.entry(id.id).or_insert(execution.called_at);
                }
            }
            let Some(since) = execution.answered_at else { continue };
            let Some((id, result)) = own_id(execution.text()) else { continue };
            self.shown_from = Some(self.shown_from.map_or(since, |first| first.min(since)));
            let mut tools = vec![Cow::Borrowed(execution.tool())];
            if deed.tool != execution.tool() {
                tools.push(deed.tool.clone());
            }
            tools.retain(|tool| !tool.is_empty());
            let known = Known {
                tools,
                status: deed.status(),
                started: counterfoil_model::ExecutionId::parse(&id).map(|id| id.millis),
                result: Some(Cow::Owned(result)),
                since,
                line: execution.outcome.map_or(0, |o| o.line),
                id: id.clone(),
            };
            self.known.insert(id, known);
        }
    }

    fn read_receipts(&mut self, facts: &'f Facts<'_>) {
        let mut answered: BTreeMap<&str, usize> = BTreeMap::new();
        for execution in facts.record().executions() {
            if let (Some(call), Some(at)) = (execution.call, execution.answered_at) {
                answered.insert(call.id.as_str(), at);
            }
        }
        for receipt in facts.transcript().receipts.iter().flatten() {
            let since = receipt.call_id.as_deref().and_then(|id| answered.get(id)).copied();
            if let Some(at) = since.filter(|_| receipt.id_shown) {
                self.shown_from = Some(self.shown_from.map_or(at, |first| first.min(at)));
            }
            let shown = self.known.remove(&receipt.id);
            let mut tools: Vec<Cow<'f, str>> = vec![Cow::Borrowed(receipt.tool.as_str())];
            tools.retain(|tool| !tool.is_empty());
            tools.extend(shown.iter().flat_map(|known| known.tools.iter().cloned()));
            let started = receipt.started.or_else(|| receipt.execution_id().map(|id| id.millis));
            let known = Known {
                id: receipt.id.clone(),
                tools,
                status: receipt.status,
                started,
                result: receipt
                    .result
                    .as_ref()
                    .map(Cow::Borrowed)
                    .or_else(|| shown.as_ref().and_then(|known| known.result.clone())),
                since: since.or(shown.as_ref().map(|known| known.since)).unwrap_or(0),
                line: shown.map_or(0, |known| known.line),
            };
            self.known.insert(receipt.id.clone(), known);
        }
    }

    /// An agent that cites receipts was shown their ids, even if the record keeps ids apart from the
    /// results: it has those of its other executions, too.
    pub(crate) fn learn<'i>(&mut self, turn: usize, mut cited: impl Iterator<Item = &'i str>) {
        let shown = |id: &str| {
            self.get(id, turn).is_some() && !self.is_mentioned(id, turn) && !self.is_seen(id, turn)
        };
        if cited.any(shown) {
            self.shown_from = Some(self.shown_from.map_or(turn, |first| first.min(turn)));
        }
    }

    /// The execution with this id, if it was known before message `turn`.
    pub(crate) fn get(&self, id: &str, turn: usize) -> Option<&Known<'f>> {
        self.known.get(id).filter(|known| known.since <= turn)
    }

    /// Whether the id occurs in a result before message `turn`.
    pub(crate) fn is_seen(&self, id: &str, turn: usize) -> bool {
        self.seen.get(id).is_some_and(|&at| at <= turn)
    }

    /// Whether the id occurs in what the user or the system said before message `turn`.
    pub(crate) fn is_mentioned(&self, id: &str, turn: usize) -> bool {
        self.mentioned.get(id).is_some_and(|&at| at <= turn)
    }

    /// Whether the agent itself wrote the id into the arguments of an earlier call.
    pub(crate) fn is_drafted(&self, id: &str, turn: usize) -> bool {
        self.drafted.get(id).is_some_and(|&at| at <= turn)
    }

    /// Whether the agent wrote the id into a file.
    pub(crate) fn is_filed(&self, id: &str, turn: usize) -> bool {
        self.filed.get(id).is_some_and(|&at| at <= turn)
    }

    /// Whether the agent had or called a tool of this name, spelled in any way.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| same(tool, name))
    }

    /// Whether the agent had or called a tool of exactly this name.
    pub(crate) fn has_exactly(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool == name)
    }

    /// The names of all tools that the agent had or called.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(AsRef::as_ref)
    }

    /// The tools that a text names exactly and as a whole word, in text order.
    pub(crate) fn named_in(&self, text: &str) -> Vec<(usize, &str)> {
        let within = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let whole = |at: usize, tool: &str| {
            let (before, after) = (text.get(..at), text.get(at + tool.len()..));
            before.is_some_and(|text| !text.ends_with(within))
                && after.is_some_and(|text| !text.starts_with(within))
        };
        let places = |tool: &'_ str| -> Vec<usize> {
            let places = text.match_indices(tool).map(|(at, _)| at);
            places.filter(|at| whole(*at, tool)).collect()
        };
        let mut found = Vec::new();
        for tool in &self.tools {
            found.extend(places(tool).into_iter().map(|at| (at, tool.as_ref())));
        }
        found.sort_unstable();
        found
    }

    /// Whether results carried ids before message `turn`, so that the agent could cite them.
    pub(crate) fn shows_ids(&self, turn: usize) -> bool {
        self.shown_from.is_some_and(|from| from <= turn)
    }
}

/// The id that a result carries as its own, embedded or in a trailer, and the result.
fn own_id(text: &str) -> Option<(String, Value)> {
    if !text.contains("execution_id") {
        return None;
    }
    if let Ok(Value::Object(members)) = serde_json::from_str::<Value>(text) {
        let id = members.get("execution_id")?.as_str()?.to_owned();
        return Some((id, Value::Object(members)));
    }
    let trimmed = text.trim_end();
    let (body, last) = trimmed.rsplit_once('\n').unwrap_or(("", trimmed));
    let mention = cited(last).ids.into_iter().find(|m| m.labelled)?;
    let trailer = last.trim().starts_with("(execution_id:") && last.trim().ends_with(')');
    if !trailer {
        return None;
    }
    let body = body.trim();
    let result = serde_json::from_str(body).unwrap_or_else(|_| Value::from(body));
    Some((mention.id, result))
}
