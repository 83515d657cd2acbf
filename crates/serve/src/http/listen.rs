//! Accepts connections until shutdown.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Time limit and maximum size in bytes of a request's head.
const HEAD: Duration = Duration::from_secs(30);
const LONGEST_HEAD: usize = 64 * 1024;

/// Time limit for the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How connections are accepted and shut down.
pub struct Listening {
    /// The listening socket.
    pub listener: TcpListener,
    /// Accepts TLS, if set.
    pub tls: Option<TlsAcceptor>,
    /// How long open requests have to end.
    pub grace: Duration,
}

/// Answers requests until `stop` completes, then waits for open ones.
///
/// # Errors
/// When connections can no longer be accepted.
pub async fn listen<A, F, B>(
    listening: Listening,
    stop: impl Future<Output = ()>,
    answer: A,
) -> io::Result<()>
where
    A: Fn(Request<Incoming>, IpAddr) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let Listening { listener, tls, grace } = listening;
    let tls = tls.map(Arc::new);
    let mut connections = JoinSet::new();
    let stopping = watch::Sender::new(false);
    tokio::pin!(stop);
    let ended = loop {
        tokio::select! {
            () = &mut stop => break Ok(()),
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            taken = listener.accept() => match taken {
                Ok((stream, from)) => {
                    let (answer, tls) = (answer.clone(), tls.clone());
                    let stopping = stopping.subscribe();
                    connections.spawn(take(stream, from, tls, answer, stopping));
                }
                Err(error) if is_fatal(&error) => break Err(error),
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
        }
    };
    stopping.send_replace(true);
    let rest = async { while connections.join_next().await.is_some() {} };
    if timeout(grace, rest).await.is_err() {
        connections.shutdown().await;
    }
    ended
}

/// Whether the listener can accept no more connections. Other errors mean that one connection was
/// lost, or that there are too many at the moment.
fn is_fatal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected)
}

async fn take<A, F, B>(
    stream: TcpStream,
    from: SocketAddr,
    tls: Option<Arc<TlsAcceptor>>,
    answer: A,
    stopping: watch::Receiver<bool>,
) where
    A: Fn(Request<Incoming>, IpAddr) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Send small responses immediately.
    stream.set_nodelay(true).ok();
    match tls {
        None => speak(stream, from, answer, stopping).await,
        Some(tls) => match timeout(HANDSHAKE, tls.accept(stream)).await {
            Ok(Ok(stream)) => speak(stream, from, answer, stopping).await,
            // A client that fails the handshake gets no response.
            Ok(Err(error)) => tracing::debug!("the TLS handshake failed: {error}"),
            Err(_) => {}
        },
    }
}

async fn speak<S, A, F, B>(
    stream: S,
    from: SocketAddr,
    answer: A,
    mut stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(Request<Incoming>, IpAddr) -> F,
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let service = service_fn(|request| {
        let answered = answer(request, from.ip());
        async move { Ok::<_, Infallible>(answered.await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let stopped = tokio::select! {
        // How a connection ends is up to the client.
        _ = connection.as_mut() => false,
        _ = stopping.wait_for(|stopping| *stopping) => true,
    };
    if stopped {
        connection.as_mut().graceful_shutdown();
        connection.await.ok();
    }
}
