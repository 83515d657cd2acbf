use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a panic of its last holder.
pub(super) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
