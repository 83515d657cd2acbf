//! A local collector of spans.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// The exporter's request, as far as it is text.
pub(crate) async fn collected(listener: TcpListener) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = tokio::time::timeout(Duration::from_millis(500), stream.read(&mut buffer)).await;
        match read {
            Ok(Ok(count)) if count > 0 => request.extend_from_slice(&buffer[..count]),
            _ => break,
        }
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer).await.unwrap();
    String::from_utf8_lossy(&request).into_owned()
}
