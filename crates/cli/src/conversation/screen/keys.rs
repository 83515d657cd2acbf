use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The interval between checks whether input is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// Input events, read on a separate thread.
pub(super) struct Keys {
    typed: UnboundedReceiver<Event>,
    over: Arc<AtomicBool>,
    reads: Option<JoinHandle<()>>,
}

impl Keys {
    pub(super) fn read() -> Self {
        let (tells, typed) = unbounded_channel();
        let over = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&over);
        let reads = std::thread::spawn(move || {
            while !stops.load(Ordering::SeqCst) {
                let event = match event::poll(LOOK) {
                    Ok(false) => continue,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                // The terminal is gone.
                let Ok(event) = event else { return };
                if tells.send(event).is_err() {
                    return;
                }
            }
        });
        Self { typed, over, reads: Some(reads) }
    }

    /// Returns the next event; `None` if the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Event> {
        self.typed.recv().await
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Waits for the thread, so that the next reader gets all keys.
        if let Some(reads) = self.reads.take() {
            let _ = reads.join();
        }
    }
}
