use std::path::PathBuf;
use std::time::Duration;

use counterfoil_model::{Digest, Severity};
use counterfoil_providers::Key;
use hyper::Uri;
use hyper::body::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::keys::VirtualKey;
use crate::route::PathRule;
use counterfoil_serve::Access;

/// `[proxy]`: what `counterfoil proxy` does between an agent and its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyOptions {
    /// What becomes of an answer that the record does not show.
    pub mode: ProxyMode,
    /// How bad it has to be for that; what is less is recorded.
    pub least: Least,
    /// Where requests of OpenAI's wires go: everything in front of `/v1`.
    pub openai_url: String,
    /// Where requests of Anthropic's wire go: everything in front of `/v1`.
    pub anthropic_url: String,
    /// Danger: `http` to other machines, where anybody in between reads everything.
    pub allow_http: bool,
    /// How often the model is asked again for one answer, in `correct` and `block`.
    pub max_corrections: u32,
    /// How many seconds that may take together.
    pub correction_secs: u64,
    /// How many milliseconds a piece of an answer may wait for its judgement.
    pub verify_ms: u64,
    /// What becomes of what could not be judged: `pass` or `hold`. Not set: it is held in `block`,
    /// and passes elsewhere. It is recorded in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// Whether tools that were changed once stay so for the rest of a session, for the sake of what
    /// the server keeps of a prompt.
    pub pin_tools: bool,
    /// How many seconds a server may be silent.
    pub timeout_secs: u64,
    /// The longest request, in bytes.
    pub max_body_bytes: usize,
    /// How much of an answer may be held back at once, in bytes.
    pub max_held_bytes: usize,
    /// How many sessions are remembered at once.
    pub max_sessions: usize,
    /// After how many seconds without a request a session is forgotten.
    pub idle_secs: u64,
    /// What passes in `correct` and `block` although nobody judges it, beside what is known to hold no
    /// answer: `GET /v1/batches/*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// How many requests one address may make in a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Hosts under which clients may ask, beside this machine's own names: `name` or `name:port`.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask, beside those of this machine: `https://name`.
    pub origins: Vec<String>,
    /// The environment variable that holds the bearer token with which status and metrics are seen
    /// from other machines. Not set: they are seen from this machine only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// Danger: whether others than this machine may ask without a key of `[[proxy.keys]]`.
    pub allow_anyone: bool,
    /// The file of the certificates with which clients are answered encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    /// The file of its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    /// Keys that clients may use in the place of a provider's. None: what a client sends goes on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<VirtualKeyOptions>,
}

impl Default for ProxyOptions {
    fn default() -> Self {
        Self {
            mode: ProxyMode::default(),
            least: Least::default(),
            openai_url: "https://api.openai.com".to_owned(),
            anthropic_url: "https://api.anthropic.com".to_owned(),
            allow_http: false,
            max_corrections: 1,
            correction_secs: 60,
            verify_ms: 50,
            on_timeout: None,
            pin_tools: true,
            timeout_secs: 600,
            max_body_bytes: 32 * 1024 * 1024,
            max_held_bytes: 8 * 1024 * 1024,
            max_sessions: 1024,
            idle_secs: 6 * 3600,
            paths: Vec::new(),
            requests_per_minute: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            token_env: None,
            allow_anyone: false,
            tls_cert: None,
            tls_key: None,
            keys: Vec::new(),
        }
    }
}

/// One of `[[proxy.keys]]`: a key of our own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VirtualKeyOptions {
    /// What records call whoever has it.
    pub name: String,
    /// The environment variable that holds it.
    pub key_env: String,
    /// The environment variable that holds the provider's key, which goes on in its place.
    pub provider_key_env: String,
    /// Whose key that is; it goes nowhere else.
    pub provider: KeyProvider,
    /// How many requests it may make in a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// How many tokens, read and written, it may use in a day (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_day: Option<u64>,
    /// What it reaches beside answers, models and counting tokens: `POST /v1/embeddings`. `*` is one
    /// part of a path, `**` all that follow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// Whose key a key is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyProvider {
    /// Of the server of `proxy.openai_url`.
    #[default]
    Openai,
    /// Of the server of `proxy.anthropic_url`.
    Anthropic,
}

/// What becomes of an answer that the record does not show.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProxyMode {
    /// It passes byte for byte, and is recorded.
    Observe,
    /// It passes, with what is wrong beneath it.
    #[default]
    Annotate,
    /// The model is asked again; what does not get better passes with what is wrong beneath it.
    Correct,
    /// The model is asked again; what does not get better does not pass.
    Block,
}

impl ProxyMode {
    /// The name used in configuration and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Annotate => "annotate",
            Self::Correct => "correct",
            Self::Block => "block",
        }
    }

    /// Whether nothing leaves before it was judged.
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::Correct | Self::Block)
    }
}

/// How bad something has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Least {
    /// The record proves the opposite, or that it never happened.
    #[default]
    Error,
    /// It is doubtful.
    Warning,
}

/// What becomes of what could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// It passes.
    Pass,
    /// It is held until it is judged; what nobody can judge does not pass.
    Hold,
}

/// What was said of the proxy, checked.
#[derive(Debug)]
pub struct ProxySettings {
    pub(crate) mode: ProxyMode,
    pub(crate) least: Severity,
    pub(crate) openai: Uri,
    pub(crate) anthropic: Uri,
    pub(crate) max_corrections: u32,
    pub(crate) correction: Duration,
    pub(crate) verify: Duration,
    pub(crate) on_timeout: OnTimeout,
    pub(crate) pin_tools: bool,
    pub(crate) silence: Duration,
    pub(crate) max_body_bytes: usize,
    pub(crate) max_held_bytes: usize,
    pub(crate) max_sessions: usize,
    pub(crate) idle: Duration,
    pub(crate) access: Access,
    pub(crate) keys: Vec<VirtualKey>,
    pub(crate) paths: Vec<PathRule>,
    /// What operators on other machines have to know.
    pub(crate) operators: Option<Digest>,
}

/// Why the proxy cannot be used as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyOptionsError {
    /// An address of a server.
    #[error("proxy.{key} is `{url}`: it begins with `https://` or `http://` and a host")]
    Url {
        /// The key.
        key: &'static str,
        /// What stands there.
        url: String,
    },
    /// Plain text to elsewhere.
    #[error("proxy.{key} is `{url}`: `http` to another machine is read by anybody in between")]
    Plain {
        /// The key.
        key: &'static str,
        /// What stands there.
        url: String,
    },
    /// A key without its name or its variables.
    #[error("a key of [[proxy.keys]] needs `name`, `key_env` and `provider_key_env`")]
    Key,
    /// Two of one name.
    #[error("two of [[proxy.keys]] are called `{0}`")]
    TwoOfOneName(String),
    /// A variable that holds nothing.
    #[error("`{0}` holds no key, and [[proxy.keys]] says it does")]
    NoKey(String),
    /// A path that is none.
    #[error("`{0}` names no path: write a method and a path, as in \"GET /v1/files/*\"")]
    Path(String),
    /// A key with a budget that nobody can keep.
    #[error(
        "the key `{0}` has `tokens_per_day`, and `{1}` is answered later: what that costs is not counted"
    )]
    NotCounted(String, String),
    /// Half of what encryption needs.
    #[error("proxy.tls_cert and proxy.tls_key go together")]
    Tls,
}

impl ProxySettings {
    /// Whether what nobody can judge does not pass.
    pub(crate) fn withholds(&self) -> bool {
        self.mode.holds() && self.on_timeout == OnTimeout::Hold
    }

    /// The key of ours that is called so.
    pub(crate) fn key(&self, name: &str) -> Option<&VirtualKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// What a server says, without keys of providers.
    pub(crate) fn without_keys(&self, bytes: &Bytes) -> Bytes {
        self.keys
            .iter()
            .fold(bytes.clone(), |bytes, key| key.redact(&bytes).map_or(bytes, Bytes::from))
    }
}

impl ProxyOptions {
    /// The settings; `variable` reads the environment.
    ///
    /// # Errors
    /// When something cannot be used.
    pub fn resolve(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<ProxySettings, ProxyOptionsError> {
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return Err(ProxyOptionsError::Tls);
        }
        let key = |name: &str| {
            let key = variable(name).as_deref().and_then(Key::new);
            key.ok_or_else(|| ProxyOptionsError::NoKey(name.to_owned()))
        };
        let keys = self.virtual_keys(key)?;
        let token = self.token_env.as_deref().map(key).transpose()?;
        let on_timeout = match self.mode {
            ProxyMode::Block => OnTimeout::Hold,
            _ => OnTimeout::Pass,
        };
        Ok(ProxySettings {
            mode: self.mode,
            least: match self.least {
                Least::Error => Severity::Error,
                Least::Warning => Severity::Warning,
            },
            openai: self.url("openai_url", &self.openai_url)?,
            anthropic: self.url("anthropic_url", &self.anthropic_url)?,
            max_corrections: self.max_corrections,
            correction: Duration::from_secs(self.correction_secs),
            verify: Duration::from_millis(self.verify_ms),
            on_timeout: self.on_timeout.unwrap_or(on_timeout),
            pin_tools: self.pin_tools,
            silence: Duration::from_secs(self.timeout_secs.max(1)),
            max_body_bytes: self.max_body_bytes,
            max_held_bytes: self.max_held_bytes,
            max_sessions: self.max_sessions.max(1),
            idle: Duration::from_secs(self.idle_secs),
            access: Access {
                section: "proxy",
                hosts: self.hosts.clone(),
                origins: self.origins.clone(),
                token: None,
                requests_per_minute: self.requests_per_minute,
            },
            keys,
            paths: rules(&self.paths)?,
            operators: token.map(|token| Digest::of_bytes(token.expose().as_bytes())),
        })
    }

    /// Our own keys, each with the one of the provider behind it; `key` reads a variable.
    fn virtual_keys(
        &self,
        key: impl Fn(&str) -> Result<Key, ProxyOptionsError>,
    ) -> Result<Vec<VirtualKey>, ProxyOptionsError> {
        let mut keys: Vec<VirtualKey> = Vec::new();
        for options in &self.keys {
            let VirtualKeyOptions { name, key_env, provider_key_env, .. } = options;
            if name.is_empty() || key_env.is_empty() || provider_key_env.is_empty() {
                return Err(ProxyOptionsError::Key);
            }
            if keys.iter().any(|key| key.name == *name) {
                return Err(ProxyOptionsError::TwoOfOneName(name.clone()));
            }
            let paths = rules(&options.paths)?;
            if let Some(at) = paths.iter().position(PathRule::is_batch)
                && options.tokens_per_day.is_some()
            {
                let path = options.paths.get(at).cloned().unwrap_or_default();
                return Err(ProxyOptionsError::NotCounted(name.clone(), path));
            }
            keys.push(VirtualKey::new(options, &key(key_env)?, key(provider_key_env)?, paths));
        }
        Ok(keys)
    }

    fn url(&self, key: &'static str, url: &str) -> Result<Uri, ProxyOptionsError> {
        let wrong = || ProxyOptionsError::Url { key, url: url.to_owned() };
        // Clients say `/v1` themselves.
        let url = url.trim_end_matches('/');
        let uri: Uri = url.strip_suffix("/v1").unwrap_or(url).parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?;
        match uri.scheme_str() {
            Some("https") => Ok(uri),
            Some("http") if self.allow_http || is_loopback(host) => Ok(uri),
            Some("http") => Err(ProxyOptionsError::Plain { key, url: url.to_owned() }),
            _ => Err(wrong()),
        }
    }
}

fn rules(paths: &[String]) -> Result<Vec<PathRule>, ProxyOptionsError> {
    let read =
        |path: &String| PathRule::read(path).ok_or_else(|| ProxyOptionsError::Path(path.clone()));
    paths.iter().map(read).collect()
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
