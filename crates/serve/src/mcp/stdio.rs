//! This process's standard input and output, without a thread in between where the system can do
//! that: for pipes and sockets, which is what clients give.

use tokio::io::{AsyncRead, AsyncWrite};

/// Standard input.
#[must_use]
pub fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    #[cfg(unix)]
    if let Some(input) = unix::input() {
        return input;
    }
    Box::new(tokio::io::stdin())
}

/// Standard output.
#[must_use]
pub fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    #[cfg(unix)]
    if let Some(output) = unix::output() {
        return output;
    }
    Box::new(tokio::io::stdout())
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream as Socket;

    use tokio::io::{AsyncRead, AsyncWrite};
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    fn own(stream: &impl AsFd) -> io::Result<OwnedFd> {
        stream.as_fd().try_clone_to_owned()
    }

    /// A file or a terminal is neither: those are never waited for, or read by others, too.
    fn socket(stream: &impl AsFd) -> io::Result<UnixStream> {
        let socket = Socket::from(own(stream)?);
        // Whatever is no socket has no other end.
        socket.peer_addr()?;
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket)
    }

    pub(super) fn input() -> Option<Box<dyn AsyncRead + Send + Unpin>> {
        let stdin = io::stdin();
        if let Ok(pipe) = own(&stdin).and_then(pipe::Receiver::from_owned_fd) {
            return Some(Box::new(pipe));
        }
        socket(&stdin).ok().map(|socket| Box::new(socket) as _)
    }

    pub(super) fn output() -> Option<Box<dyn AsyncWrite + Send + Unpin>> {
        let stdout = io::stdout();
        if let Ok(pipe) = own(&stdout).and_then(pipe::Sender::from_owned_fd) {
            return Some(Box::new(pipe));
        }
        socket(&stdout).ok().map(|socket| Box::new(socket) as _)
    }
}
