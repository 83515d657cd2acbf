//! A proxy between a client and a scripted server.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use counterfoil_guard::{Guard, GuardBuilder, GuardSettings, Ledger, Receipt, recorded_transcript};
use counterfoil_model::Transcript;
use counterfoil_proxy::{Proxy, ProxyError, ProxyMode, ProxyOptions, serve_proxy};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A scripted response, in pieces. The server disconnects after the last one.
#[derive(Clone, Default)]
pub(super) struct Scripted {
    pub(super) head: String,
    pub(super) pieces: Vec<Bytes>,
    /// The pause between two pieces.
    pub(super) pause: Duration,
    /// Whether the server disconnects before the announced end.
    pub(super) breaks: bool,
}

impl Scripted {
    pub(super) fn stream(text: &str) -> Self {
        Self::cut(text, usize::MAX)
    }

    /// Splits a text into pieces of this size.
    pub(super) fn cut(text: &str, size: usize) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream".to_owned();
        let size = size.min(text.len()).max(1);
        let pieces = text.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
        Self { head, pieces, ..Self::default() }
    }

    pub(super) fn json(body: &Value) -> Self {
        Self::status(200, &body.to_string())
    }

    pub(super) fn status(status: u16, body: &str) -> Self {
        let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nx-odd: 1");
        Self { head, pieces: vec![Bytes::from(body.to_owned())], ..Self::default() }
    }
}

/// A request that the server received.
#[derive(Clone)]
pub(super) struct Heard {
    pub(super) head: String,
    pub(super) text: String,
    pub(super) body: Value,
}

pub(super) struct Desk {
    pub(super) proxy: Arc<Proxy>,
    pub(super) address: SocketAddr,
    pub(super) ledger: Ledger,
    pub(super) script: Arc<Mutex<VecDeque<Scripted>>>,
    heard: Arc<Mutex<Vec<Heard>>>,
    pub(super) client: Client<HttpConnector, Full<Bytes>>,
    /// The number of connections that the proxy closed in the middle of an answer.
    pub(super) left: Arc<Mutex<usize>>,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) served: JoinHandle<Result<(), ProxyError>>,
}

/// The response that the client got.
pub(super) struct ClientResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
    /// Whether it broke off.
    pub(super) broke: bool,
}

impl Desk {
    pub(super) async fn new(mode: ProxyMode) -> Self {
        // Judging may be slow on a busy machine.
        let options = ProxyOptions { mode, verify_ms: 10_000, ..ProxyOptions::default() };
        Self::with(options, GuardSettings::default()).await
    }

    pub(super) async fn with(options: ProxyOptions, settings: GuardSettings) -> Self {
        Self::with_guard(options, Guard::builder().settings(settings)).await
    }

    pub(super) async fn with_guard(options: ProxyOptions, guard: GuardBuilder) -> Self {
        let (server, script, heard, left) = server().await;
        let url = format!("http://{server}");
        let options = ProxyOptions { openai_url: url.clone(), anthropic_url: url, ..options };
        let guard = guard.build().unwrap();
        let ledger = guard.ledger().clone();
        let variable = |name: &str| Some(format!("value of {name}"));
        let proxy = Arc::new(Proxy::new(guard, options.resolve(variable).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            // Dropping the desk does not request a shutdown.
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let served = tokio::spawn(serve_proxy(Arc::clone(&proxy), listener, None, stopped));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { proxy, address, ledger, script, heard, client, left, stop, served }
    }

    /// Sets the server's next response.
    pub(super) fn next(&self, scripted: Scripted) {
        self.script.lock().unwrap().push_back(scripted);
    }

    pub(super) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    pub(super) async fn send(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response<Incoming> {
        let mut request = Request::builder().method(if body.is_empty() { "GET" } else { "POST" });
        request = request.uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::from(body.to_owned()));
        self.client.request(request.body(body).unwrap()).await.unwrap()
    }

    pub(super) async fn ask(&self, path: &str, body: &Value) -> ClientResponse {
        self.ask_as(path, &[], body).await
    }

    pub(super) async fn ask_as(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> ClientResponse {
        received(self.send(path, headers, &body.to_string()).await).await
    }

    /// What an operator sees.
    pub(super) async fn own(&self, what: &str) -> Value {
        let response = received(self.send(&format!("/counterfoil/{what}"), &[], "").await).await;
        serde_json::from_str(&response.text).unwrap()
    }

    /// Waits until this number of answers are recorded.
    pub(super) async fn answers(&self, count: u64) -> Value {
        for _ in 0..500 {
            let status = self.own("status").await;
            let answers = status["answers"].as_object().unwrap();
            if answers.values().filter_map(Value::as_u64).sum::<u64>() >= count {
                return status;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("{}", self.own("status").await)
    }

    pub(super) async fn sessions(&self) -> Vec<String> {
        let all = self.own("sessions").await;
        let ids = all.as_array().unwrap().iter().map(|session| session["session"].as_str());
        ids.map(|id| id.unwrap().to_owned()).collect()
    }

    /// The recorded transcript of the only session.
    pub(super) async fn recorded(&self) -> Transcript {
        let sessions = self.sessions().await;
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        recorded_transcript(&self.ledger, &sessions[0]).unwrap().unwrap()
    }

    pub(super) fn receipts(&self) -> Vec<Receipt> {
        let ids = self.ledger.recent(None, 100).unwrap();
        let mut receipts: Vec<Receipt> =
            ids.iter().map(|id| self.ledger.receipt(id).unwrap().unwrap()).collect();
        receipts.sort_by_key(|receipt| receipt.seq);
        receipts
    }
}

pub(super) async fn received(response: Response<Incoming>) -> ClientResponse {
    let (head, mut body) = response.into_parts();
    let (mut bytes, mut broke) = (Vec::new(), false);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Err(_) => {
                broke = true;
                break;
            }
        }
    }
    let text = String::from_utf8(bytes).unwrap();
    ClientResponse { status: head.status.as_u16(), headers: head.headers, text, broke }
}

type Server =
    (SocketAddr, Arc<Mutex<VecDeque<Scripted>>>, Arc<Mutex<Vec<Heard>>>, Arc<Mutex<usize>>);

async fn server() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let script: Arc<Mutex<VecDeque<Scripted>>> = Arc::default();
    let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
    let left: Arc<Mutex<usize>> = Arc::default();
    let (answers, requests, gone) = (Arc::clone(&script), Arc::clone(&heard), Arc::clone(&left));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (answers, requests, gone) =
                (Arc::clone(&answers), Arc::clone(&requests), Arc::clone(&gone));
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let Some(request) = read(&mut stream).await else { return };
                requests.lock().unwrap().push(request);
                let scripted = answers.lock().unwrap().pop_front().unwrap_or_default();
                if write(stream.get_mut(), scripted).await.is_err() {
                    *gone.lock().unwrap() += 1;
                }
            });
        }
    });
    (address, script, heard, left)
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Heard> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let text = String::from_utf8_lossy(&body).into_owned();
    Some(Heard { head, body: serde_json::from_str(&text).unwrap_or_default(), text })
}

async fn write(stream: &mut TcpStream, scripted: Scripted) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let promised = if scripted.breaks { "\r\ncontent-length: 1000000" } else { "" };
    let head = format!("{}{promised}\r\nconnection: close\r\n\r\n", scripted.head);
    stream.write_all(head.as_bytes()).await?;
    for piece in scripted.pieces {
        stream.write_all(&piece).await?;
        if !scripted.pause.is_zero() {
            sleep(scripted.pause).await;
        }
    }
    stream.shutdown().await
}
