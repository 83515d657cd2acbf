use std::path::PathBuf;
use std::time::Duration;

use counterfoil_model::{Digest, Severity};
use counterfoil_providers::Key;
use hyper::Uri;
use hyper::body::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::keys::VirtualKey;
use crate::path_rule::PathRule;
use counterfoil_serve::Access;

/// `[proxy]`: what `counterfoil proxy` does between an agent and its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyOptions {
    /// What happens to an answer with claims that the record does not support.
    pub mode: ProxyMode,
    /// The minimum severity of a finding for `mode` to act on it. Anything less severe is only
    /// recorded.
    pub least: Least,
    /// The address of the server for OpenAI's APIs, up to `/v1`.
    pub openai_url: String,
    /// The address of the server for Anthropic's API, up to `/v1`.
    pub anthropic_url: String,
    /// Danger: allows `http` to other machines. Anyone on the network can read everything.
    pub allow_http: bool,
    /// How many times the model is asked again for one answer, in `correct` and `block`.
    pub max_corrections: u32,
    /// The total time limit for asking again, in seconds.
    pub correction_secs: u64,
    /// The time limit for judging a part of an answer, in milliseconds.
    pub verify_ms: u64,
    /// What happens to an answer that could not be judged: `pass` or `hold`. If not set, it is held
    /// back in `block` and passes in the other modes. It is recorded in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// Whether a tool that was offered to the model once stays offered for the rest of a session,
    /// so that the server's prompt cache stays valid.
    pub pin_tools: bool,
    /// How long a server may be silent, in seconds.
    pub timeout_secs: u64,
    /// The maximum size of a request, in bytes.
    pub max_body_bytes: usize,
    /// How much of an answer may be held back at once, in bytes.
    pub max_held_bytes: usize,
    /// The maximum number of sessions that are remembered.
    pub max_sessions: usize,
    /// How long a session without requests is remembered, in seconds.
    pub idle_secs: u64,
    /// Paths that pass in `correct` and `block` without being judged, in addition to those known to
    /// return no answer; for example `GET /v1/batches/*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The maximum number of requests per minute from one address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Host names that clients may use to connect, in addition to this machine's own: `name` or
    /// `name:port`.
    pub hosts: Vec<String>,
    /// Origins of web pages that may connect, in addition to those of this machine: `https://name`.
    pub origins: Vec<String>,
    /// The environment variable with the bearer token that other machines must send to read the
    /// status and metrics. If not set, they are available on this machine only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// Danger: lets other machines connect without a key from `[[proxy.keys]]`.
    pub allow_anyone: bool,
    /// The certificate file for TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    /// The key file for TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    /// Keys that clients may use in place of a provider's. Without any, the key that a client sends
    /// is passed on.
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

/// An entry of `[[proxy.keys]]`: a key of the proxy itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VirtualKeyOptions {
    /// The name of the key's holder in records.
    pub name: String,
    /// The environment variable with the key.
    pub key_env: String,
    /// The environment variable with the provider's key, which is sent to the provider in place of
    /// this key.
    pub provider_key_env: String,
    /// The provider to which the provider's key belongs; the key is sent nowhere else.
    pub provider: KeyProvider,
    /// The maximum number of requests per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// The maximum number of input and output tokens per day (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_day: Option<u64>,
    /// Paths that the key may use in addition to those for answers, models and counting tokens; for
    /// example `POST /v1/embeddings`. `*` matches one segment of a path, `**` all that follow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// The provider that a key belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyProvider {
    /// The server of `proxy.openai_url`.
    #[default]
    Openai,
    /// The server of `proxy.anthropic_url`.
    Anthropic,
}

/// What happens to an answer with claims that the record does not support.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProxyMode {
    /// It passes unchanged, byte for byte, and is recorded.
    Observe,
    /// It passes with its problems listed below it.
    #[default]
    Annotate,
    /// The model is asked again. If that does not help, the answer passes with its problems listed
    /// below it.
    Correct,
    /// The model is asked again. If that does not help, the answer does not pass.
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

    /// Whether nothing is passed on before it was judged.
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::Correct | Self::Block)
    }
}

/// How severe a problem has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Least {
    /// The record proves the opposite of the claim, or that it never happened.
    #[default]
    Error,
    /// The claim is doubtful.
    Warning,
}

/// What happens to an answer that could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// It passes.
    Pass,
    /// It is held back until it is judged. If it cannot be judged, it does not pass.
    Hold,
}

/// Validated settings of the proxy.
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
    /// The digest of the token that operators on other machines need.
    pub(crate) operators: Option<Digest>,
}

/// Why the proxy's configuration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyOptionsError {
    /// A server address is invalid.
    #[error(
        "proxy.{key} is `{url}`: it must begin with `https://` or `http://`, followed by a host"
    )]
    Url {
        /// The key.
        key: &'static str,
        /// The value.
        url: String,
    },
    /// A server on another machine has an unencrypted address.
    #[error(
        "proxy.{key} is `{url}`: anyone on the network can read `http` traffic to another machine"
    )]
    Plain {
        /// The key.
        key: &'static str,
        /// The value.
        url: String,
    },
    /// A key lacks its name or a variable.
    #[error("every entry of [[proxy.keys]] needs `name`, `key_env` and `provider_key_env`")]
    Key,
    /// Two keys have the same name.
    #[error("two entries of [[proxy.keys]] are named `{0}`")]
    TwoOfOneName(String),
    /// A variable contains no key.
    #[error(
        "the environment variable `{0}` holds no key, but [[proxy.keys]] or `proxy.token_env` \
         names it"
    )]
    NoKey(String),
    /// A path is invalid.
    #[error("`{0}` is not a path rule: write a method and a path, as in \"GET /v1/files/*\"")]
    Path(String),
    /// A key has a budget that cannot be enforced.
    #[error(
        "the key `{0}` has a `tokens_per_day` limit, but `{1}` requests are answered later, so \
         their tokens cannot be counted"
    )]
    NotCounted(String, String),
    /// Only one of the two files for TLS is given.
    #[error("proxy.tls_cert and proxy.tls_key must be set together")]
    Tls,
}

impl ProxySettings {
    /// Whether answers that cannot be judged are withheld.
    pub(crate) fn withholds(&self) -> bool {
        self.mode.holds() && self.on_timeout == OnTimeout::Hold
    }

    /// The proxy key with this name.
    pub(crate) fn key(&self, name: &str) -> Option<&VirtualKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Removes the providers' keys from what a server says.
    pub(crate) fn without_keys(&self, bytes: &Bytes) -> Bytes {
        self.keys
            .iter()
            .fold(bytes.clone(), |bytes, key| key.redact(&bytes).map_or(bytes, Bytes::from))
    }
}

impl ProxyOptions {
    /// Validates the options. `variable` reads the environment.
    ///
    /// # Errors
    /// When an option is invalid.
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

    /// Our own keys, each with the provider's key that replaces it. `key` reads a variable.
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
        // Clients add `/v1` themselves.
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
