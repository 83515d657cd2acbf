//! The gateway between clients and a server over HTTP.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use super::{answer, memory, micros};
use crate::process::Running;

/// The number of concurrent clients.
const SESSIONS: u32 = 32;

/// Runs the server that is put behind the gateway.
pub(super) fn echo() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        announce(&format!("http://{}/mcp", listener.local_addr()?));
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(async move {
                let service = service_fn(heard);
                let builder = hyper::server::conn::http1::Builder::new();
                builder.serve_connection(TokioIo::new(stream), service).await
            });
        }
    })
}

#[expect(clippy::print_stdout, reason = "the process that started it reads it")]
fn announce(text: &str) {
    println!("{text}");
}

async fn heard(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let is_post = request.method() == Method::POST;
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let request_body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = answer(&request_body).filter(|_| is_post);
    let status = match (&answer, is_post) {
        (_, false) => StatusCode::METHOD_NOT_ALLOWED,
        (Some(_), true) => StatusCode::OK,
        (None, true) => StatusCode::ACCEPTED,
    };
    let text = answer.map(|answer| answer.to_string()).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A process that prints its address, and is ended with us.
pub(super) struct Listening {
    process: Running,
    address: SocketAddr,
}

impl Listening {
    pub(super) fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("{command:?}"))?;
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            process.stdout.take().map(|out| Box::new(out) as _),
            process.stderr.take().map(|err| Box::new(err) as _),
        ];
        let (sender, receiver) = std::sync::mpsc::channel();
        for stream in streams.into_iter().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let address = line
                        .split_once("http://")
                        .and_then(|(_, rest)| rest.split('/').next()?.parse::<SocketAddr>().ok());
                    if let Some(address) = address {
                        // Only the first address is waited for.
                        sender.send(address).ok();
                    }
                }
            });
        }
        let address = receiver.recv_timeout(Duration::from_secs(20));
        let process = Running(process);
        let address = address.with_context(|| format!("{command:?} does not listen"))?;
        Ok(Self { process, address })
    }

    /// Starts another proxy, which does not print its address.
    pub(super) fn peer(command: &str, server: &str) -> Result<Self> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let filled = command.replace("{port}", &address.port().to_string());
        let filled = filled.replace("{server}", server);
        let mut words = filled.split_whitespace();
        let mut command = Command::new(words.next().context("a peer has a command")?);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Running(command.spawn().with_context(|| format!("{command:?}"))?);
        let began = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            ensure!(began.elapsed() < Duration::from_secs(30), "{command:?} does not listen");
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(Self { process, address })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The resident memory in KiB.
    pub(super) fn memory(&self) -> Option<u64> {
        memory(self.process.0.id())
    }
}

/// One client, on a connection of its own.
struct Client {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    session: Option<String>,
    requests: u32,
}

impl Client {
    async fn start(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let mut client = Self { sender, address, session: None, requests: 0 };
        let greeting = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        client.ask("initialize", &greeting).await?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        client.ask("tools/list", &json!({})).await?;
        Ok(client)
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.requests += 1;
        let text = self
            .send(
                &json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": params }),
            )
            .await?;
        // A streamed answer has its message on one line.
        let line = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
        Ok(serde_json::from_str(line)?)
    }

    /// Sends a message and returns the response body.
    async fn send(&mut self, message: &Value) -> Result<String> {
        let mut request = Request::post("/mcp")
            .header("host", self.address.to_string())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let request = request.body(Full::new(Bytes::from(message.to_string())))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.to_str()?.to_owned());
        }
        let body = response.into_body().collect().await?.to_bytes();
        Ok(String::from_utf8(body.to_vec())?)
    }

    async fn call(&mut self, n: u32) -> Result<()> {
        let answer =
            self.ask("tools/call", &json!({ "name": "echo", "arguments": { "n": n } })).await?;
        ensure!(answer.get("result").is_some(), "call {n} has no result: {answer}");
        Ok(())
    }
}

/// The measurements of one path to the server.
pub(super) struct Measured {
    median: Duration,
    /// Resident memory in KiB after the calls of one session, and after those of all.
    memory: [u64; 2],
    calls_per_second: f64,
}

pub(super) fn measure(listening: &Listening, calls: u32) -> Result<Measured> {
    let runtime = Runtime::new()?;
    let address = listening.address;
    let median = runtime.block_on(async {
        let mut client = Client::start(address).await?;
        let mut times = Vec::new();
        for n in 0..calls {
            let began = Instant::now();
            client.call(n).await?;
            times.push(began.elapsed());
        }
        times.sort_unstable();
        times.get(times.len() / 2).copied().context("no call was made")
    })?;
    let alone = listening.memory().unwrap_or_default();
    let each = (calls * 10 / SESSIONS).max(1);
    let took = runtime.block_on(async {
        let mut clients = Vec::new();
        for _ in 0..SESSIONS {
            clients.push(Client::start(address).await?);
        }
        let began = Instant::now();
        let running = clients.into_iter().map(|mut client| {
            tokio::spawn(async move {
                for n in 0..each {
                    client.call(n).await?;
                }
                anyhow::Ok(())
            })
        });
        let running: Vec<_> = running.collect();
        for one in running {
            one.await??;
        }
        anyhow::Ok(began.elapsed())
    })?;
    let calls_per_second = f64::from(each * SESSIONS) / took.as_secs_f64();
    let memory = [alone, listening.memory().unwrap_or_default()];
    Ok(Measured { median, memory, calls_per_second })
}

/// The result of a soak test: very many calls in one session.
pub(super) struct Soaked {
    /// Calls without a result.
    pub(super) lost: u32,
    /// Resident memory in KiB: after half of the calls, and at the end.
    pub(super) memory: (u64, u64),
}

/// Makes very many calls in one session while servers behind the gateway die.
pub(super) fn soak(listening: &Listening, tool: &str, calls: u32) -> Result<Soaked> {
    Runtime::new()?.block_on(async {
        let mut client = Client::start(listening.address).await?;
        let (mut lost, mut early) = (0, 0);
        for n in 0..calls {
            let params = json!({ "name": tool, "arguments": { "n": n } });
            let answer = client.ask("tools/call", &params).await?;
            lost += u32::from(answer.get("result").is_none());
            if n == calls / 2 {
                early = listening.memory().unwrap_or_default();
            }
        }
        Ok(Soaked { lost, memory: (early, listening.memory().unwrap_or_default()) })
    })
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(super) fn show(name: &str, measured: &Measured, direct: Option<&Measured>) {
    let [alone, all] = measured.memory;
    let added = direct.map_or(Duration::ZERO, |d| measured.median.saturating_sub(d.median));
    println!(
        "  {name:<24} {:>8.1} µs   added {:>8.1} µs   {:>8.0} calls/s   {:>3} MiB, {:>3} MiB",
        micros(measured.median),
        micros(added),
        measured.calls_per_second,
        alone / 1024,
        all / 1024,
    );
}
