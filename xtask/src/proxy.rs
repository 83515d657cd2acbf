//! `cargo xtask bench-proxy`: measures the delay that the proxy adds to each piece of an answer,
//! and its cost for many concurrent answers, compared with no proxy and with other proxies. Model
//! and client are in this process, so that one clock times both ends.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader as Reader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::gateway::memory;
use crate::process::{Running, built};

/// Flags of `cargo xtask bench-proxy`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// Number of answers that are timed one after the other.
    #[arg(long, default_value_t = 200)]
    answers: usize,
    /// Number of concurrent answers.
    #[arg(long, default_value_t = 200)]
    streams: usize,
    /// Number of pieces in each concurrent answer.
    #[arg(long, default_value_t = 1000)]
    pieces: usize,
    /// Another proxy to compare: `NAME=COMMAND`, in which `{port}` is the port to listen on and
    /// `{model}` the address of the model.
    #[arg(long, value_name = "NAME=COMMAND")]
    peer: Vec<String>,
}

/// The model's delay before its first piece. Real models take longer.
const THINKING: Duration = Duration::from_millis(20);

/// The state of the measurement; both ends count time from `since`.
struct Bench {
    since: Instant,
    /// The model's address.
    model: String,
    runtime: Runtime,
}

/// A proxy that is measured.
struct MeasuredProxy {
    name: String,
    port: u16,
    running: Option<Running>,
}

/// The median and the 99th percentile, in microseconds.
#[derive(Clone, Copy, Default)]
struct Times {
    middle: u128,
    high: u128,
}

fn times(mut all: Vec<u128>) -> Times {
    all.sort_unstable();
    let at = |part: usize| all.get(all.len() * part / 100).copied().unwrap_or_default();
    Times { middle: at(50), high: at(99) }
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = built(&options.binary)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let since = Instant::now();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let port = listener.local_addr()?.port();
    runtime.spawn(model(listener, since));
    let bench = Bench { since, model: format!("http://127.0.0.1:{port}"), runtime };
    let desk = tempfile::tempdir()?;
    let mut ways = vec![MeasuredProxy { name: "no proxy".to_owned(), port, running: None }];
    for mode in ["observe", "annotate", "block"] {
        let mut command = Command::new(&binary);
        command.args(["--no-config", "proxy", "--listen", "127.0.0.1:0", "--mode", mode]);
        command.args(["--upstream", &bench.model, "--state"]).arg(desk.path().join(mode));
        ways.push(ours(format!("counterfoil, {mode}"), command)?);
    }
    for peer in &options.peer {
        ways.push(bench.peer(peer)?);
    }
    println!(
        "{} answers one after another, then {} concurrent answers of {} chunks each; times in µs, \
         median and 99th percentile",
        options.answers, options.streams, options.pieces
    );
    println!("{:24} {:>16} {:>16}  concurrent", "", "first chunk", "each chunk");
    let mut plain = None;
    for way in &ways {
        let (first, each) = bench.one_by_one(way.port, options.answers)?;
        let (base_first, base_each) = *plain.get_or_insert((first, each));
        let (lost, took, most) = bench.at_once(way, options)?;
        let added = |times: Times, base: Times| {
            format!("+{} ({})", times.middle.saturating_sub(base.middle), times.high)
        };
        let shown = match way.running {
            None => [first, each].map(|t| format!("{} ({})", t.middle, t.high)),
            Some(_) => [added(first, base_first), added(each, base_each)],
        };
        let [first, each] = shown;
        let memory = most.map_or_else(String::new, |kib| format!(", {} MiB", kib / 1024));
        println!(
            "{:24} {first:>16} {each:>16}  {lost} lost, {:.1} s{memory}",
            way.name,
            took.as_secs_f64()
        );
    }
    Ok(())
}

/// Starts our proxy and reads its address.
fn ours(name: String, mut command: Command) -> Result<MeasuredProxy> {
    let mut running = Running(command.stderr(Stdio::piped()).spawn()?);
    let stderr = running.0.stderr.take().context("it says nothing")?;
    let mut reader = BufReader::new(stderr);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    let port = line
        .split("127.0.0.1:")
        .nth(1)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    Ok(MeasuredProxy { name, port: port.with_context(|| line.clone())?, running: Some(running) })
}

impl Bench {
    /// Starts another proxy and waits until it answers.
    fn peer(&self, peer: &str) -> Result<MeasuredProxy> {
        let (name, command) = peer.split_once('=').context("a peer is NAME=COMMAND")?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let command = command.replace("{port}", &port.to_string()).replace("{model}", &self.model);
        let mut started = Command::new("sh");
        started
            .args(["-c", &format!("exec {command}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let running = Running(started.spawn()?);
        let until = Instant::now() + Duration::from_secs(120);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(500));
            if self.runtime.block_on(self.answer(port, 2, None)).is_ok() {
                return Ok(MeasuredProxy { name: name.to_owned(), port, running: Some(running) });
            }
        }
        bail!("`{name}` does not answer: {command}")
    }

    /// Measures the delay of the first piece of each answer, and of the other pieces.
    fn one_by_one(&self, port: u16, count: usize) -> Result<(Times, Times)> {
        let (mut first, mut each) = (Vec::new(), Vec::new());
        for at in 0..count + 10 {
            let pause = Some(Duration::from_micros(500));
            let late = self.runtime.block_on(self.answer(port, 20, pause))?;
            // The first answers are a warm-up.
            if at >= 10 {
                first.extend(late.first());
                each.extend(late.iter().skip(1));
            }
        }
        Ok((times(first), times(each)))
    }

    /// Runs many answers concurrently; returns the number of lost pieces, the time taken, and the
    /// maximum memory in KiB.
    fn at_once(
        &self,
        way: &MeasuredProxy,
        options: &Options,
    ) -> Result<(usize, Duration, Option<u64>)> {
        let began = Instant::now();
        let lost = Arc::new(AtomicUsize::new(0));
        let done = Arc::new(AtomicUsize::new(0));
        let mut most = None;
        self.runtime.block_on(async {
            let pieces = options.pieces;
            let mut all = tokio::task::JoinSet::new();
            for _ in 0..options.streams {
                let (lost, done) = (Arc::clone(&lost), Arc::clone(&done));
                let (port, since) = (way.port, self.since);
                let model = self.model.clone();
                all.spawn(async move {
                    let pause = Some(Duration::from_millis(2));
                    let came = answer(port, &model, since, pieces, pause).await;
                    lost.fetch_add(pieces - came.map_or(0, |came| came.len()), Ordering::Relaxed);
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
            while done.load(Ordering::Relaxed) < options.streams {
                let process = way.running.as_ref().map(|running| running.0.id());
                most = most.max(process.and_then(memory));
                tokio::time::sleep(Duration::from_millis(50)).await;
                ensure!(began.elapsed() < Duration::from_secs(300), "it does not end");
            }
            all.join_all().await;
            Ok(())
        })?;
        Ok((lost.load(Ordering::Relaxed), began.elapsed(), most))
    }

    /// Returns the delay of each piece of an answer, in microseconds.
    async fn answer(&self, port: u16, pieces: usize, pause: Option<Duration>) -> Result<Vec<u128>> {
        answer(port, &self.model, self.since, pieces, pause).await
    }
}

/// Asks for an answer of `pieces` pieces; returns the delay of each.
async fn answer(
    port: u16,
    model: &str,
    since: Instant,
    pieces: usize,
    pause: Option<Duration>,
) -> Result<Vec<u128>> {
    let pause = pause.unwrap_or_default().as_micros();
    let body = json!({
        "model": "m-1", "stream": true, "user": format!("{pieces} {pause}"),
        "messages": [{ "role": "user", "content": format!("count {pieces} {pause}") }],
    })
    .to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    // One of the peers takes the model's address from headers.
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\
         content-type: application/json\r\nauthorization: Bearer none\r\n\
         x-portkey-provider: openai\r\nx-portkey-custom-host: {model}/v1\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let mut reader = Reader::new(stream);
    let (mut line, mut late) = (String::new(), Vec::with_capacity(pieces));
    loop {
        line.clear();
        if reader.read_line(&mut line).await? == 0 {
            break;
        }
        let now = since.elapsed().as_micros();
        // Each piece contains the time at which it was sent.
        if let Some((_, rest)) = line.split_once("\"content\":") {
            let digits = rest.trim_start().trim_start_matches('"');
            let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
            late.extend(digits.parse::<u128>().ok().map(|then| now.saturating_sub(then)));
        }
        if line.starts_with("data: [DONE]") {
            break;
        }
    }
    ensure!(!late.is_empty(), "no answer came");
    Ok(late)
}

/// A model whose pieces contain the time at which they were sent.
async fn model(listener: TcpListener, since: Instant) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).ok();
        tokio::spawn(async move {
            let mut stream = Reader::new(stream);
            // A client may hang up.
            while say(&mut stream, since).await.is_ok() {}
        });
    }
}

async fn say(stream: &mut Reader<TcpStream>, since: Instant) -> Result<()> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        ensure!(stream.read_line(&mut line).await? > 0, "it hung up");
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let request = String::from_utf8_lossy(&body).into_owned();
    let mut words = request.split("count ").nth(1).unwrap_or_default().split([' ', '"', '\\']);
    let pieces: usize = words.next().unwrap_or_default().parse().unwrap_or(1);
    let pause: u64 = words.next().unwrap_or_default().parse().unwrap_or(0);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    stream.get_mut().write_all(head.as_bytes()).await?;
    let out = stream.get_mut();
    // A model reads the request before it writes.
    tokio::time::sleep(THINKING).await;
    for _ in 0..pieces {
        let now = since.elapsed().as_micros();
        piece(out, &json!({ "content": format!("{now} words. ") }), None).await?;
        if pause > 0 {
            tokio::time::sleep(Duration::from_micros(pause)).await;
        }
    }
    piece(out, &json!({}), Some("stop")).await?;
    out.write_all(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n").await?;
    Ok(())
}

async fn piece(out: &mut TcpStream, delta: &serde_json::Value, finish: Option<&str>) -> Result<()> {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
        "choices": [choice],
    });
    let event = format!("data: {chunk}\n\n");
    out.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
    Ok(())
}
