//! Supervises one command from start to end: reads its output in bounded memory, and leaves nothing
//! running.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use counterfoil_model::ToolErrorCategory;
use counterfoil_sandbox::{Gap, Reply, end_all, give};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::capture::{Capture, Echo};
use super::group::{Group, HeldTo, KillOnDrop, Leader, failed};
use super::line_sender::LineSender;
use super::receipt::refused;
use super::run::{Ended, Left, Run, Start};
use crate::ToolError;
use crate::tool_event::OutputStream;

/// How long output may continue after the last process of the group is gone.
const DRAIN: Duration = Duration::from_millis(500);
/// How long the kernel may take to end a killed process.
const DEATH: Duration = Duration::from_secs(5);

/// Runs a command on a thread of its own. Dropping the future kills the whole process group.
pub(super) async fn run(run: Run) -> Result<Ended, ToolError> {
    let group = Group::default();
    let _kill_when_dropped = KillOnDrop(group.clone());
    let (done, ended) = tokio::sync::oneshot::channel();
    watched(run, group, move |ended| {
        // If the caller has gone, the command was cancelled and its processes are gone already.
        let _cancelled = done.send(ended);
    })?;
    ended.await.unwrap_or_else(|_| {
        let message = "monitoring stopped before the command ended";
        Err(ToolError::new(ToolErrorCategory::PermanentFailure, message))
    })
}

/// Runs a command on a thread of its own, which calls `done` at the end. The thread lives as long
/// as the command, because the kernel ends the command with the thread that started it.
pub(super) fn watched(
    run: Run,
    group: Group,
    done: impl FnOnce(Result<Ended, ToolError>) + Send + 'static,
) -> Result<(), ToolError> {
    std::thread::Builder::new()
        .name("shell command".to_owned())
        .spawn(move || done(supervise(&run, &group)))
        .map(drop)
        .map_err(|error| failed("no thread could be started", &error))
}

fn supervise(run: &Run, group: &Group) -> Result<Ended, ToolError> {
    let Leader { process, stdout, stderr, held } = group.start(run)?;
    let watched = watch(process.pid(), [stdout, stderr], held, run, group);
    // INVARIANT: on every path the group is dead before its leader is reaped; until then its id
    // cannot be reused.
    group.kill();
    let left = end_marked(run);
    group.close();
    let Watched { timed_out, stdout, stderr, gaps } = match watched {
        Ok(watched) => watched,
        Err(error) => {
            // It may take long to die; the caller should not wait for it.
            let reaper = std::thread::Builder::new().name("reaper".to_owned());
            let _detached = reaper.spawn(move || process.wait());
            return Err(error);
        }
    };
    let exit_code =
        process.wait().map_err(|error| failed("its exit status could not be read", &error))?;
    let (stdout, stderr) = (stdout.finish(), stderr.finish());
    Ok(Ended { exit_code, timed_out, stdout, stderr, left, gaps })
}

/// Ends processes that left the group. Returns `Left::NoProcess` if there were certainly none.
fn end_marked(run: &Run) -> Left {
    let Some(mark) = run.limits.mark else { return Left::Unknown };
    match end_all(mark) {
        Ok(0) => Left::NoProcess,
        Ok(_) => Left::Somebody,
        Err(_) => Left::Unknown,
    }
}

struct Watched {
    timed_out: bool,
    stdout: Capture,
    stderr: Capture,
    gaps: Vec<Gap>,
}

/// Reads the output until the leader has ended and the output is closed, or the time is up.
fn watch(
    leader: Pid,
    streams: [OwnedFd; 2],
    held: HeldTo,
    run: &Run,
    group: &Group,
) -> Result<Watched, ToolError> {
    let deadline = Instant::now() + run.timeout;
    let leader = pidfd_open(leader, PidfdFlags::empty())
        .map_err(|error| failed("it could not be monitored", &error))?;
    let [stdout, stderr] = streams;
    let mut streams = [
        Stream::new(stdout, run, OutputStream::Stdout),
        Stream::new(stderr, run, OutputStream::Stderr),
    ];
    let gaps = gaps(held, run)?;

    let mut until = deadline;
    let mut leader = Some(leader);
    let mut timed_out = false;
    loop {
        if leader.is_none() && streams.iter().all(Stream::is_closed) {
            break;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            if leader.is_none() {
                break;
            }
            if timed_out {
                let error = io::Error::from(io::ErrorKind::TimedOut);
                return Err(failed("it was killed but has not exited", &error));
            }
            timed_out = true;
            group.kill();
            until = Instant::now() + DEATH;
            continue;
        }
        let ready = ready(leader.as_ref(), &streams, left)
            .map_err(|error| failed("it could not be monitored", &error))?;
        for (stream, ready) in streams.iter_mut().zip(ready.streams) {
            if ready {
                stream.read();
            }
        }
        if ready.leader {
            // Processes left in the background end with it.
            group.kill();
            end_marked(run);
            leader = None;
            until = Instant::now() + DRAIN;
        }
    }
    let [stdout, stderr] = streams.map(|stream| stream.capture);
    Ok(Watched { timed_out, stdout, stderr, gaps })
}

/// The parts of its confinement that are not enforced.
fn gaps(held: HeldTo, run: &Run) -> Result<Vec<Gap>, ToolError> {
    let socket = match held {
        HeldTo::AllBut(gaps) => return Ok(gaps),
        HeldTo::Asks(socket) => socket,
    };
    let slow = |error: io::Error| failed("it did not start", &error);
    let Start::Held(held) = &run.start else { return Err(slow(io::ErrorKind::BrokenPipe.into())) };
    match give(socket, &held.plan).map_err(slow)? {
        Reply::Held { gaps } => Ok(gaps),
        Reply::Refused { gaps } => Err(refused(&gaps)),
        Reply::Failed { reason } => Err(failed("it could not be sandboxed", &reason)),
    }
}

struct Ready {
    leader: bool,
    streams: [bool; 2],
}

/// Waits until output is available, the leader has ended, or the time is up.
fn ready(leader: Option<&OwnedFd>, streams: &[Stream; 2], left: Duration) -> io::Result<Ready> {
    let [stdout, stderr] = streams;
    let open = [leader, stdout.from.as_ref(), stderr.from.as_ref()];
    let mut polled: Vec<PollFd<'_>> =
        open.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::IN)).collect();
    let timeout = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut polled = polled.iter().map(|fd| !fd.revents().is_empty());
    let [leader, stdout, stderr] = open.map(|fd| fd.is_some() && polled.next().unwrap_or(false));
    Ok(Ready { leader, streams: [stdout, stderr] })
}

/// An output stream being read.
struct Stream {
    /// `None` once it is closed.
    from: Option<OwnedFd>,
    capture: Capture,
    echo: Option<Echo>,
    lines: LineSender,
}

impl Stream {
    fn new(from: OwnedFd, run: &Run, stream: OutputStream) -> Self {
        let lines = LineSender::new(run.progress.clone(), stream);
        let capture = Capture::new(run.max_output);
        Self { from: Some(from), capture, echo: run.echo.clone(), lines }
    }

    fn is_closed(&self) -> bool {
        self.from.is_none()
    }

    /// Reads what is available. Only called when something is, so it does not block.
    fn read(&mut self) {
        let Some(from) = &self.from else { return };
        let mut buffer = [0; 16 * 1024];
        match rustix::io::read(from.as_fd(), &mut buffer) {
            Ok(0) => {
                self.lines.finish();
                self.from = None;
            }
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                self.capture.push(bytes);
                self.lines.push(bytes);
                if let Some(echo) = &self.echo {
                    echo.push(bytes);
                }
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => self.from = None,
        }
    }
}
