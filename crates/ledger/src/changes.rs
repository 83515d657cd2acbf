use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// Says when a ledger has grown, whoever wrote.
///
/// Several events that come together may be told as one change.
#[derive(Debug, Clone)]
pub struct Changes(watch::Receiver<u64>);

impl Changes {
    /// How many events the ledger had when it was looked at last.
    #[must_use]
    pub fn size(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits until there are more events, and says how many there are now: those below this number
    /// can be read. `None` when the ledger was closed.
    pub async fn next(&mut self) -> Option<u64> {
        self.0.changed().await.ok()?;
        Some(*self.0.borrow_and_update())
    }
}

/// The size of a ledger as its listeners see it. Clones are the same.
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
    /// Tells the listeners, if it is news.
    pub(super) fn is_at_least(&self, now: u64) {
        self.known.send_if_modified(|known| {
            let grew = now > *known;
            *known = now.max(*known);
            grew
        });
    }

    /// Whether somebody looks already; whoever asks first is the one who looks.
    pub(super) fn is_watched(&self) -> bool {
        self.watched.swap(true, Ordering::SeqCst)
    }

    /// Whether anybody listens.
    pub(super) fn is_heard(&self) -> bool {
        !self.known.is_closed()
    }

    /// One more listener, who knows the present size.
    pub(super) fn changes(&self) -> Changes {
        let mut receiver = self.known.subscribe();
        receiver.mark_unchanged();
        Changes(receiver)
    }
}
