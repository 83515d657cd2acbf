use counterfoil_admission::{
    Admission, AdmissionOptions, CallReport, IssueSeverity, RejectionLog, rejection_text as text_of,
};
use counterfoil_guard::Redactor;
use counterfoil_model::{Arguments, ToolCall};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

use crate::check::catalog;
use crate::failure::failed;

/// Checks calls against a list of tools before they run, and counts the calls it rejects.
#[pyclass(frozen, name = "Admission", module = "counterfoil._counterfoil")]
pub(crate) struct PyAdmission {
    compiled: Admission,
    log: Mutex<RejectionLog>,
    redactor: Redactor,
    /// The problems with the tool definitions.
    #[pyo3(get)]
    issues: Vec<String>,
}

#[pymethods]
impl PyAdmission {
    #[new]
    #[pyo3(signature = (tools, options="{}"))]
    fn new(py: Python<'_>, tools: &str, options: &str) -> PyResult<Self> {
        let catalog = catalog(tools)?;
        let options: AdmissionOptions = serde_json::from_str(options).map_err(failed)?;
        let (compiled, issues) = py.detach(|| Admission::compile(&catalog, options.resolve()));
        let issues = issues
            .iter()
            .filter(|issue| issue.severity == IssueSeverity::Block)
            .map(|issue| format!("tool `{}`: {}", issue.tool, issue.message))
            .collect();
        Ok(Self { compiled, log: Mutex::default(), redactor: Redactor::standard(), issues })
    }

    /// Checks a call and returns `{tool, valid, issues, corrected_arguments?}` as JSON. `time` is
    /// in milliseconds since the Unix epoch.
    #[pyo3(signature = (tool, arguments, time, model=None))]
    fn admit(
        &self,
        py: Python<'_>,
        tool: &str,
        arguments: &str,
        time: i64,
        model: Option<&str>,
    ) -> PyResult<String> {
        py.detach(|| {
            let arguments = Arguments::raw(arguments);
            let call = ToolCall { id: String::new(), tool: tool.to_owned(), arguments, line: 0 };
            let report = self.compiled.admit(&call, None);
            let redact = |text: &str| self.redactor.redact(text).into_owned();
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            log.record(time, model, &call.arguments, &report, &redact);
            drop(log);
            #[derive(Serialize)]
            struct Record<'r> {
                #[serde(flatten)]
                report: &'r CallReport,
                valid: bool,
                text: String,
                answer: String,
            }
            let (text, answer) = (report.to_string(), text_of(&report));
            let record = Record { valid: report.valid(), text, answer, report: &report };
            serde_json::to_string(&record).map_err(failed)
        })
    }

    /// Returns the number of rejections, `{total, by_code, by_tool, by_model, unknown_tools}`, as
    /// JSON.
    fn rejected(&self) -> PyResult<String> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_string(log.counts()).map_err(failed)
    }

    /// Returns the latest rejections, oldest first, as JSON.
    fn rejections(&self) -> PyResult<String> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<Value> = log.entries().map(|entry| json!(entry)).collect();
        serde_json::to_string(&all).map_err(failed)
    }
}
