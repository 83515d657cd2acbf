//! A server that sends scripted responses, in order.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// A received request.
#[derive(Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct Answer(Option<String>);

impl Answer {
    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self(Some(format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )))
    }

    pub(crate) fn json(body: &str) -> Self {
        Self::status(200, body)
    }

    /// A response with these events, after which the connection is closed.
    pub(crate) fn stream(events: &[&str]) -> Self {
        let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        Self(Some(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}"
        )))
    }

    /// Closes the connection without a response.
    pub(crate) fn closed() -> Self {
        Self(Some(String::new()))
    }

    /// Sends nothing, and keeps the connection open.
    pub(crate) fn silent() -> Self {
        Self(None)
    }

    pub(crate) fn header(self, header: &str) -> Self {
        Self(self.0.map(|text| text.replacen("\r\n", &format!("\r\n{header}\r\n"), 1)))
    }
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    /// Answers each request with the next of these, each on a connection of its own.
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&received);
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((mut stream, _)) = listener.accept() else { return };
                heard.lock().unwrap().push(read(&stream));
                match answer.0 {
                    // Responses state their length, and nothing else is sent on this connection.
                    Some(text) => stream.write_all(text.as_bytes()).unwrap(),
                    None => std::thread::sleep(Duration::from_secs(3)),
                }
            }
        });
        Self { address, received }
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> ReceivedRequest {
    let mut input = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    ReceivedRequest { head, body: serde_json::from_slice(&body).unwrap() }
}
