//! Answers as spans, sent to a local collector.

#[path = "../../../serve/tests/it/collector.rs"]
mod collector;

use std::sync::Arc;
use std::time::Duration;

use counterfoil_guard::Guard;
use counterfoil_proxy::{Proxy, ProxyOptions, serve_proxy, spans};
use counterfoil_serve::spans::{Spans, SpansOf};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use collector::collected;

#[test]
fn every_answer_of_a_proxy_is_a_span() {
    crate::test(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let collector = tokio::spawn(collected(listener));
        let sent_by = Spans::to(SpansOf::Tools, &format!("http://{address}/v1/traces")).unwrap();
        let away =
            ProxyOptions { openai_url: "http://127.0.0.1:9".to_owned(), ..ProxyOptions::default() };
        let guard = Guard::builder().build().unwrap();
        let proxy = Arc::new(Proxy::new(guard, away.resolve(|_| None).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let asking = async {
            let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
            let body = "{\"model\":\"m-1\",\"messages\":[]}";
            let request = format!(
                "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        tokio::select! {
            () = asking => {}
            () = spans::follow(&sent_by, &proxy) => {}
            _ = serve_proxy(Arc::clone(&proxy), listener, None, std::future::pending()) => {}
        }
        sent_by.end().await;
        let sent = collector.await.unwrap();
        for text in ["chat m-1", "gen_ai.request.model", "counterfoil.became", "no answer"] {
            assert!(sent.contains(text), "{text}: {sent}");
        }
    });
}
