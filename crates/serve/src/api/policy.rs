use std::path::PathBuf;

use counterfoil_guard::{RehearsalPlace, Replay, recorded_transcript};
use counterfoil_model::ExactValue;
use counterfoil_rules::rules;
use hyper::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dashboard::Dashboard;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// Number of latest sessions over which a policy is replayed if none is named.
const SESSIONS: usize = 20;

/// Maximum number of their events that are read.
const EVENTS: u64 = 40_000;

/// Maximum number of changes reported per replay.
const CHANGES: usize = 200;

/// The policy in force.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyItem {
    /// The configuration in force, as TOML.
    pub(crate) text: String,
    /// The gates, in the order in which they run.
    pub(crate) gates: Vec<String>,
    /// The rules for an agent's claims and calls.
    pub(crate) rules: Vec<RuleItem>,
}

/// A rule and its mode.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RuleItem {
    /// The code.
    pub(crate) code: String,
    /// The name.
    pub(crate) name: String,
    /// What the rule finds, in one line.
    pub(crate) summary: String,
    /// `off`, `shadow`, `warn` or `block`.
    pub(crate) mode: String,
}

/// A policy to try out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayBody {
    /// A complete configuration file.
    pub(crate) policy: String,
    /// The session to replay; the latest ones if absent.
    #[serde(default)]
    pub(crate) session: Option<String>,
}

/// What another policy would have decided.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReplayItem {
    /// The replayed sessions.
    pub(crate) sessions: Vec<String>,
    /// Number of calls judged by both policies.
    pub(crate) calls: usize,
    /// Number of calls whose arguments are not a JSON object.
    pub(crate) unreadable: usize,
    /// Number of calls on which the two differ.
    pub(crate) changed: usize,
    /// The first 200 of these.
    pub(crate) changes: Vec<ChangeItem>,
}

/// A call on which the two policies differ.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangeItem {
    /// The session.
    pub(crate) session: String,
    /// The tool.
    pub(crate) tool: String,
    /// The arguments.
    #[schemars(with = "serde_json::Value")]
    pub(crate) arguments: ExactValue,
    /// The decision of the policy in force: `allow`, `ask` or `deny`.
    pub(crate) before: String,
    /// The decision of the other policy.
    pub(crate) after: String,
    /// The reasons of the other policy, or the reasons that no longer apply.
    pub(crate) why: Vec<String>,
}

/// The policy in force.
pub(crate) fn in_force(
    dashboard: &Dashboard,
    _: &VisitorRequest,
) -> Result<PolicyItem, HttpProblem> {
    let read = dashboard.policy(None).map_err(unusable)?;
    let gates = read.gates.ids().into_iter().map(|id| id.to_string()).collect();
    Ok(PolicyItem { text: read.text, gates, rules: in_mode(dashboard) })
}

/// All rules with their modes.
pub(crate) fn in_mode(dashboard: &Dashboard) -> Vec<RuleItem> {
    let settings = dashboard.guard().rules();
    let item = |meta: &counterfoil_rules::Meta| RuleItem {
        code: meta.code.0.to_owned(),
        name: meta.name.to_owned(),
        summary: meta.summary.to_owned(),
        mode: settings.mode(meta).name().to_owned(),
    };
    rules().map(|rule| item(rule.meta())).collect()
}

/// The configuration was changed since this process started, and is now invalid.
fn unusable(why: String) -> HttpProblem {
    HttpProblem::new(StatusCode::CONFLICT, format!("the configuration is invalid: {why}"))
}

/// Judges recorded calls by the policy in force and by another one.
pub(crate) fn replay(dashboard: &Dashboard, body: &ReplayBody) -> Result<ReplayItem, HttpProblem> {
    let new = dashboard.policy(Some(&body.policy)).map_err(|why| {
        HttpProblem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the policy is invalid: {why}"))
    })?;
    let old = dashboard.policy(None).map_err(unusable)?;
    let sessions = sessions(dashboard, body.session.as_deref())?;
    let workspace = PathBuf::from(dashboard.guard().workspace());
    let place = RehearsalPlace { workspace, ..RehearsalPlace::default() };
    let mut replay = Replay::default();
    for session in &sessions {
        if let Some(transcript) = recorded_transcript(dashboard.ledger(), session)? {
            replay.add(&transcript, "", [&old.gates, &new.gates], &place);
        }
    }
    let changed = replay.changes.len();
    let changes = replay.changes.into_iter().take(CHANGES).map(|change| ChangeItem {
        session: change.session,
        tool: change.tool,
        arguments: change.arguments,
        before: change.before.to_owned(),
        after: change.after.to_owned(),
        why: change.why,
    });
    let (calls, unreadable) = (replay.calls, replay.unreadable);
    Ok(ReplayItem { sessions, calls, unreadable, changed, changes: changes.collect() })
}

/// The sessions over which to replay a policy.
fn sessions(dashboard: &Dashboard, named: Option<&str>) -> Result<Vec<String>, HttpProblem> {
    let index = dashboard.known();
    if let Some(name) = named {
        let found = index.session(name).map(|session| vec![session.id.clone()]);
        return found
            .ok_or_else(|| HttpProblem::missing(format!("the ledger has no session `{name}`")));
    }
    let (mut left, mut wanted) = (EVENTS, Vec::new());
    for session in index.sessions().iter().rev().take(SESSIONS) {
        match left.checked_sub(session.events) {
            Some(rest) => left = rest,
            None if wanted.is_empty() => left = 0,
            None => break,
        }
        wanted.push(session.id.clone());
    }
    Ok(wanted)
}
