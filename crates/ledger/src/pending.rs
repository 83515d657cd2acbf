use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::append::AppendError;

/// An answer that is under way. The work continues if this is dropped; only the answer is lost.
///
/// Await it, or call [`wait`](Self::wait) if there is no runtime.
#[derive(Debug)]
#[must_use = "until this is awaited, it is not known whether the event was written"]
pub struct Pending<T>(Inner<T>);

#[derive(Debug)]
enum Inner<T> {
    Ready(Option<Result<T, AppendError>>),
    Under(Arc<Slot<T>>),
}

#[derive(Debug)]
struct Slot<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
}

#[derive(Debug)]
enum State<T> {
    Empty(Waiter),
    Filled(Result<T, AppendError>),
    Taken,
}

/// Who to wake: a wake-up costs as much when no one is waiting.
#[derive(Debug)]
enum Waiter {
    NoOne,
    Thread,
    Task(Waker),
}

impl<T> Pending<T> {
    pub(super) fn ready(result: Result<T, AppendError>) -> Self {
        Self(Inner::Ready(Some(result)))
    }

    /// A pending answer, and the promise that fills it.
    pub(super) fn under_way() -> (Self, Promise<T>) {
        let state = Mutex::new(State::Empty(Waiter::NoOne));
        let slot = Arc::new(Slot { state, filled: Condvar::new() });
        (Self(Inner::Under(slot.clone())), Promise(Some(slot)))
    }

    /// Blocks until the answer is known. Not for use inside an async runtime.
    ///
    /// # Errors
    /// When the event was not written.
    pub fn wait(self) -> Result<T, AppendError> {
        match self.0 {
            Inner::Ready(result) => result.unwrap_or(Err(AppendError::Closed)),
            Inner::Under(slot) => {
                let mut state = slot.lock();
                while let State::Empty(waiter) = &mut *state {
                    *waiter = Waiter::Thread;
                    state = slot.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                match std::mem::replace(&mut *state, State::Taken) {
                    State::Filled(result) => result,
                    State::Empty(_) | State::Taken => Err(AppendError::Closed),
                }
            }
        }
    }
}

impl<T: Unpin> Future for Pending<T> {
    type Output = Result<T, AppendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Ready(result) => Poll::Ready(result.take().unwrap_or(Err(AppendError::Closed))),
            Inner::Under(slot) => {
                let mut state = slot.lock();
                if let State::Empty(waiter) = &mut *state {
                    *waiter = Waiter::Task(context.waker().clone());
                    return Poll::Pending;
                }
                match std::mem::replace(&mut *state, State::Taken) {
                    State::Filled(result) => Poll::Ready(result),
                    State::Empty(_) | State::Taken => Poll::Ready(Err(AppendError::Closed)),
                }
            }
        }
    }
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending end of an answer. If it is dropped unfilled, the answer is that the ledger is
/// closed.
#[derive(Debug)]
pub(super) struct Promise<T>(Option<Arc<Slot<T>>>);

impl<T> Promise<T> {
    pub(super) fn fill(mut self, result: Result<T, AppendError>) {
        self.put(result);
    }

    fn put(&mut self, result: Result<T, AppendError>) {
        let Some(slot) = self.0.take() else { return };
        let before = std::mem::replace(&mut *slot.lock(), State::Filled(result));
        match before {
            State::Empty(Waiter::Thread) => slot.filled.notify_all(),
            State::Empty(Waiter::Task(waker)) => waker.wake(),
            State::Empty(Waiter::NoOne) | State::Filled(_) | State::Taken => {}
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.put(Err(AppendError::Closed));
    }
}
