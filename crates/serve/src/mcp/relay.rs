use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::framing::write_message;
use super::gateway::{Gateway, Step};
use super::lines::{Line, Lines};
use super::message;

/// How long a server may take to exit after its client is gone.
const GRACE: Duration = Duration::from_secs(5);

/// How a relay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client disconnected or the relay was stopped, and the server was ended.
    Client,
    /// The server ended by itself, with this exit code if it has one.
    Server(Option<i32>),
}

/// The side that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    Client,
    Server,
}

/// Why a relay cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The server cannot be started.
    #[error("the server `{program}` cannot be started: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// The reason.
        reason: io::Error,
    },
    /// The server has no input and output streams.
    #[error("the server's standard input and output are not available")]
    NoStreams,
}

/// Starts a server and relays between it and a client until either ends, or `stop` completes. The
/// server's standard error is inherited.
///
/// # Errors
/// When the server cannot be started.
pub async fn relay(
    gateway: &Gateway,
    mut command: Command,
    (input, output): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    stop: impl Future<Output = ()>,
) -> Result<Ended, RelayError> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let started = command.spawn();
    let mut child = started.map_err(|reason| RelayError::NotStarted { program, reason })?;
    let (Some(to_server), Some(of_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(RelayError::NoStreams);
    };
    let output = Mutex::new(output);
    let gone = {
        let client = of_client(gateway, input, to_server, &output);
        let server = from_server(gateway, of_server, &output);
        tokio::pin!(client, server);
        tokio::select! {
            gone = &mut client => {
                // The server's remaining messages may still be wanted.
                let rest = timeout(GRACE, &mut server).await;
                let left_out = rest == Ok(Gone::Server) && !gateway.open().is_empty();
                // A server may end without an answer once its client is gone, but it may not fail.
                match gone {
                    Gone::Client if left_out && failed(&mut child).await => Gone::Server,
                    gone => gone,
                }
            }
            gone = &mut server => gone,
            () = stop => Gone::Client,
        }
    };
    let why = match gone {
        Gone::Client => "the client disconnected",
        Gone::Server => "the MCP server exited before it answered",
    };
    let answers = gateway.end(gone == Gone::Client, why).await;
    if gone == Gone::Server {
        let mut output = output.lock().await;
        for answer in answers {
            // Stop if the client no longer reads.
            if write_message(&mut *output, &answer).await.is_err() {
                break;
            }
        }
    }
    let status = timeout(GRACE, child.wait()).await;
    if status.is_err() {
        child.kill().await.ok();
    }
    Ok(match gone {
        Gone::Server => Ended::Server(status.ok().and_then(|status| status.ok()?.code())),
        Gone::Client => Ended::Client,
    })
}

/// Whether a server whose output has ended failed; `false` if it does not exit in time.
async fn failed(child: &mut Child) -> bool {
    timeout(GRACE, child.wait()).await.is_ok_and(|ended| !ended.is_ok_and(|s| s.success()))
}

/// Reads the client's messages until the end, then closes the server's input.
async fn of_client<W: AsyncWrite + Unpin>(
    gateway: &Gateway,
    input: impl AsyncRead + Unpin,
    mut to_server: impl AsyncWrite + Unpin,
    output: &Mutex<W>,
) -> Gone {
    let mut lines = Lines::new(input);
    while let Ok(Some(line)) = lines.next().await {
        let steps = match line {
            Line::Text(text) => {
                if let Some(mut list) = gateway.unlisted(&text).await {
                    while let Some(request) = list.request() {
                        let sent = write_message(&mut to_server, &request).await.is_ok();
                        list.answered(sent).await;
                    }
                }
                gateway.from_client(&text).await
            }
            Line::Unreadable(why, found) => vec![Step::Answer(found.refusal(why))],
        };
        for step in steps {
            let (sent, to) = match step {
                Step::Forward(text) => (write_message(&mut to_server, &text).await, Gone::Server),
                Step::Answer(text) => {
                    (write_message(&mut *output.lock().await, &text).await, Gone::Client)
                }
            };
            if sent.is_err() {
                return to;
            }
        }
    }
    // A server that is gone has no input to close.
    to_server.shutdown().await.ok();
    Gone::Client
}

/// Reads the server's messages.
async fn from_server<W: AsyncWrite + Unpin>(
    gateway: &Gateway,
    of_server: impl AsyncRead + Unpin,
    output: &Mutex<W>,
) -> Gone {
    let mut lines = Lines::new(of_server);
    while let Ok(Some(line)) = lines.next().await {
        let text = match line {
            Line::Text(text) => text,
            Line::Unreadable(why, found) => match found.in_place_of_answer(why) {
                Some(answer) => answer,
                None => {
                    tracing::warn!("ignored a message from the server: {why}");
                    continue;
                }
            },
        };
        let Ok(parts) = message::parts(&text) else {
            tracing::warn!("ignored a batch from the server: it is not JSON");
            continue;
        };
        for part in parts {
            if let Some(text) = gateway.from_server(part).await
                && write_message(&mut *output.lock().await, &text).await.is_err()
            {
                return Gone::Client;
            }
        }
    }
    Gone::Server
}
