//! Lists of servers that do not come in time: they are awaited on their own, and clients are told
//! when they have come.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::merge::List;
use super::request::Wrong;
use crate::client::AwayError;

/// How long a late list may wait until a client requests it, before the server is asked again.
const FRESH: Duration = Duration::from_secs(30);

/// The lists that are awaited or have come since, by list and server. Dropping one gives it up.
pub(super) struct LateLists {
    lists: Mutex<BTreeMap<(List, String), LateList>>,
    connecting: Mutex<JoinSet<()>>,
    hears: mpsc::Sender<String>,
}

struct LateList {
    entries: oneshot::Receiver<(Instant, Vec<String>)>,
    _task: JoinSet<()>,
}

impl LateLists {
    /// `hears` gets the notifications for clients.
    pub(super) fn new(hears: mpsc::Sender<String>) -> Self {
        Self { lists: Mutex::default(), connecting: Mutex::default(), hears }
    }

    fn lists(&self) -> MutexGuard<'_, BTreeMap<(List, String), LateList>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up everything that is awaited.
    pub(super) fn clear(&self) {
        self.lists().clear();
        self.connecting.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    /// The connection to a server, if it is there in time. It may come later.
    pub(super) async fn connection<T: Send + 'static>(
        &self,
        name: &str,
        patience: Duration,
        connected: impl Future<Output = Result<T, AwayError>> + Send + 'static,
    ) -> Result<T, AwayError> {
        let (to, there) = oneshot::channel();
        {
            let mut connecting = self.connecting.lock().unwrap_or_else(PoisonError::into_inner);
            while connecting.try_join_next().is_some() {}
            // No one may be waiting any more when it is connected.
            connecting.spawn(async move { drop(to.send(connected.await)) });
        }
        timeout(patience, there)
            .await
            .ok()
            .and_then(Result::ok)
            .unwrap_or(Err(late(name, patience)))
    }

    /// A server's list, if it comes in time or has come since. Otherwise clients are told when it
    /// has come.
    pub(super) async fn list(
        &self,
        list: List,
        name: &str,
        patience: Duration,
        listed: impl Future<Output = Result<Vec<String>, Wrong>> + Send + 'static,
    ) -> Result<Vec<String>, Wrong> {
        let key = (list, name.to_owned());
        if let Some(awaited) = self.lists().get_mut(&key) {
            match awaited.entries.try_recv() {
                Ok((came, entries)) if came.elapsed() < FRESH => return Ok(entries),
                Err(oneshot::error::TryRecvError::Empty) => return Err(late(name, patience).into()),
                Ok(_) | Err(oneshot::error::TryRecvError::Closed) => {}
            }
        }
        let mut listing = JoinSet::new();
        listing.spawn(listed);
        if let Ok(Some(Ok(listed))) = timeout(patience, listing.join_next()).await {
            return listed;
        }
        let (to, entries) = oneshot::channel();
        let (hears, server) = (self.hears.clone(), name.to_owned());
        let mut task = JoinSet::new();
        task.spawn(async move {
            match listing.join_next().await {
                Some(Ok(Ok(entries))) => {
                    to.send((Instant::now(), entries)).ok();
                    // No one may be listening any more.
                    hears.send(list.changed()).await.ok();
                }
                Some(Ok(Err(wrong))) => wrong.log(&server, list),
                Some(Err(_)) | None => {}
            }
        });
        self.lists().insert(key, LateList { entries, _task: task });
        Err(late(name, patience).into())
    }
}

fn late(name: &str, patience: Duration) -> AwayError {
    AwayError::Late { name: name.to_owned(), secs: patience.as_secs() }
}
