use std::fmt;
use std::time::Duration;

use counterfoil_guard::{BoxFuture, Completion, CompletionError, Embedder, EmbedderError};
use counterfoil_model::WrongJson;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request as Sent, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::chat::{Piece, Reply, Request, Turn};
use crate::connect::Connector;
use crate::events::Events;
use crate::options::{Kind, ProviderSettings};
use crate::text_tools::{in_text, out_of_text};
use crate::wire::{self, ModelRequest, WireError};

/// Maximum size in bytes of a response that is not streamed, and of an error that is read.
const LONGEST: usize = 64 * 1024 * 1024;
/// Maximum number of characters of a server's error message that are passed on.
const LONGEST_WHY: usize = 500;
/// Maximum pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A language model that is reached over HTTP.
pub struct Provider {
    settings: ProviderSettings,
    client: Client<Connector, Full<Bytes>>,
}

/// A request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The server cannot be reached.
    #[error("cannot reach `{name}`: {why}")]
    NotReached {
        /// The provider.
        name: String,
        /// What happened.
        why: String,
    },
    /// The server responded with an error.
    #[error("`{name}` responded with HTTP status {status}: {why}")]
    Status {
        /// The provider.
        name: String,
        /// The status.
        status: u16,
        /// The server's explanation.
        why: String,
        /// When to retry, if the server says so.
        after: Option<Duration>,
    },
    /// The response is invalid or incomplete.
    #[error("`{name}` gave no valid response: {why}")]
    Broken {
        /// The provider.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl ProviderError {
    /// Whether a retry may succeed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NotReached { .. } | Self::Broken { .. } => true,
            Self::Status { status, .. } => {
                matches!(status, 408 | 409 | 425 | 429) || *status >= 500
            }
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Status { status: 401 | 403, .. } => {
                "the server rejected the API key: check the provider's `api_key_env` and \
                 `api_key_file`"
            }
            Self::Status { status: 404, .. } => {
                "check the provider's `url` (up to and including `/v1`) and `model`"
            }
            Self::Status { status: 429, .. } => "wait, or use another provider",
            Self::NotReached { .. } => {
                "check the provider's `url`, and whether its server is running"
            }
            Self::Status { .. } | Self::Broken { .. } => {
                "check the provider's `kind`, and its server's log"
            }
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Provider {
    /// A client with these settings. Does not connect yet.
    #[must_use]
    pub fn new(settings: ProviderSettings) -> Self {
        let client = Client::builder(TokioExecutor::new()).build(Connector::default());
        Self { settings, client }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &ProviderSettings {
        &self.settings
    }

    /// Whether tools can be passed to the model. If not, the request must contain all of them,
    /// because the model chooses by reading their descriptions.
    #[must_use]
    pub fn supports_tool_use(&self) -> bool {
        self.settings.supports_tool_use
    }

    /// Sends a request and returns the model's response. `on` receives the pieces as they arrive.
    /// If the request is retried, it starts again from the beginning, and `on` receives
    /// `Piece::Again`.
    ///
    /// # Errors
    /// When there is no complete response.
    pub async fn chat(
        &self,
        request: &Request,
        on: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Reply, ProviderError> {
        let plain = (!self.supports_tool_use()).then(|| in_text(request));
        let model_request = ModelRequest {
            model: &self.settings.model,
            max_tokens: self.settings.max_tokens,
            request: plain.as_ref().unwrap_or(request),
        };
        let body = wire::body(self.settings.kind, model_request).to_string();
        let mut attempt = 1;
        loop {
            let error = match self.respond(&body, on).await {
                Ok(reply) if plain.is_some() => return Ok(out_of_text(reply)),
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if attempt >= self.settings.max_attempts || !error.is_transient() {
                return Err(error);
            }
            let pause = pause(attempt, &error);
            let after = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            on(Piece::Again { after, why: error.to_string() });
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// The names of the models that the server offers.
    ///
    /// # Errors
    /// When it does not return a list of models.
    pub async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let response = self.send(Method::GET, "models", "").await?;
        let text = self.text(response).await?;
        let list: Models =
            serde_json::from_str(&text).map_err(|error| self.broken(&WrongJson::new(&error)))?;
        Ok(list.data.into_iter().map(|model| model.id).collect())
    }

    async fn respond(
        &self,
        body: &str,
        on: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Reply, ProviderError> {
        let response = self.post(self.settings.kind.path(), body).await?;
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            return self.streamed(response, on).await;
        }
        let text = self.text(response).await?;
        wire::whole(self.settings.kind, &text).map_err(|error| self.broken(&error))
    }

    async fn streamed(
        &self,
        response: Response<Incoming>,
        on: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Reply, ProviderError> {
        let mut body = response.into_body();
        let mut events = Events::default();
        let mut answer = wire::assembler(self.settings.kind);
        let (mut count, mut progressed) = (0, Instant::now());
        while let Some(bytes) = self.next(&mut body).await? {
            count += bytes.len();
            if count > LONGEST {
                return Err(self.broken(&"the response is longer than 64 MiB"));
            }
            // Comments keep a connection open but do not count as progress.
            if progressed.elapsed() > self.settings.timeout {
                return Err(self.broken(&self.silent()));
            }
            events.push(&bytes).map_err(|error| self.broken(&error))?;
            while let Some(event) = events.next() {
                if event.data.is_empty() {
                    continue;
                }
                progressed = Instant::now();
                answer.take(&event.data, on).map_err(|error| self.broken(&error))?;
            }
        }
        answer.finish().map_err(|error: WireError| self.broken(&error))
    }

    /// The next bytes; `None` at the end.
    async fn next(&self, body: &mut Incoming) -> Result<Option<Bytes>, ProviderError> {
        loop {
            let frame = timeout(self.settings.timeout, body.frame()).await;
            let frame = frame.map_err(|_| self.broken(&self.silent()))?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| self.broken(&causes(&error)))?;
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }
    }

    async fn text(&self, response: Response<Incoming>) -> Result<String, ProviderError> {
        let mut body = response.into_body();
        let mut text = Vec::new();
        while let Some(bytes) = self.next(&mut body).await? {
            if text.len() + bytes.len() > LONGEST {
                return Err(self.broken(&"the response is longer than 64 MiB"));
            }
            text.extend_from_slice(&bytes);
        }
        String::from_utf8(text).map_err(|_| self.broken(&"the response is not UTF-8"))
    }

    async fn post(&self, path: &str, body: &str) -> Result<Response<Incoming>, ProviderError> {
        self.send(Method::POST, path, body).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: &str,
    ) -> Result<Response<Incoming>, ProviderError> {
        let not_reached =
            |why: String| ProviderError::NotReached { name: self.settings.name.clone(), why };
        let mut url = self.settings.url.clone();
        url.set_path(&format!("{}/{path}", url.path().trim_end_matches('/')));
        let uri: Uri = url.as_str().parse().map_err(|_| not_reached(format!("{url}")))?;
        let mut request = Sent::new(Full::new(Bytes::from(body.to_owned())));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers().map_err(not_reached)?;
        let response = timeout(self.settings.timeout, self.client.request(request)).await;
        let response = response.map_err(|_| not_reached(self.silent()))?;
        let response = response.map_err(|error| not_reached(causes(&error)))?;
        if response.status() == StatusCode::OK {
            return Ok(response);
        }
        Err(self.refused(response).await)
    }

    fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accepts = HeaderValue::from_static("text/event-stream, application/json");
        headers.insert(header::ACCEPT, accepts);
        let agent = HeaderValue::from_static(concat!("counterfoil/", env!("CARGO_PKG_VERSION")));
        headers.insert(header::USER_AGENT, agent);
        let anthropic = self.settings.kind == Kind::Anthropic;
        if anthropic {
            let version = HeaderName::from_static("anthropic-version");
            headers.insert(version, HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = &self.settings.key {
            let (name, text) = if anthropic {
                (HeaderName::from_static("x-api-key"), key.expose().to_owned())
            } else {
                (header::AUTHORIZATION, format!("Bearer {}", key.expose()))
            };
            let value = HeaderValue::from_str(&text);
            let mut value =
                value.map_err(|_| "the API key cannot be sent as an HTTP header".to_owned())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    async fn refused(&self, response: Response<Incoming>) -> ProviderError {
        let status = response.status().as_u16();
        let after = response.headers().get(header::RETRY_AFTER);
        let after = after.and_then(|after| after.to_str().ok()?.trim().parse().ok());
        let text = self.text(response).await.unwrap_or_default();
        let error = serde_json::from_str::<Value>(&text).ok();
        let why = match error.as_ref().map(|error| error.get("error").unwrap_or(error)) {
            Some(error) => wire::error_message(error),
            None => text,
        };
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        let why = why.trim().chars().take(LONGEST_WHY).map(shown).collect();
        let after = after.map(Duration::from_secs);
        ProviderError::Status { name: self.settings.name.clone(), status, why, after }
    }

    fn silent(&self) -> String {
        format!("the server sent nothing for {} s", self.settings.timeout.as_secs())
    }

    fn broken(&self, why: &dyn fmt::Display) -> ProviderError {
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        let why = why.to_string().chars().take(LONGEST_WHY).map(shown).collect();
        ProviderError::Broken { name: self.settings.name.clone(), why }
    }
}

/// The pause before the next attempt: as long as the server asks, or else exponentially longer with
/// jitter.
fn pause(attempt: u32, error: &ProviderError) -> Duration {
    if let ProviderError::Status { after: Some(after), .. } = error {
        return (*after).min(LONGEST_PAUSE);
    }
    let mut byte = [0];
    // Without randomness all clients wait equally long, which does no harm.
    let _ = getrandom::fill(&mut byte);
    let [byte] = byte;
    let longest = Duration::from_millis(500).saturating_mul(1 << attempt.min(7));
    longest.min(LONGEST_PAUSE).mul_f64(0.5 + f64::from(byte) / 510.0)
}

/// The message of an error, followed by those of its causes.
#[must_use]
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

impl Completion for Provider {
    fn complete<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<String, CompletionError>> {
        let request = Request { turns: vec![Turn::User(prompt.to_owned())], ..Request::default() };
        Box::pin(async move {
            let reply = self.chat(&request, &mut |_| {}).await;
            reply.map(|reply| reply.text).map_err(|error| CompletionError(error.to_string()))
        })
    }
}

#[derive(Debug, Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Debug, Deserialize)]
struct Model {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Debug, Deserialize)]
struct Embedding {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embedder for Provider {
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        Box::pin(async move {
            let failed = |why: String| EmbedderError(why);
            let Some(model) = &self.settings.embedding_model else {
                let why = format!("the provider `{}` has no `embedding_model`", self.settings.name);
                return Err(failed(why));
            };
            let body = json!({ "model": model, "input": texts, "encoding_format": "float" });
            let response = self.post("embeddings", &body.to_string()).await;
            let response = response.map_err(|error| failed(error.to_string()))?;
            let text = self.text(response).await.map_err(|error| failed(error.to_string()))?;
            let answer: Embeddings = serde_json::from_str(&text)
                .map_err(|error| failed(WrongJson::new(&error).to_string()))?;
            in_order(answer.data, texts.len())
                .ok_or_else(|| failed("the response does not have one vector per text".to_owned()))
        })
    }
}

fn in_order(data: Vec<Embedding>, count: usize) -> Option<Vec<Vec<f32>>> {
    let mut vectors = vec![Vec::new(); count];
    for (at, one) in data.into_iter().enumerate() {
        *vectors.get_mut(one.index.unwrap_or(at))? = one.embedding;
    }
    let length = vectors.first().map_or(0, Vec::len);
    let whole = vectors.iter().all(|vector| !vector.is_empty() && vector.len() == length);
    whole.then_some(vectors)
}
