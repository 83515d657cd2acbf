use counterfoil_guard::{Randomness as _, SystemRandomness};
use counterfoil_model::ExecutionId;
use counterfoil_rules::cited_executions;
use pyo3::prelude::*;
use serde_json::json;

use crate::failure::failed;

/// Returns the citations of executions in a text, `{objects, ids}`, as JSON.
#[pyfunction]
pub(crate) fn executions_cited(py: Python<'_>, text: &str) -> String {
    py.detach(|| {
        let cited = cited_executions(text);
        json!({ "objects": cited.objects, "ids": cited.ids }).to_string()
    })
}

/// Generates an id for an execution of `tool` that begins at `millis` since the Unix epoch.
#[pyfunction]
pub(crate) fn generate_execution_id(tool: &str, millis: i64) -> PyResult<String> {
    let mut unique = [0; 4];
    SystemRandomness.fill(&mut unique).map_err(failed)?;
    Ok(ExecutionId::of_tool(tool, millis, u32::from_be_bytes(unique)))
}
