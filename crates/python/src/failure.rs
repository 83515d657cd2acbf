use std::fmt::Display;

use pyo3::prelude::*;

/// Creates the package's exception, `CounterfoilError(message, help)`.
pub(crate) fn failure(message: impl Display, help: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("counterfoil._errors")
            .and_then(|module| module.getattr("CounterfoilError"))
            .and_then(|class| class.call1((message.to_string(), help)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// Like `failure`, without help.
pub(crate) fn failed(message: impl Display) -> PyErr {
    failure(message, None)
}
