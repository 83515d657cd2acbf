//! `cargo xtask bench-chat`: measures how long `counterfoil chat` takes to start, and how much
//! memory a long conversation takes. The model is a script on this machine; we provide the
//! terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use serde_json::{Value, json};

use crate::gateway::memory;

/// Flags of `cargo xtask bench-chat`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The binary; use a release build to measure what users get
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// Number of turns, each with one call
    #[arg(long, default_value_t = 360)]
    turns: usize,
    /// Use the line mode instead of the screen
    #[arg(long)]
    plain: bool,
}

const ROWS: u16 = 30;
const COLUMNS: u16 = 100;

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(60);

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = options.binary.canonicalize().context("the binary is not built")?;
    let port = model()?;
    let desk = tempfile::tempdir()?;
    let config = desk.path().join("config.toml");
    let provider = format!(
        "[[llm.providers]]\nname = \"script\"\nurl = \"http://127.0.0.1:{port}/v1\"\n\
         model = \"script-1\"\ncontext_tokens = 16000\n"
    );
    std::fs::write(&config, provider)?;
    let work = desk.path().join("work");
    std::fs::create_dir(&work)?;
    std::fs::write(work.join("notes.txt"), "the door is green\n")?;
    let mut beginnings: Vec<Duration> = Vec::new();
    for _ in 0..5 {
        let (terminal, took) = Terminal::begin(&binary, desk.path(), options.plain)?;
        beginnings.push(took);
        terminal.leave()?;
    }
    beginnings.sort();
    let median = beginnings.get(beginnings.len() / 2).copied().unwrap_or_default();
    println!("begins in {} ms (median of {})", median.as_millis(), beginnings.len());
    let (mut terminal, _) = Terminal::begin(&binary, desk.path(), options.plain)?;
    let enter = if options.plain { "\n" } else { "\r" };
    for turn in 1..=options.turns {
        let question = format!("Colour {turn}?");
        terminal.write(&format!("{question}{enter}"))?;
        terminal.see(|shown| {
            let answer = shown.rsplit_once(&question).map(|(_, answer)| answer);
            answer.is_some_and(|answer| answer.contains("1 receipt"))
        })?;
        if turn == 10 || turn % (options.turns / 4).max(1) == 0 {
            let kib =
                memory(terminal.child.id()).context("nobody knows how much memory it takes")?;
            println!("after {turn:5} turns: {} MiB", kib / 1024);
        }
    }
    terminal.leave()
}

/// Starts a model that reads the note in each turn, and then says what is in it.
fn model() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A client may hang up.
            let _ = answer(stream);
        }
    });
    Ok(port)
}

fn answer(mut stream: std::net::TcpStream) -> Result<()> {
    let body = request(&mut stream)?;
    let messages = body.get("messages").and_then(Value::as_array).context("no messages")?;
    let asked = messages.last().and_then(|last| last.get("role")).and_then(Value::as_str);
    let message = if body.get("tools").is_none() {
        json!({ "role": "assistant", "content": "The note was read; the door is green." })
    } else if asked == Some("user") {
        let arguments = json!({ "path": "notes.txt" }).to_string();
        let function = json!({ "name": "read_file", "arguments": arguments });
        let call = json!({ "id": "c", "type": "function", "function": function });
        json!({ "role": "assistant", "content": null, "tool_calls": [call] })
    } else {
        json!({ "role": "assistant", "content": "The door is green, as the note says." })
    };
    let tokens = body.to_string().len() / 4;
    let usage = json!({ "prompt_tokens": tokens, "completion_tokens": 10 });
    let choice = json!({ "message": message, "finish_reason": "stop" });
    let text = json!({ "choices": [choice], "usage": usage }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len())?;
    Ok(())
}

/// Reads the body of a request.
fn request(stream: &mut std::net::TcpStream) -> Result<Value> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = stream.read(&mut piece)?;
        bytes.extend(piece.iter().take(count));
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            anyhow::ensure!(count > 0, "it hung up");
            continue;
        };
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.unwrap_or("0").trim().parse()?;
        if body.len() >= length || count == 0 {
            return Ok(serde_json::from_str(body)?);
        }
    }
}

/// The program on a terminal of its own.
struct Terminal {
    pty: File,
    child: Child,
    written: Receiver<Vec<u8>>,
    screen: vt100::Parser,
}

impl Terminal {
    /// Starts the program and waits for the greeting; returns how long that took.
    fn begin(binary: &Path, desk: &Path, plain: bool) -> Result<(Self, Duration)> {
        let begun = Instant::now();
        let (pty, pts): (Pty, _) = open()?;
        pty.resize(Size::new(ROWS, COLUMNS))?;
        let mut command = Command::new(binary)
            .arg("--config")
            .arg(desk.join("config.toml"))
            .arg("chat")
            .current_dir(desk.join("work"))
            .env("HOME", desk)
            .env("TERM", "xterm-256color")
            .env("COUNTERFOIL_STATE", desk.join("state"));
        if plain {
            command = command.arg("--plain");
        }
        let child = command.spawn(pts)?;
        let pty = File::from(std::os::fd::OwnedFd::from(pty));
        let mut reads = pty.try_clone()?;
        let (tells, written) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 16 * 1024];
            while let Ok(count @ 1..) = reads.read(&mut piece) {
                let text = piece.get(..count).unwrap_or_default();
                if tells.send(text.to_vec()).is_err() {
                    return;
                }
            }
        });
        let (rows, columns) = (NonZero::new(ROWS), NonZero::new(COLUMNS));
        let (rows, columns) = rows.zip(columns).context("no terminal is that small")?;
        let screen = vt100::Parser::new(rows, columns, 0);
        let mut terminal = Self { pty, child, written, screen };
        terminal.see(|shown| shown.contains("/help"))?;
        Ok((terminal, begun.elapsed()))
    }

    fn write(&mut self, text: &str) -> Result<()> {
        Ok(self.pty.write_all(text.as_bytes())?)
    }

    /// Waits until `is_there` accepts the screen.
    fn see(&mut self, is_there: impl Fn(&str) -> bool) -> Result<()> {
        loop {
            let shown = self.screen.screen().contents();
            if is_there(&shown) {
                return Ok(());
            }
            match self.written.recv_timeout(PATIENCE) {
                Ok(more) => self.screen.process(&more),
                Err(_) => bail!("what is awaited never came; there is\n{shown}"),
            }
        }
    }

    fn leave(mut self) -> Result<()> {
        self.write("\u{4}")?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
    }
}
