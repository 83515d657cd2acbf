//! The model that judges calls by policies in plain language, behind an API of the OpenAI form.
//!
//! One request on one connection: no pool, no proxy, no redirects. Its words are not looked at
//! here; the guard decides what they mean.

use std::sync::Arc;

use anyhow::Context as _;
use counterfoil_guard::{AdversarialOptions, BoxFuture, Completion, CompletionError};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use crate::exit::Complaint;

/// The longest answer that is read, in bytes.
const LONGEST: usize = 256 * 1024;

/// Asks a model over HTTP.
pub(crate) struct HttpJudge {
    url: Url,
    /// `None` where nothing is encrypted, which only this machine gets.
    tls: Option<TlsConnector>,
    model: String,
    key: Option<String>,
}

/// The judge of this configuration; `None` where it names none.
pub(crate) fn judge(options: &AdversarialOptions) -> anyhow::Result<Option<Arc<dyn Completion>>> {
    if !options.enabled || options.url.is_empty() {
        return Ok(None);
    }
    let key = match options.api_key_env.as_str() {
        "" => None,
        name => Some(std::env::var(name).map_err(|_| {
            Complaint::new(format!("the environment variable `{name}` is not set"))
                .help("`tools.adversarial_policy.api_key_env` says that it holds the judge's key")
        })?),
    };
    Ok(Some(Arc::new(HttpJudge::new(&options.url, &options.model, key)?)))
}

impl HttpJudge {
    fn new(address: &str, model: &str, key: Option<String>) -> anyhow::Result<Self> {
        let wrong = |why: &str| {
            let message = format!("tools.adversarial_policy.url: `{address}` {why}");
            Complaint::new(message).help("such as `https://api.example.com/v1`")
        };
        let mut url = Url::parse(address).map_err(|error| wrong(&format!("is no URL: {error}")))?;
        let tls = match url.scheme() {
            "https" => Some(connector()?),
            "http" if is_here(&url) => None,
            "http" => return Err(wrong("is not encrypted, and not on this machine").into()),
            _ => return Err(wrong("is neither http nor https").into()),
        };
        if model.is_empty() {
            let message = "tools.adversarial_policy.model is missing".to_owned();
            return Err(Complaint::new(message).into());
        }
        let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
        url.set_path(&path);
        Ok(Self { url, tls, model: model.to_owned(), key })
    }

    async fn ask(&self, question: &str) -> anyhow::Result<String> {
        let host = self.url.host_str().context("the URL names no host")?;
        let port = self.url.port_or_known_default().context("the URL names no port")?;
        // Brackets belong into URLs, not into addresses.
        let plain = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((plain, port)).await?;
        let body = json!({
            "model": self.model,
            "messages": [{ "role": "user", "content": question }],
            "stream": false
        });
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(self.url.path())
            .header(header::HOST, format!("{host}:{port}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json");
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        let request = request.body(Full::new(Bytes::from(body.to_string())))?;
        match &self.tls {
            Some(tls) => {
                let name = ServerName::try_from(plain.to_owned())?;
                exchange(tls.connect(name, stream).await?, request).await
            }
            None => exchange(stream, request).await,
        }
    }
}

impl Completion for HttpJudge {
    fn complete<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<String, CompletionError>> {
        Box::pin(async move {
            self.ask(prompt).await.map_err(|error| CompletionError(format!("{error:#}")))
        })
    }
}

/// Sends the request and reads what the model said.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> anyhow::Result<String>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let talk = async move {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), LONGEST).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!("its answer cannot be read: {error}"))?;
        anyhow::ensure!(status.is_success(), "it answered with HTTP status {}", status.as_u16());
        let answer: Value = serde_json::from_slice(&body.to_bytes())?;
        let said = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        said.map(str::to_owned).context("its answer has no message")
    };
    // The connection goes on only as long as somebody waits for it.
    tokio::pin!(talk);
    tokio::select! {
        said = &mut talk => said,
        closed = connection => {
            closed?;
            talk.await
        }
    }
}

/// Whether the host is this machine, whatever names say.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    }
}

/// Encrypted connections to whom the system trusts.
fn connector() -> anyhow::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    // What cannot be read is left out: fewer are trusted.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
