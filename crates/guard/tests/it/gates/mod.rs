//! Tests of the gates, individually and together.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod adversarial;
mod combining;
mod dependencies;
mod invariants;
mod pages;
mod permissions;
mod policies;
mod protected;
mod trust;
mod utility;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use counterfoil_guard::{
    Admitted, Clock, GateId, Gates, Judged, Phase, RecentCall, Requested, Scene, TrustLevel,
    Verdict,
};
use counterfoil_model::{Effects, Origin, Tool};
use serde_json::{Value, json};

/// Everything that a scene borrows.
#[derive(Debug, Clone)]
struct Situation {
    phase: Phase,
    trust: TrustLevel,
    caller: Option<String>,
    requested: Requested,
    environment: BTreeMap<String, String>,
    calls_made: u64,
    completed: BTreeSet<String>,
    tools: BTreeSet<String>,
    mentioned: BTreeSet<String>,
    recent: Vec<RecentCall>,
}

impl Default for Situation {
    fn default() -> Self {
        Self {
            phase: Phase::Executor,
            trust: TrustLevel::Provisional,
            caller: None,
            requested: Requested::ByModel,
            environment: BTreeMap::from([("HOME".to_owned(), "/home/dev".to_owned())]),
            calls_made: 0,
            completed: BTreeSet::new(),
            tools: ["shell", "read", "write"].map(str::to_owned).into(),
            mentioned: BTreeSet::new(),
            recent: Vec::new(),
        }
    }
}

impl Situation {
    fn trusted(trust: TrustLevel) -> Self {
        Self { trust, ..Self::default() }
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            session: "s1",
            phase: self.phase,
            trust: self.trust,
            caller: self.caller.as_deref(),
            model: None,
            requested: self.requested,
            workspace: Path::new("/project"),
            environment: &self.environment,
            calls_made: self.calls_made,
            completed: &self.completed,
            tools: &self.tools,
            mentioned: &self.mentioned,
            recent: &self.recent,
            claim_source: None,
            trace: None,
            tainted_by: None,
            now: 1_700_000_000_000,
        }
    }
}

fn call(tool: &str, arguments: Value) -> Arc<Admitted> {
    Arc::new(Admitted::for_tests(Tool::named(tool), arguments))
}

fn shell(command: &str) -> Arc<Admitted> {
    call("shell", json!({ "command": command }))
}

/// A built-in tool that changes nothing.
fn reading(name: &str) -> Tool {
    let effects = Effects { writes: Some(false), network: Some(false), ..Effects::default() };
    Tool { origin: Origin::Builtin, effects, ..Tool::named(name) }
}

/// The call, as one that ran earlier.
fn ran(call: &Admitted, outdated: bool) -> RecentCall {
    let values = call.arguments().as_object().unwrap().values().filter_map(Value::as_str);
    let words = values.flat_map(str::split_whitespace);
    RecentCall {
        execution_id: "look_1735999999123_00000001".to_owned(),
        tool: call.tool().name.clone(),
        digest: call.digest(),
        words: words.map(str::to_owned).collect(),
        succeeded: true,
        result_chars: 400,
        outdated,
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// `allow`, `ask` or `deny`, with the gates that decided.
fn outcome(judged: &Judged) -> String {
    let joined =
        |gates: Vec<GateId>| gates.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    match judged {
        Judged::Allowed { .. } => "allow".to_owned(),
        Judged::NeedsApproval(questions) => {
            format!("ask: {}", joined(questions.iter().map(|question| question.gate).collect()))
        }
        Judged::Denied(reasons) => {
            format!("deny: {}", joined(reasons.iter().map(|reason| reason.gate).collect()))
        }
    }
}

fn verdict_of(gates: &Gates, gate: &str, call: &Admitted, situation: &Situation) -> Verdict {
    let verdicts = gates.explain(call, &situation.scene());
    verdicts.into_iter().find(|(id, _)| id.0 == gate).unwrap().1
}

/// A clock that is advanced by hand.
#[derive(Debug, Default)]
struct HandClock {
    secs: AtomicU64,
}

impl HandClock {
    fn turn(&self, secs: u64) {
        self.secs.fetch_add(secs, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn wall(&self) -> i64 {
        0
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.secs.load(Ordering::SeqCst))
    }
}
