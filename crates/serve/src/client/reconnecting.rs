use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::error::AwayError;
use super::{Client, ClientOptions};
use crate::upstream::Server;

/// Maximum pause between two attempts to reconnect.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A connection to a server that is re-established when it is gone, after a growing pause.
pub(crate) struct Reconnecting {
    pub(crate) name: String,
    server: Server,
    options: ClientOptions,
    connected: Mutex<Connected>,
}

/// The connection, or the state of the attempts to connect.
struct Connected {
    client: Option<Arc<Client>>,
    /// Number of consecutive failures.
    failures: u32,
    /// When the next attempt may be made.
    next: Instant,
}

impl Reconnecting {
    pub(crate) fn new(name: String, server: Server, options: ClientOptions) -> Self {
        let connected = Connected { client: None, failures: 0, next: Instant::now() };
        Self { name, server, options, connected: Mutex::new(connected) }
    }

    /// The connection. Reconnects if the last one is gone and the pause is over.
    pub(crate) async fn client(&self) -> Result<Arc<Client>, AwayError> {
        let mut connected = self.connected.lock().await;
        if let Some(client) = connected.client.as_ref().filter(|client| !client.has_ended()) {
            return Ok(Arc::clone(client));
        }
        connected.client = None;
        let (now, name) = (Instant::now(), self.name.clone());
        if now < connected.next {
            return Err(AwayError::Pausing { name, secs: (connected.next - now).as_secs() + 1 });
        }
        match Client::connect(&self.server, &self.options).await {
            Ok(client) => {
                let client = Arc::new(client);
                connected.client = Some(Arc::clone(&client));
                connected.failures = 0;
                Ok(client)
            }
            Err(reason) => {
                let pause = Duration::from_secs(1 << connected.failures.min(6));
                connected.failures += 1;
                connected.next = now + pause.min(LONGEST_PAUSE);
                Err(AwayError::Failed { name, reason })
            }
        }
    }

    /// Drops a broken connection, so that the next request makes a new one.
    pub(crate) async fn broke(&self) {
        self.connected.lock().await.client = None;
    }

    /// The present connection, if there is one.
    pub(crate) async fn connected(&self) -> Option<Arc<Client>> {
        self.connected.lock().await.client.clone()
    }

    /// Closes the connection.
    pub(crate) async fn close(&self) {
        if let Some(client) = self.connected.lock().await.client.take() {
            client.close().await;
        }
    }
}
