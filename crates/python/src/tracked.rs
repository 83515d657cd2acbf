use std::sync::{Mutex, PoisonError};

use counterfoil_guard::Tracked;
use counterfoil_model::ToolErrorCategory;
use pyo3::prelude::*;
use serde_json::Value;

use crate::failure::failed;
use crate::process::{ProcessBound, wait};

/// An execution that the program performs itself. Dropping it records `cancelled`.
#[pyclass(frozen, name = "Tracked", module = "counterfoil._counterfoil")]
pub(crate) struct PyTracked {
    opened: ProcessBound<Mutex<Option<Tracked>>>,
    #[pyo3(get)]
    execution_id: String,
}

impl PyTracked {
    pub(crate) fn new(opened: Tracked) -> Self {
        let execution_id = opened.execution_id().to_owned();
        Self { opened: ProcessBound::new(Mutex::new(Some(opened))), execution_id }
    }

    fn take(&self) -> PyResult<Tracked> {
        let opened = self.opened.get()?.lock().unwrap_or_else(PoisonError::into_inner).take();
        opened.ok_or_else(|| failed(format!("`{}` has ended already", self.execution_id)))
    }
}

#[pymethods]
impl PyTracked {
    /// Records success with this result: text, or JSON.
    fn complete(&self, py: Python<'_>, result: &str, is_text: bool) -> PyResult<()> {
        let opened = self.take()?;
        py.detach(|| {
            let value = if is_text {
                Value::from(result)
            } else {
                serde_json::from_str(result).map_err(failed)?
            };
            wait(opened.complete(value))?.map_err(failed)
        })?;
        Ok(())
    }

    /// Records failure.
    fn fail(&self, py: Python<'_>, kind: &str, message: &str) -> PyResult<()> {
        let (opened, category) = (self.take()?, category(kind)?);
        py.detach(|| wait(opened.fail(category, message))?.map_err(failed))?;
        Ok(())
    }
}

/// Returns the error category with this name.
pub(crate) fn category(name: &str) -> PyResult<ToolErrorCategory> {
    let known = ToolErrorCategory::ALL.into_iter().find(|category| category.name() == name);
    known.ok_or_else(|| failed(format!("`{name}` is no category of failures")))
}
