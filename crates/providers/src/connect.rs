//! HTTP connections to servers, with or without TLS.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use counterfoil_tools::trusted_tls;
use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use tower_service::Service;

/// Makes connections. TLS is initialised on first use.
#[derive(Clone, Default)]
pub struct Connector {
    tls: Arc<OnceLock<TlsConnector>>,
    /// Whether a TLS server may choose HTTP/2.
    http2: bool,
}

trait Both: AsyncRead + AsyncWrite + Send + Unpin {}
impl<C: AsyncRead + AsyncWrite + Send + Unpin> Both for C {}

/// A connection as a plain byte stream, and whether it uses HTTP/2.
pub struct Wire(Box<dyn Both>, bool);

/// The protocols offered to TLS servers, in order of preference.
const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

impl Connector {
    /// A connector that lets TLS servers choose HTTP/2.
    #[must_use]
    pub fn with_http2() -> Self {
        Self { http2: true, ..Self::default() }
    }

    async fn connect(self, to: Uri) -> io::Result<Wire> {
        let host = to.host().unwrap_or_default();
        // An IPv6 address in a URL is in brackets.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let encrypted = to.scheme_str() == Some("https");
        let port = to.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
        let stream = TcpStream::connect((host.as_str(), port)).await?;
        stream.set_nodelay(true)?;
        if !encrypted {
            return Ok(Wire(Box::new(stream), false));
        }
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        let stream = self.tls()?.connect(name, stream).await?;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2);
        Ok(Wire(Box::new(stream), http2))
    }

    fn tls(&self) -> io::Result<TlsConnector> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls.clone());
        }
        let mut tls = trusted_tls(None).map_err(io::Error::other)?;
        if self.http2 {
            let mut config = ClientConfig::clone(tls.config());
            config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
            tls = TlsConnector::from(Arc::new(config));
        }
        Ok(self.tls.get_or_init(|| tls).clone())
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Wire>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<Wire>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { Ok(TokioIo::new(connector.connect(to).await?)) })
    }
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        if self.1 { Connected::new().negotiated_h2() } else { Connected::new() }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
