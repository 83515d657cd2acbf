use std::sync::{Mutex, TryLockError};
use std::thread::yield_now;

use pyo3::prelude::*;
use tokio::runtime::Runtime;

use crate::failure::{failed, failure};

const FORKED: &str =
    "start processes with `spawn` or `forkserver`, or create a guard in each child";

/// A value whose threads belong to the process that created it. A forked child can neither use nor
/// drop it, because the threads exist only in the parent.
pub(crate) struct ProcessBound<T> {
    value: Option<T>,
    process: u32,
}

impl<T> ProcessBound<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// Returns an error in a process forked from the one that created the value.
    pub(crate) fn get(&self) -> PyResult<&T> {
        let here = self.process == std::process::id();
        self.value.as_ref().filter(|_| here).ok_or_else(|| {
            failure("this object was created in the parent process, before the fork", Some(FORKED))
        })
    }
}

impl<T> Drop for ProcessBound<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.value.take());
        }
    }
}

/// Returns the runtime of this process. Each thread that waits for a future drives it itself.
pub(crate) fn runtime() -> PyResult<&'static Runtime> {
    static MADE: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let process = std::process::id();
    // A child may have been forked while the lock was held; then it is never released.
    for _ in 0..10_000 {
        let mut made = match MADE.try_lock() {
            Ok(made) => made,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                yield_now();
                continue;
            }
        };
        if let Some((_, runtime)) = made.filter(|(made_by, _)| *made_by == process) {
            return Ok(runtime);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("counterfoil")
            .enable_all()
            .build()
            .map_err(failed)?;
        let runtime: &'static Runtime = Box::leak(Box::new(runtime));
        *made = Some((process, runtime));
        return Ok(runtime);
    }
    Err(failure("this process was forked while Counterfoil was starting", Some(FORKED)))
}

/// Blocks this thread until the future is ready.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> PyResult<T> {
    Ok(runtime()?.block_on(future))
}
