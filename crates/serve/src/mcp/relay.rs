use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::gateway::{Gateway, Step};
use super::lines::{Line, Lines};
use super::message::{self, code};

/// How long a server may take to end once its client is gone.
const GRACE: Duration = Duration::from_secs(5);

/// How a relay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client went away, and the server was ended with it.
    Client,
    /// The server ended by itself; its exit code, where it has one.
    Server(Option<i32>),
}

/// A relay cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The server.
    #[error("the server `{program}` cannot be started: {reason}")]
    NotStarted {
        /// Its program.
        program: String,
        /// Why not.
        reason: io::Error,
    },
    /// A stream broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
}

/// Starts a server and stands between it and a client, until one of them is gone. The server's
/// error output stays what it is.
///
/// # Errors
/// When the server cannot be started, or a stream breaks. Receipts are closed all the same.
pub async fn relay(
    gateway: &Gateway,
    mut command: Command,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> Result<Ended, RelayError> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let started = command.spawn();
    let mut child = started.map_err(|reason| RelayError::NotStarted { program, reason })?;
    let (Some(to_server), Some(of_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the server has no streams").into());
    };
    let output = Mutex::new(output);
    let ended = {
        let client = of_client(gateway, input, to_server, &output);
        let server = from_server(gateway, of_server, &output);
        tokio::pin!(client, server);
        tokio::select! {
            done = &mut client => {
                // What the server still has to say may still be wanted.
                let rest = timeout(GRACE, &mut server).await;
                let owes = rest.is_ok() && !gateway.open().is_empty();
                let ended = if owes { Ended::Server(None) } else { Ended::Client };
                done.and(rest.unwrap_or(Ok(()))).map(|()| ended)
            }
            done = &mut server => done.map(|()| Ended::Server(None)),
        }
    };
    let by_client = matches!(ended, Ok(Ended::Client) | Err(_));
    let why = match by_client {
        true => "the client went away",
        false => "the MCP server ended before it answered",
    };
    let answers = gateway.end(by_client, why).await;
    if !by_client {
        let mut output = output.lock().await;
        for answer in answers {
            send(&mut *output, &answer).await?;
        }
    }
    let status = timeout(GRACE, child.wait()).await;
    if status.is_err() {
        child.kill().await?;
    }
    Ok(match ended? {
        Ended::Server(_) => Ended::Server(status.ok().and_then(|s| s.ok()?.code())),
        Ended::Client => Ended::Client,
    })
}

/// Everything that the client says, until it says no more; then the server's input ends.
async fn of_client<W: AsyncWrite + Unpin>(
    gateway: &Gateway,
    input: impl AsyncRead + Unpin,
    mut to_server: impl AsyncWrite + Unpin,
    output: &Mutex<W>,
) -> io::Result<()> {
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next().await? {
        let steps = match line {
            Line::Text(text) => gateway.from_client(&text).await,
            Line::Unreadable(why) => {
                vec![Step::Answer(message::error(None, code::PARSE_ERROR, why))]
            }
        };
        for step in steps {
            match step {
                Step::Forward(text) => send(&mut to_server, &text).await?,
                Step::Answer(text) => send(&mut *output.lock().await, &text).await?,
            }
        }
    }
    to_server.shutdown().await
}

/// Everything that the server says.
async fn from_server<W: AsyncWrite + Unpin>(
    gateway: &Gateway,
    of_server: impl AsyncRead + Unpin,
    output: &Mutex<W>,
) -> io::Result<()> {
    let mut lines = Lines::new(of_server);
    while let Some(line) = lines.next().await? {
        match line {
            Line::Text(text) => {
                if let Some(text) = gateway.from_server(&text).await {
                    send(&mut *output.lock().await, &text).await?;
                }
            }
            Line::Unreadable(why) => tracing::warn!("a message of the server is left out: {why}"),
        }
    }
    Ok(())
}

async fn send(to: &mut (impl AsyncWrite + Unpin), text: &str) -> io::Result<()> {
    // One write a message, so that it is never seen in half.
    let mut line = String::with_capacity(text.len() + 1);
    line.push_str(text);
    line.push('\n');
    to.write_all(line.as_bytes()).await?;
    to.flush().await
}
