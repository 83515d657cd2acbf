//! This process's standard input and output. Where the system supports it, pipes and sockets are
//! used directly, without an intermediate thread; these are what clients usually provide.

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

    /// A connected socket for the stream. Files and terminals are not used in this way: they may
    /// never become ready, or may be read by others.
    fn socket(stream: &impl AsFd) -> io::Result<UnixStream> {
        let socket = Socket::from(own(stream)?);
        // Only a socket has a peer.
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
