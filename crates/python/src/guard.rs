use std::collections::BTreeMap;
use std::sync::Arc;

use counterfoil_formats::read_tools;
use counterfoil_guard::{
    FileExecutor, Guard, GuardOptions, Sandbox, SessionStart, ShellExecutor, StateFolder,
    ToolExecutor as _, TrustLevel, WebExecutor,
};
use counterfoil_model::{Effects, Tool};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{failed, failure};
use crate::judge::PythonJudge;
use crate::process::{ProcessBound, runtime};
use crate::session::PySession;
use crate::waiting_calls::{CallerApprover, PythonTool, WaitingCalls};

/// The options of a guard, as JSON.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GuardRequest {
    /// The sections `tools`, `ledger`, `audit` and `agent` of `counterfoil.toml`.
    config: GuardOptions,
    state: Option<String>,
    workspace: Option<String>,
    /// The built-in executors to enable: `shell`, `file`, `web`.
    builtin: Vec<String>,
    /// The program that confines commands.
    program: Option<String>,
    /// Whether the program answers when a gate asks.
    asks: bool,
    /// Whether the program runs its tools itself, so that the guard has none to call.
    host: bool,
    /// The judge's name, if there is a judge.
    judge_name: Option<String>,
    /// The minimum confidence for the judge's opinion to count.
    judge_threshold: Option<f64>,
}

/// The single entry point for tool calls.
#[pyclass(frozen, name = "Guard", module = "counterfoil._counterfoil")]
pub(crate) struct PyGuard {
    guard: ProcessBound<Guard>,
    waiting: Arc<WaitingCalls>,
}

#[pymethods]
impl PyGuard {
    #[new]
    #[pyo3(signature = (request, judge=None))]
    fn new(py: Python<'_>, request: &str, judge: Option<Py<PyAny>>) -> PyResult<Self> {
        let request: GuardRequest = serde_json::from_str(request)
            .map_err(|error| failure(error, Some("the keys are those of docs/configuration.md")))?;
        py.detach(|| Self::made(request, judge))
    }

    /// Adds a function of the program as a tool, replacing a tool with the same name: `{name,
    /// description, parameters, effects?, asks?}` as JSON.
    fn add_tool(&self, tool: &str) -> PyResult<()> {
        let value: Value = serde_json::from_str(tool).map_err(failed)?;
        let tools = read_tools(&json!([value])).map_err(failed)?;
        let mut tool: Tool =
            tools.into_iter().next().ok_or_else(|| failed("this is not a tool definition"))?;
        tool.effects = effects(value.get("effects"), tool.effects);
        let asks = value.get("asks").and_then(Value::as_str).map(str::to_owned);
        let made = PythonTool { tool, waiting: Arc::clone(&self.waiting), asks };
        let guard = self.guard.get()?;
        guard.unregister(&made.id());
        guard.register(made).map_err(failed)
    }

    /// Begins a session, or continues an earlier one.
    #[pyo3(signature = (id=None, model=None, trust=None, environment=BTreeMap::new()))]
    fn session(
        &self,
        py: Python<'_>,
        id: Option<String>,
        model: Option<String>,
        trust: Option<&str>,
        environment: BTreeMap<String, String>,
    ) -> PyResult<PySession> {
        let trust: TrustLevel = match trust {
            Some(word) => serde_json::from_value(json!(word)).map_err(failed)?,
            None => TrustLevel::default(),
        };
        let start = SessionStart { id, model, trust, environment, ..SessionStart::default() };
        py.detach(|| {
            let guard = self.guard.get()?;
            let session = guard.session(start).map_err(failed)?;
            Ok(PySession::new(session, Arc::clone(&self.waiting)))
        })
    }

    /// Returns the guard's tools as JSON.
    fn tools(&self) -> PyResult<String> {
        Ok(listed(self.guard.get()?.catalog().iter()))
    }

    /// Returns a receipt as JSON, or None if there is none with this id.
    fn receipt(&self, py: Python<'_>, execution_id: &str) -> PyResult<Option<String>> {
        py.detach(|| {
            let receipt = self.guard.get()?.ledger().receipt(execution_id).map_err(failed)?;
            receipt.map(|receipt| serde_json::to_string(&receipt).map_err(failed)).transpose()
        })
    }

    /// Returns the ids of the latest executions of one session or of all, newest first.
    #[pyo3(signature = (limit, session=None))]
    fn recent(&self, py: Python<'_>, limit: usize, session: Option<&str>) -> PyResult<Vec<String>> {
        py.detach(|| self.guard.get()?.ledger().recent(session, limit).map_err(failed))
    }

    /// Returns what the operator should know about the start.
    #[getter]
    fn notices(&self) -> PyResult<Vec<String>> {
        Ok(self.guard.get()?.notices().to_vec())
    }
}

impl PyGuard {
    fn made(request: GuardRequest, judge: Option<Py<PyAny>>) -> PyResult<Self> {
        runtime()?;
        let waiting = Arc::new(WaitingCalls::default());
        let folder = request.state.map(StateFolder::at);
        let settings = request.config.resolve().map_err(failed)?;
        let mut builder = Guard::builder();
        for kind in &request.builtin {
            builder = match kind.as_str() {
                "shell" => {
                    let program = request.program.as_deref().ok_or_else(|| {
                        failed(
                            "the program `counterfoil`, which confines commands, is not installed",
                        )
                    })?;
                    let mut sandbox = Sandbox::by_helper(program, &["__confine"]);
                    if let Some(folder) = &folder {
                        sandbox = sandbox.hiding(folder.path());
                    }
                    let shell = ShellExecutor::new(settings.shell.clone()).confined(sandbox);
                    builder.at_session_end(shell.session_end()).executor(shell)
                }
                "file" => {
                    let files = FileExecutor::new(settings.file.clone());
                    builder.executor(match &folder {
                        Some(folder) => files.protecting(folder.path()),
                        None => files,
                    })
                }
                "web" => builder.executor(WebExecutor::new(settings.web.clone())),
                other => return Err(failed(format!("`{other}` is not one of shell, file, web"))),
            };
        }
        if !request.host {
            builder = builder.growing();
        }
        if request.asks {
            builder = builder.approver(Arc::new(CallerApprover(Arc::clone(&waiting))));
        }
        if let Some(function) = judge {
            let name = request.judge_name.unwrap_or_else(|| "judge".to_owned());
            let judge = PythonJudge::live(function, name, request.judge_threshold);
            builder = builder.answer_judge(Arc::new(judge));
        }
        if let Some(folder) = folder {
            builder = builder.state(folder);
        }
        if let Some(workspace) = request.workspace {
            builder = builder.workspace(workspace);
        }
        let guard = builder.settings(settings).build().map_err(failed)?;
        Ok(Self { guard: ProcessBound::new(guard), waiting })
    }
}

/// Formats tools as JSON: `[{name, description, parameters}]`.
pub(crate) fn listed<'t>(tools: impl Iterator<Item = &'t Tool>) -> String {
    let tools = tools.map(|tool| {
        let parameters = tool.parameters.clone().unwrap_or_else(|| json!({ "type": "object" }));
        json!({ "name": tool.name, "description": tool.description, "parameters": parameters })
    });
    Value::Array(tools.collect()).to_string()
}

/// Completes the declared effects with those that are already known from the definition.
fn effects(declared: Option<&Value>, known: Effects) -> Effects {
    let flag = |name: &str| declared.and_then(|all| all.get(name)).and_then(Value::as_bool);
    Effects {
        reads: flag("reads").or(known.reads),
        writes: flag("writes").or(known.writes),
        network: flag("network").or(known.network),
        idempotent: flag("idempotent").or(known.idempotent),
        retrieves: flag("retrieves").or(known.retrieves),
    }
}
