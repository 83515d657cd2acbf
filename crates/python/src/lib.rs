//! The extension module `counterfoil._counterfoil`: what the Python package stands on.
//!
//! Everything goes in and comes out as JSON, so that the shapes are those of the command line; the
//! package beside it (`python/counterfoil`) makes Python objects of them. Nothing here holds the
//! interpreter's lock while it works or waits, and nothing here calls Python from another thread:
//! functions of a program run where the program called. Only a judge of a guard is asked from a thread
//! of the guard.
//!
//! Deliberately not here: decisions. They are made by the crates below.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod admission;
mod call;
mod check;
mod execution_ids;
mod failure;
mod fixation;
mod guard;
mod judge;
mod process;
mod session;
mod tracked;
mod waiting_calls;

use pyo3::prelude::*;

#[pymodule]
mod _counterfoil {
    #[pymodule_export]
    use super::admission::PyAdmission;
    #[pymodule_export]
    use super::call::PyRunningCall;
    #[pymodule_export]
    use super::check::{check, check_file, rules};
    #[pymodule_export]
    use super::execution_ids::{executions_cited, generate_execution_id};
    #[pymodule_export]
    use super::fixation::PyFixation;
    #[pymodule_export]
    use super::guard::PyGuard;
    #[pymodule_export]
    use super::session::PySession;
    #[pymodule_export]
    use super::tracked::PyTracked;

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
