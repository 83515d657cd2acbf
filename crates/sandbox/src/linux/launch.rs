//! Starts the helper inside bubblewrap and sends it the plan. Its standard input is a socket: the
//! plan goes in, the reply comes out.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use super::super::{Plan, Reply};
use super::start::{Before, Program, Started, start};
use super::step::{Step, Stopped};

/// How long the helper may take to reply on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts the helper, which then waits for the plan.
///
/// # Errors
/// When it cannot be started.
pub fn launch(program: Program<'_>) -> Result<(Started, UnixStream), Stopped> {
    let (ours, theirs) = UnixStream::pair().map_err(|error| Step::Birth.stopped(error))?;
    let started = start(program, Some(OwnedFd::from(theirs)), &Before::Nothing)?;
    Ok((started, ours))
}

/// Sends the plan to the helper, and waits for its reply.
///
/// # Errors
/// When it does not reply in time, or the reply is invalid.
pub fn give(mut socket: UnixStream, plan: &Plan) -> io::Result<Reply> {
    let mut line = serde_json::to_vec(plan)?;
    line.push(b'\n');
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.write_all(&line)?;
    let mut reply = String::new();
    // Not to the end of the stream: bubblewrap keeps the other end open.
    if BufReader::new(socket).read_line(&mut reply)? == 0 {
        return Err(io::Error::other("the helper exited without a response"));
    }
    Ok(serde_json::from_str(&reply)?)
}

/// Has the helper apply everything without running a program.
pub(in super::super) fn attempt(words: &[String], plan: &Plan) -> io::Result<Reply> {
    let environment = BTreeMap::new();
    let program = Program { words, directory: Path::new("/"), environment: &environment };
    let (started, socket) = launch(program).map_err(io::Error::other)?;
    let reply = give(socket, plan);
    if reply.is_err() {
        let _gone = kill_process(started.process.pid(), Signal::KILL);
    }
    drop(started.stdout);
    let mut stderr = String::new();
    let _unread = File::from(started.stderr).read_to_string(&mut stderr);
    started.process.wait()?;
    reply.map_err(|error| match stderr.lines().next() {
        Some(line) => io::Error::other(line.to_owned()),
        None => error,
    })
}
