//! Starting the helper, and telling it what to do. Its standard input is a socket: the plan goes
//! in, the reply comes out, and the socket is closed when it has become the command.
#![expect(clippy::disallowed_methods, reason = "this is where the helper is started")]

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::super::{Plan, Reply};

/// How long the helper may take to answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The helper with its standard input as a socket; the rest is the caller's to say.
pub(crate) fn launch(words: &[String], own_group: bool) -> io::Result<(Command, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let (program, arguments) =
        words.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().stdin(Stdio::from(OwnedFd::from(theirs)));
    if own_group {
        command.process_group(0);
    }
    Ok((command, ours))
}

/// Tells the helper what to do, and waits until it has done it. What it says last counts: that it
/// could not become the command, perhaps.
pub(crate) fn give(mut socket: UnixStream, plan: &Plan) -> io::Result<Reply> {
    let mut line = serde_json::to_vec(plan)?;
    line.push(b'\n');
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.write_all(&line)?;
    let mut last = None;
    for line in BufReader::new(socket).lines() {
        let reply: Reply = serde_json::from_str(&line?)?;
        let is_held = matches!(reply, Reply::Held { .. });
        last = Some(reply);
        // Behind bubblewrap the other end stays open: it keeps its own input.
        if is_held && plan.own_namespaces {
            break;
        }
    }
    last.ok_or_else(|| io::Error::other("the helper ended without an answer"))
}

/// Has the helper do everything, and become nothing.
pub(in super::super) fn attempt(
    words: &[String],
    plan: &Plan,
    own_group: bool,
) -> io::Result<Reply> {
    let (mut command, socket) = launch(words, own_group)?;
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    // The other end would stay open in the command.
    drop(command);
    let reply = give(socket, plan);
    if reply.is_err() {
        let _gone = child.kill();
    }
    let output = child.wait_with_output()?;
    reply.map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        match said.lines().next() {
            Some(line) => io::Error::other(line.to_owned()),
            None => error,
        }
    })
}
