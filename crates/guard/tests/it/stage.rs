//! What tests of executors need: a scene, a call, and an executor that remembers.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use counterfoil_guard::{
    Admitted, ByApproval, ByPolicy, ExecutorId, ExecutorKind, Permit, Phase, Requested, Scene,
    ToolError, ToolExecutor, ToolOutput, TrustLevel,
};
use counterfoil_model::{Tool, ToolErrorCategory};
use serde_json::Value;

/// The surroundings of a test; change what matters.
pub(crate) struct Stage {
    pub(crate) workspace: PathBuf,
    pub(crate) trust: TrustLevel,
    pub(crate) environment: BTreeMap<String, String>,
    nothing: BTreeSet<String>,
}

impl Stage {
    pub(crate) fn at(workspace: &Path) -> Self {
        Self {
            workspace: workspace.to_owned(),
            trust: TrustLevel::Provisional,
            environment: BTreeMap::new(),
            nothing: BTreeSet::new(),
        }
    }

    pub(crate) fn scene(&self) -> Scene<'_> {
        Scene {
            session: "s1",
            phase: Phase::Executor,
            trust: self.trust,
            caller: None,
            model: None,
            requested: Requested::ByModel,
            workspace: &self.workspace,
            environment: &self.environment,
            calls_made: 0,
            completed: &self.nothing,
            tools: &self.nothing,
            mentioned: &self.nothing,
            recent: &[],
            claim_source: None,
            trace: None,
            tainted_by: None,
            now: 0,
        }
    }
}

pub(crate) fn call(tool: &str, arguments: Value) -> Admitted {
    Admitted::for_tests(Tool::named(tool), arguments)
}

pub(crate) fn permit(tool: &str, arguments: Value) -> Permit<ByPolicy> {
    Permit::<ByPolicy>::for_tests(call(tool, arguments), "exec_1")
}

pub(crate) fn approved(tool: &str, arguments: Value) -> Permit<ByApproval> {
    Permit::<ByApproval>::for_tests(call(tool, arguments), "exec_1", "somebody")
}

/// Runs a future to completion, with timers and without network.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Remembers what it was asked, and gives answers that cannot be guessed.
pub(crate) struct Recording {
    pub(crate) id: ExecutorId,
    pub(crate) tools: Mutex<Vec<&'static str>>,
    pub(crate) answer: Option<ToolOutput>,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

impl Recording {
    pub(crate) fn new(kind: ExecutorKind, name: &str, tools: &[&'static str]) -> Self {
        let answer = Some(ToolOutput::from(format!("answered by {name}")));
        let id = ExecutorId::new(kind, name);
        Self { id, tools: Mutex::new(tools.to_vec()), answer, log: Arc::default() }
    }

    fn note(&self, what: String) {
        self.log.lock().unwrap().push(format!("{}: {what}", self.id.name));
    }
}

impl ToolExecutor for Recording {
    fn id(&self) -> ExecutorId {
        self.id.clone()
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        self.tools.lock().unwrap().iter().map(|name| Tool::named(*name)).collect()
    }

    fn owns(&self, tool: &str) -> bool {
        self.note(format!("owns {tool}"));
        self.tools.lock().unwrap().contains(&tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.note(format!("execute {} in {}", permit.call().tool().name, scene.session));
        Ok(self.answer.clone())
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.note(format!("execute {} confirmed in {}", permit.call().tool().name, scene.session));
        Ok(self.answer.clone())
    }

    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        self.note(format!("confirm {} in {}", call.tool().name, scene.session));
        Some(format!("{} wants to be asked", self.id.name))
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.note(format!("refuse {} in {}", call.tool().name, scene.session));
        Some(ToolError::new(ToolErrorCategory::RateLimited, format!("{} is busy", self.id.name)))
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        self.note(format!("retryable {tool}"));
        true
    }

    fn is_tool_speculatable(&self, tool: &str) -> bool {
        self.note(format!("speculatable {tool}"));
        true
    }
}
