//! Group commit: many events, one sync.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::append::{AppendError, Item};
use super::event::Event;
use super::pending::{Pending, Promise};
use super::seal::Outcome;
use super::settings::Durability;

/// The thread that writes what it receives, group by group.
#[derive(Debug)]
pub(super) struct Group {
    /// `None` once the thread has to stop.
    queue: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<()>>,
}

type Waiting = (Item, Promise<Event>);

/// The maximum size of a group, so that the first caller does not wait for ever.
const LARGEST: usize = 2048;

/// Writes groups of events.
pub(super) trait WritesGroups: Send + 'static {
    /// Writes the items in order, all at once. A refused item does not affect the others; a storage
    /// failure writes none of them.
    fn write(&mut self, items: Vec<Item>) -> Vec<Outcome>;

    /// What to do once the callers have their answers.
    fn after_group(&mut self);
}

impl Group {
    pub(super) fn start(
        writer: Arc<Mutex<impl WritesGroups>>,
        durability: Durability,
        interval: Duration,
    ) -> std::io::Result<Self> {
        let (queue, waiting) = channel();
        let largest = if durability == Durability::Full { 1 } else { LARGEST };
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || write_groups(&writer, &waiting, largest, interval))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    pub(super) fn append(&self, item: Item) -> Pending<Event> {
        let (pending, promise) = Pending::under_way();
        // If the thread is gone, the send returns the promise; dropping it answers that the ledger
        // is closed.
        if let Some(queue) = &self.queue {
            let _ = queue.send((item, promise));
        }
        pending
    }
}

impl Drop for Group {
    /// Waits until everything in the queue is written.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_groups(
    writer: &Mutex<impl WritesGroups>,
    waiting: &Receiver<Waiting>,
    largest: usize,
    interval: Duration,
) {
    while let Ok(first) = waiting.recv() {
        let (items, promises) = gather(first, waiting, largest, interval);
        let outcomes = writer.lock().unwrap_or_else(PoisonError::into_inner).write(items);
        let missing = std::iter::repeat_with(|| Err(AppendError::Closed));
        for (promise, outcome) in promises.into_iter().zip(outcomes.into_iter().chain(missing)) {
            promise.fill(outcome);
        }
        writer.lock().unwrap_or_else(PoisonError::into_inner).after_group();
    }
}

/// Collects everything in the queue, and what arrives meanwhile. A single item does not wait:
/// others queue up during a sync.
fn gather(
    first: Waiting,
    waiting: &Receiver<Waiting>,
    largest: usize,
    interval: Duration,
) -> (Vec<Item>, Vec<Promise<Event>>) {
    let deadline = Instant::now() + interval;
    let (mut items, mut promises) = (vec![first.0], vec![first.1]);
    let in_time = |count: usize| !count.is_multiple_of(64) || Instant::now() < deadline;
    while items.len() < largest && in_time(items.len()) {
        match waiting.try_recv() {
            Ok((item, promise)) => {
                items.push(item);
                promises.push(promise);
            }
            Err(_) => break,
        }
    }
    (items, promises)
}
