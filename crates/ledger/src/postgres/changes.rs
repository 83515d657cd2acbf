//! Listens for events written by any replica.

use std::future::poll_fn;
use std::time::Duration;

use tokio_postgres::{AsyncMessage, Client};

use super::address::PostgresAddress;
use super::link::Sockets;
use super::tls;
use crate::changes::Size;

/// The time between two attempts to reconnect.
const PAUSE: Duration = Duration::from_millis(500);

/// Listens until there are no more listeners. Reconnects when the connection is lost, and catches
/// up with what was missed.
pub(super) fn listen(sockets: &Sockets, address: PostgresAddress, size: Size) {
    sockets.runtime.spawn(async move {
        loop {
            let _ = listen_once(&address, &size).await;
            tokio::time::sleep(PAUSE).await;
        }
    });
}

async fn listen_once(address: &PostgresAddress, size: &Size) -> Option<()> {
    let tls = tls::connector(address).ok()?;
    let (client, mut connection) = address.config.connect(tls).await.ok()?;
    let (sender, mut sizes) = tokio::sync::mpsc::unbounded_channel();
    let driver = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message
                && let Ok(size) = notification.payload().parse::<u64>()
            {
                let _ = sender.send(size);
            }
        }
    });
    let subscribed = subscribe(&client, size).await;
    while subscribed.is_some()
        && let Some(now) = sizes.recv().await
    {
        size.is_at_least(now);
    }
    driver.abort();
    subscribed
}

async fn subscribe(client: &Client, size: &Size) -> Option<()> {
    let query =
        "SELECT 'counterfoil_' || (quote_ident(current_schema()) || '.ledger')::regclass::oid";
    let channel: String = client.query_one(query, &[]).await.ok()?.try_get(0).ok()?;
    client.batch_execute(&format!("LISTEN \"{channel}\"")).await.ok()?;
    let query = "SELECT coalesce(max(seq) + 1, 0) FROM events";
    let now: i64 = client.query_one(query, &[]).await.ok()?.try_get(0).ok()?;
    size.is_at_least(u64::try_from(now).ok()?);
    Some(())
}
