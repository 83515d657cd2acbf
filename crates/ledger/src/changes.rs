use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// Notifies a listener when the ledger has grown, whichever process wrote.
///
/// Several events at once may be reported as one change.
#[derive(Debug, Clone)]
pub struct Changes(watch::Receiver<u64>);

impl Changes {
    /// The number of events when the ledger was last looked at.
    #[must_use]
    pub fn size(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits for new events, and returns how many there are now: those with a lower number can be
    /// read. `None` when the ledger was closed.
    pub async fn next(&mut self) -> Option<u64> {
        self.0.changed().await.ok()?;
        Some(*self.0.borrow_and_update())
    }
}

/// The size of a ledger as its listeners see it. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Size {
    known: watch::Sender<u64>,
    watched: Arc<AtomicBool>,
}

impl Default for Size {
    fn default() -> Self {
        Self { known: watch::Sender::new(0), watched: Arc::default() }
    }
}

impl Size {
    /// Notifies the listeners if the ledger has grown.
    pub(super) fn is_at_least(&self, now: u64) {
        self.known.send_if_modified(|known| {
            let grew = now > *known;
            *known = now.max(*known);
            grew
        });
    }

    /// Returns whether the ledger is watched already, and marks it as watched: the first caller has
    /// to watch.
    pub(super) fn is_watched(&self) -> bool {
        self.watched.swap(true, Ordering::SeqCst)
    }

    /// Whether there are listeners.
    pub(super) fn is_heard(&self) -> bool {
        !self.known.is_closed()
    }

    /// Adds a listener that knows the current size.
    pub(super) fn changes(&self) -> Changes {
        let mut receiver = self.known.subscribe();
        receiver.mark_unchanged();
        Changes(receiver)
    }
}
