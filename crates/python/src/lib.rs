//! The extension module `counterfoil._counterfoil`, on which the Python package is built.
//!
//! Inputs and outputs are JSON, in the same shapes as on the command line; the package in
//! `python/counterfoil` turns them into Python objects. Nothing here holds the interpreter's lock
//! while it works or waits, and nothing calls Python from another thread: a program's functions run
//! in the thread that made the call. The exception is a guard's judge, which is called from a
//! thread of the guard.
//!
//! Deliberately not here: decisions. The crates below make them.
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
