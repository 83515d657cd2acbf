//! Keys of the proxy itself, which replace those of a provider.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use counterfoil_model::Digest;
use counterfoil_providers::{Key, Usage};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use crate::options::{KeyProvider, VirtualKeyOptions};
use crate::path_rule::PathRule;

/// The header in which Anthropic's clients send their key.
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

const MINUTE: Duration = Duration::from_secs(60);
/// A day in milliseconds.
const DAY: i64 = 24 * 3600 * 1000;

/// A key of the proxy, with its permissions.
#[derive(Debug)]
pub(crate) struct VirtualKey {
    pub(crate) name: String,
    digest: Digest,
    provider_key: Key,
    /// The provider whose key replaces it.
    pub(crate) provider: KeyProvider,
    requests_per_minute: Option<u32>,
    tokens_per_day: Option<u64>,
    /// The paths that it may use, in addition to answers and models.
    pub(crate) paths: Vec<PathRule>,
    /// The usage, shared by all configurations that contain the key.
    used: Arc<Mutex<Used>>,
}

#[derive(Debug)]
struct Used {
    minute: Instant,
    requests: u32,
    /// The day, in days since 1970.
    day: i64,
    tokens: u64,
}

/// Why a request is refused for its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("a key for this proxy is required (see `[[proxy.keys]]`)")]
    Unknown,
    #[error("this key has exceeded its limit of {0} requests per minute")]
    TooMany(u32),
    #[error("this key has used up its {0} tokens for today")]
    UsedUp(u64),
}

impl KeyError {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Unknown => StatusCode::UNAUTHORIZED,
            Self::TooMany(_) | Self::UsedUp(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

impl VirtualKey {
    pub(crate) fn new(
        options: &VirtualKeyOptions,
        own: &Key,
        provider: Key,
        paths: Vec<PathRule>,
    ) -> Self {
        Self {
            name: options.name.clone(),
            digest: Digest::of_bytes(own.expose().as_bytes()),
            provider_key: provider,
            provider: options.provider,
            requests_per_minute: options.requests_per_minute,
            tokens_per_day: options.tokens_per_day,
            paths,
            used: Arc::new(Mutex::new(Used {
                minute: Instant::now(),
                requests: 0,
                day: 0,
                tokens: 0,
            })),
        }
    }

    /// Returns the proxy key in a request and counts the request; `None` if no keys are configured.
    /// `now` is in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// When the request has no valid key, or the key is over its limit.
    pub(crate) fn find<'k>(
        keys: &'k [Self],
        headers: &HeaderMap,
        now: i64,
    ) -> Result<Option<&'k Self>, KeyError> {
        if keys.is_empty() {
            return Ok(None);
        }
        let given = given(headers).ok_or(KeyError::Unknown)?;
        // Digests are compared, so that the comparison time reveals nothing about the key.
        let digest = Digest::of_bytes(given.as_bytes());
        let key = keys.iter().find(|key| key.digest == digest).ok_or(KeyError::Unknown)?;
        key.count(now / DAY)?;
        Ok(Some(key))
    }

    fn count(&self, today: i64) -> Result<(), KeyError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.minute.elapsed() >= MINUTE {
            (used.minute, used.requests) = (Instant::now(), 0);
        }
        used.requests = used.requests.saturating_add(1);
        if let Some(most) = self.requests_per_minute.filter(|most| used.requests > *most) {
            return Err(KeyError::TooMany(most));
        }
        if used.day != today {
            (used.day, used.tokens) = (today, 0);
        }
        match self.tokens_per_day.filter(|most| used.tokens >= *most) {
            Some(most) => Err(KeyError::UsedUp(most)),
            None => Ok(()),
        }
    }

    /// Subtracts the cost of an answer from the budget.
    pub(crate) fn spend(&self, usage: Usage) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tokens = usage.input.saturating_add(usage.output);
        // Anthropic does not include cached tokens in the input tokens.
        if self.provider == KeyProvider::Anthropic {
            tokens = tokens.saturating_add(usage.cached);
        }
        used.tokens = used.tokens.saturating_add(tokens);
    }

    /// Continues with the usage of the previous key of the same name.
    pub(crate) fn go_on_from(&mut self, before: &[Self]) {
        if let Some(before) = before.iter().find(|key| key.name == self.name) {
            self.used = Arc::clone(&before.used);
        }
    }

    /// Whether its usage is limited.
    pub(crate) fn has_budget(&self) -> bool {
        self.tokens_per_day.is_some()
    }

    /// Removes the provider's key from what a server says.
    pub(crate) fn redact(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let key = self.provider_key.expose().as_bytes();
        let mut rest = bytes;
        let mut out = Vec::new();
        while let Some(at) = memchr::memmem::find(rest, key) {
            out.extend_from_slice(rest.get(..at)?);
            out.extend_from_slice(b"[key]");
            rest = rest.get(at + key.len()..)?;
        }
        (rest.len() < bytes.len()).then(|| [&out, rest].concat())
    }

    /// Replaces our key in the headers with the provider's.
    pub(crate) fn replace_in(&self, headers: &mut HeaderMap) {
        headers.remove(&X_API_KEY);
        headers.remove(header::AUTHORIZATION);
        let key = self.provider_key.expose();
        let (name, text) = match self.provider {
            KeyProvider::Anthropic => (X_API_KEY, key.to_owned()),
            KeyProvider::Openai => (header::AUTHORIZATION, format!("Bearer {key}")),
        };
        if let Ok(mut value) = HeaderValue::from_str(&text) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
}

/// The key in a request, in any of the headers that clients use.
pub(crate) fn given(headers: &HeaderMap) -> Option<&str> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(&header::AUTHORIZATION).and_then(|value| value.split_once(' '));
    let bearer = bearer.filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
    bearer.map(|(_, key)| key.trim()).or_else(|| text(&X_API_KEY).map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<VirtualKey> {
        let options = VirtualKeyOptions {
            name: "team".to_owned(),
            requests_per_minute: Some(3),
            tokens_per_day: Some(100),
            ..VirtualKeyOptions::default()
        };
        let key = |text| Key::new(text).unwrap();
        vec![VirtualKey::new(&options, &key("cf-own"), key("sk-real"), Vec::new())]
    }

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), value.parse().unwrap())])
    }

    #[test]
    fn only_a_known_key_comes_in_and_the_provider_gets_its_own() {
        let keys = keys();
        for (name, value, known) in [
            ("authorization", "Bearer cf-own", true),
            ("x-api-key", "cf-own", true),
            ("authorization", "Bearer sk-real", false),
            ("authorization", "Basic cf-own", false),
            ("accept", "cf-own", false),
        ] {
            let mut headers = headers(name, value);
            let found = VirtualKey::find(&keys, &headers, 1);
            assert_eq!(found.is_ok(), known, "{name}: {value}");
            if let Ok(Some(key)) = found {
                key.replace_in(&mut headers);
                assert!(!format!("{:?}", headers.iter().collect::<Vec<_>>()).contains("cf-own"));
                assert_eq!(given(&headers), Some("sk-real"));
            }
        }
        assert!(VirtualKey::find(&[], &HeaderMap::new(), 1).is_ok_and(|key| key.is_none()));
    }

    #[test]
    fn a_key_has_its_limits() {
        let keys = keys();
        let own = headers("x-api-key", "cf-own");
        let found = |keys: &[VirtualKey]| VirtualKey::find(keys, &own, 1).map(|_| ());
        assert_eq!(found(&keys), Ok(()));
        keys[0].spend(Usage { input: 90, output: 10, cached: 0 });
        assert_eq!(found(&keys), Err(KeyError::UsedUp(100)));
        let mut renewed = self::keys();
        renewed[0].go_on_from(&keys);
        assert_eq!(found(&renewed), Err(KeyError::UsedUp(100)));
        assert_eq!(found(&renewed), Err(KeyError::TooMany(3)));
    }
}
