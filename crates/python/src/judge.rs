use std::sync::Arc;

use counterfoil_guard::LiveJudge;
use counterfoil_judge::{Grading, Judge, Prompt, ReadingOptions, Reply};
use pyo3::prelude::*;

/// A Python function that asks a model: `(instructions, question) -> reply`. It is called from the
/// thread that checks, or from one of the guard's threads.
pub(crate) struct PythonJudge {
    function: Py<PyAny>,
    name: String,
}

impl PythonJudge {
    /// Creates a judge that asks this function; `name` appears in reports.
    pub(crate) fn live(function: Py<PyAny>, name: String, threshold: Option<f64>) -> LiveJudge {
        let mut grading = Grading::default();
        if let Some(threshold) = threshold {
            grading = Grading { threshold, lowest: grading.lowest.min(threshold) };
        }
        let options = ReadingOptions { grading, ..ReadingOptions::default() };
        LiveJudge::new(Arc::new(Self { function, name }), options)
    }
}

impl Judge for PythonJudge {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&self, prompt: &Prompt) -> Result<Reply, String> {
        let result = Python::attach(|py| {
            let reply = self.function.call1(py, (prompt.instructions, &prompt.question))?;
            reply.extract::<String>(py)
        });
        match result {
            Ok(text) => Ok(Reply { text, tokens: 0 }),
            Err(error) => Err(format!("`{}`: {error}", self.name)),
        }
    }
}
