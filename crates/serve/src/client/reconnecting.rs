use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{Client, ClientError, ClientOptions};
use crate::upstream::Server;

/// The longest pause between two tries to reach a server again.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A server that is reached again when it is gone, after a pause that grows.
pub(crate) struct Reconnecting {
    pub(crate) name: String,
    server: Server,
    options: ClientOptions,
    connected: Mutex<Connected>,
}

/// The connection, or how long there has been none.
struct Connected {
    client: Option<Arc<Client>>,
    /// How often it was not there in a row.
    failures: u32,
    /// When it may be tried again.
    next: Instant,
}

/// A server is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AwayError {
    #[error("the MCP server `{name}` is gone; it is tried again in {secs} s")]
    Pausing { name: String, secs: u64 },
    #[error("the MCP server `{name}` is not there: {reason}")]
    Failed { name: String, reason: ClientError },
}

impl Reconnecting {
    pub(crate) fn new(name: String, server: Server, options: ClientOptions) -> Self {
        let connected = Connected { client: None, failures: 0, next: Instant::now() };
        Self { name, server, options, connected: Mutex::new(connected) }
    }

    /// The connection; a new one where the last is gone, if it may be tried.
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

    /// Takes note of a connection that broke: the next request gets another one.
    pub(crate) async fn broke(&self) {
        self.connected.lock().await.client = None;
    }

    /// Whether the server has said that its tools changed since it was last asked.
    pub(crate) async fn has_changed(&self) -> bool {
        let connected = self.connected.lock().await;
        connected.client.as_ref().is_some_and(|client| client.has_changed())
    }

    /// Ends the connection.
    pub(crate) async fn close(&self) {
        if let Some(client) = self.connected.lock().await.client.take() {
            client.close().await;
        }
    }
}
