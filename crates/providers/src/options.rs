use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::key::Key;

/// `[llm]`: language models.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LlmOptions {
    /// The configured models. The first is used unless another is named.
    pub providers: Vec<ProviderOptions>,
}

/// An entry of `[[llm.providers]]`: a model and its server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderOptions {
    /// The name by which other keys refer to it.
    pub name: String,
    /// The API of the server.
    pub kind: Kind,
    /// The base URL, up to and including `/v1`; empty means the usual URL of this kind.
    pub url: String,
    /// The name of the model on the server.
    pub model: String,
    /// The environment variable with the API key. If both this key and `api_key_file` are empty, no
    /// API key is sent.
    pub api_key_env: String,
    /// The file with the API key, used if `api_key_env` is empty.
    pub api_key_file: PathBuf,
    /// Whether the model supports tool calls. If not, its instructions describe all tools, and it
    /// writes its calls as text.
    pub supports_tool_use: bool,
    /// The maximum number of tokens in a response; 0 means the server's default, or 8192 if the API
    /// requires a value.
    pub max_tokens: u32,
    /// The size of the model's context window in tokens. Determines when a conversation is
    /// compressed.
    pub context_tokens: u32,
    /// The maximum time without data from the server, in seconds.
    pub timeout_secs: u64,
    /// The maximum number of attempts for a request if the server is busy or cannot be reached.
    pub max_attempts: u32,
    /// The model that computes embeddings (`/embeddings`); empty if there is none.
    pub embedding_model: String,
    /// Danger: allows `http` to other machines, so that anyone in between can read everything.
    pub allow_http: bool,
}

impl Default for ProviderOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: Kind::OpenAi,
            url: String::new(),
            model: String::new(),
            api_key_env: String::new(),
            api_key_file: PathBuf::new(),
            supports_tool_use: true,
            max_tokens: 0,
            context_tokens: 128_000,
            timeout_secs: 300,
            max_attempts: 3,
            embedding_model: String::new(),
            allow_http: false,
        }
    }
}

/// The API of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Chat completions, which most servers support.
    #[default]
    #[serde(rename = "openai")]
    OpenAi,
    /// The responses API of OpenAI.
    Responses,
    /// Anthropic messages.
    Anthropic,
    /// Ollama, through its chat completions.
    Ollama,
}

impl Kind {
    fn usual_url(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Ollama => "http://127.0.0.1:11434/v1",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Ollama => "chat/completions",
            Self::Responses => "responses",
            Self::Anthropic => "messages",
        }
    }
}

/// Why a provider's configuration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderOptionsError {
    /// A provider has no name.
    #[error("a provider in [[llm.providers]] has no name")]
    NoName,
    /// Two providers have the same name.
    #[error("two providers in [[llm.providers]] are called `{0}`")]
    TwoOfOneName(String),
    /// No provider has this name.
    #[error("no provider is called `{0}`")]
    Unknown(String),
    /// No provider is configured.
    #[error("no model is configured: [[llm.providers]] is empty")]
    None,
    /// The provider does not name a model.
    #[error("the provider `{0}` has no `model`")]
    NoModel(String),
    /// The URL is invalid.
    #[error("llm.providers: the URL of `{name}`, `{url}`, {why}")]
    Url {
        /// The provider.
        name: String,
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A number is out of range.
    #[error("the provider `{name}`: {key} is {value}, but must be between {from} and {to}")]
    Number {
        /// The provider.
        name: String,
        /// The key.
        key: &'static str,
        /// The configured value.
        value: u64,
        /// The minimum.
        from: u64,
        /// The maximum.
        to: u64,
    },
    /// The API key is missing.
    #[error("the API key of the provider `{name}` is missing: {why}")]
    NoKey {
        /// The provider.
        name: String,
        /// Where it was looked for, and why that failed.
        why: String,
    },
}

/// The validated settings of a provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderSettings {
    /// The name by which other settings refer to it.
    pub name: String,
    /// The API it uses.
    pub kind: Kind,
    /// The URL up to `/v1`, without a trailing slash.
    pub url: Url,
    /// The model's name.
    pub model: String,
    /// The API key, if one is needed.
    pub key: Option<Key>,
    /// Whether tools can be passed to the model.
    pub supports_tool_use: bool,
    /// The maximum number of output tokens; 0 leaves it to the server.
    pub max_tokens: u32,
    /// The size of the model's context window in tokens.
    pub context_tokens: u32,
    /// How long the server may be silent.
    pub timeout: Duration,
    /// Maximum number of attempts per request.
    pub max_attempts: u32,
    /// The model for `/embeddings`.
    pub embedding_model: Option<String>,
}

impl LlmOptions {
    /// The provider with this name, or the first one if the name is empty.
    ///
    /// # Errors
    /// When there is no such provider, or the names are missing or not unique.
    pub fn named(&self, name: &str) -> Result<&ProviderOptions, ProviderOptionsError> {
        for (index, provider) in self.providers.iter().enumerate() {
            if provider.name.is_empty() {
                return Err(ProviderOptionsError::NoName);
            }
            let mut before = self.providers.iter().take(index);
            if before.any(|other| other.name == provider.name) {
                return Err(ProviderOptionsError::TwoOfOneName(provider.name.clone()));
            }
        }
        if name.is_empty() {
            return self.providers.first().ok_or(ProviderOptionsError::None);
        }
        let found = self.providers.iter().find(|provider| provider.name == name);
        found.ok_or_else(|| ProviderOptionsError::Unknown(name.to_owned()))
    }
}

impl ProviderOptions {
    /// The validated settings. `secret` reads the key from its place.
    ///
    /// # Errors
    /// When an option is invalid or the key is missing.
    pub fn resolve(
        &self,
        secret: impl Fn(KeyPlace<'_>) -> Result<String, String>,
    ) -> Result<ProviderSettings, ProviderOptionsError> {
        let url = self.address()?;
        if self.model.is_empty() {
            return Err(ProviderOptionsError::NoModel(self.name.clone()));
        }
        let between = |key, value: u64, from, to| {
            let name = self.name.clone();
            let wrong = ProviderOptionsError::Number { name, key, value, from, to };
            if (from..=to).contains(&value) { Ok(()) } else { Err(wrong) }
        };
        between("timeout_secs", self.timeout_secs, 1, 3600)?;
        between("max_attempts", self.max_attempts.into(), 1, 10)?;
        between("context_tokens", self.context_tokens.into(), 1000, 100_000_000)?;
        let embedding = Some(self.embedding_model.clone()).filter(|model| !model.is_empty());
        Ok(ProviderSettings {
            name: self.name.clone(),
            kind: self.kind,
            url,
            model: self.model.clone(),
            key: self.key(secret)?,
            supports_tool_use: self.supports_tool_use,
            max_tokens: self.max_tokens,
            context_tokens: self.context_tokens,
            timeout: Duration::from_secs(self.timeout_secs),
            max_attempts: self.max_attempts,
            embedding_model: embedding,
        })
    }

    fn address(&self) -> Result<Url, ProviderOptionsError> {
        let text = if self.url.is_empty() { self.kind.usual_url() } else { &self.url };
        let wrong =
            |why| ProviderOptionsError::Url { name: self.name.clone(), url: text.to_owned(), why };
        let mut url = Url::parse(text).map_err(|_| wrong("is not a URL"))?;
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http || is_here(&url) => {}
            "http" => return Err(wrong("uses plain HTTP and is not on this machine: use `https`")),
            _ => return Err(wrong("is neither http nor https")),
        }
        if url.cannot_be_a_base() || url.host().is_none() {
            return Err(wrong("has no host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "contains a user name or password: put the key in an environment variable or a \
                 file",
            ));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(url)
    }

    fn key(
        &self,
        secret: impl Fn(KeyPlace<'_>) -> Result<String, String>,
    ) -> Result<Option<Key>, ProviderOptionsError> {
        let place = match (self.api_key_env.as_str(), self.api_key_file.as_path()) {
            ("", file) if file.as_os_str().is_empty() => return Ok(None),
            ("", file) => KeyPlace::File(file),
            (variable, _) => KeyPlace::Variable(variable),
        };
        let missing = |why: String| ProviderOptionsError::NoKey { name: self.name.clone(), why };
        let text = secret(place).map_err(|why| missing(format!("{place} {why}")))?;
        let key = Key::new(&text).ok_or_else(|| missing(format!("{place} is empty")))?;
        Ok(Some(key))
    }
}

/// Where a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPlace<'p> {
    /// In an environment variable.
    Variable(&'p str),
    /// In a file.
    File(&'p Path),
}

impl fmt::Display for KeyPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the environment variable `{name}`"),
            Self::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}

/// Whether the host is a loopback IP address.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    }
}
