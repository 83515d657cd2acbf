//! Access control for HTTP requests.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use counterfoil_model::Digest;
use hyper::header;
use hyper::{HeaderMap, StatusCode, Uri};

/// The period over which requests are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// Number of addresses at which old counts are dropped.
const MOST: usize = 10_000;

/// What a request must satisfy before it is read.
#[derive(Debug, Clone)]
pub struct Access {
    /// The configuration section to name in messages: `mcp.listen`.
    pub section: &'static str,
    /// Hosts that clients may use in addition to this machine's own names: `name` or `name:port`.
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests, in addition to this machine's: `https://name`.
    pub origins: Vec<String>,
    /// The token that clients must send as `Authorization: Bearer`.
    pub token: Option<String>,
    /// Maximum number of requests per address and minute.
    pub requests_per_minute: Option<u32>,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            section: "mcp.listen",
            hosts: Vec::new(),
            origins: Vec::new(),
            token: None,
            requests_per_minute: None,
        }
    }
}

/// Number of requests in the current minute, by address.
#[derive(Debug, Default)]
pub struct Counted(Mutex<BTreeMap<IpAddr, (Instant, u32)>>);

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The host is not allowed.
    #[error("the host `{0}` is not allowed: if it belongs to this server, add it to `{1}.hosts`")]
    Host(String, &'static str),
    /// The origin is not allowed.
    #[error(
        "requests from pages on `{0}` are not allowed: to allow them, add the origin to \
         `{1}.origins`"
    )]
    Origin(String, &'static str),
    /// There is no token.
    #[error("a bearer token is required: `Authorization: Bearer …`")]
    Token,
    /// The token is wrong.
    #[error("the bearer token in `Authorization` is wrong")]
    WrongToken,
    /// There were too many requests.
    #[error("more than {0} requests in a minute")]
    TooMany(u32),
}

impl AccessError {
    /// The status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Host(..) | Self::Origin(..) => StatusCode::FORBIDDEN,
            Self::Token | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

impl Access {
    /// Checks whether a request may be read.
    ///
    /// # Errors
    /// When it may not.
    pub fn check(
        &self,
        headers: &HeaderMap,
        from: IpAddr,
        counted: &Counted,
    ) -> Result<(), AccessError> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or_default();
        // Of two, another reader may take the other.
        let several = |name| headers.get_all(name).iter().nth(1).is_some();
        if several(header::HOST) {
            return Err(AccessError::Host("two hosts".to_owned(), self.section));
        }
        if several(header::ORIGIN) {
            return Err(AccessError::Origin("two origins".to_owned(), self.section));
        }
        if !is_here(host) && !self.hosts.iter().any(|known| is_host(known, host)) {
            return Err(AccessError::Host(host.to_owned(), self.section));
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let own = origin.split_once("://").is_some_and(|(_, host)| is_here(host));
            if !own && !self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
                return Err(AccessError::Origin(origin.to_owned(), self.section));
            }
        }
        if let Some(most) = self.requests_per_minute
            && !counted.holds(from, most)
        {
            return Err(AccessError::TooMany(most));
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = text(header::AUTHORIZATION).and_then(|value| value.split_once(' '));
        let given = given.filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        // Compares digests, so that the time taken reveals nothing about the token.
        let same = given.is_some_and(|(_, given)| {
            Digest::of_bytes(given.trim().as_bytes()) == Digest::of_bytes(token.as_bytes())
        });
        match (same, given) {
            (true, _) => Ok(()),
            (false, Some(_)) => Err(AccessError::WrongToken),
            (false, None) => Err(AccessError::Token),
        }
    }
}

impl Counted {
    /// Counts one more request, and returns whether there are at most `most`.
    pub(crate) fn holds(&self, from: IpAddr, most: u32) -> bool {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= MOST {
            counted.retain(|_, (since, _)| since.elapsed() < WINDOW);
        }
        let (since, count) = counted.entry(from).or_insert((Instant::now(), 0));
        if since.elapsed() >= WINDOW {
            (*since, *count) = (Instant::now(), 0);
        }
        *count = count.saturating_add(1);
        *count <= most
    }
}

/// Whether a host name certainly refers to this machine, with any port.
fn is_here(host: &str) -> bool {
    let Ok(uri) = host.parse::<Uri>() else { return false };
    let name = uri.authority().map(|authority| authority.host()).unwrap_or_default();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn is_host(known: &str, host: &str) -> bool {
    let without_port = host.rsplit_once(':').map_or(host, |(name, _)| name);
    known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(without_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn pages_of_others_do_not_come_in() {
        let access = Access {
            hosts: vec!["tools.example".to_owned()],
            origins: vec!["https://app.example".to_owned()],
            ..Access::default()
        };
        for (host, origin, check) in [
            ("localhost:8765", None, true),
            ("127.0.0.1", None, true),
            ("[::1]:80", None, true),
            ("tools.example:443", None, true),
            ("evil.example", None, false),
            ("localhost.evil.example", None, false),
            ("127.0.0.1.evil.example", None, false),
            ("user@localhost", None, true),
            ("", None, false),
            ("localhost:1", Some("http://localhost:3000"), true),
            ("localhost:1", Some("https://app.example"), true),
            ("localhost:1", Some("https://evil.example"), false),
            ("localhost:1", Some("null"), false),
        ] {
            let mut pairs = vec![("host", host)];
            pairs.extend(origin.map(|origin| ("origin", origin)));
            let found = access.check(&headers(&pairs), FROM, &Counted::default());
            assert_eq!(found.is_ok(), check, "{host} {origin:?}: {found:?}");
        }
    }

    #[test]
    fn of_two_hosts_or_origins_none_counts() {
        for name in [header::HOST, header::ORIGIN] {
            let mut two = headers(&[("host", "localhost"), ("origin", "http://localhost")]);
            assert!(Access::default().check(&two, FROM, &Counted::default()).is_ok());
            two.append(name.clone(), "localhost".parse().unwrap());
            let found = Access::default().check(&two, FROM, &Counted::default());
            assert!(found.is_err(), "{name}");
        }
    }

    #[test]
    fn a_token_is_held_against_the_one_that_is_known() {
        let access = Access { token: Some("s3cret".to_owned()), ..Access::default() };
        for (given, check) in [
            (None, Err(AccessError::Token)),
            (Some("Bearer s3cret"), Ok(())),
            (Some("bearer s3cret"), Ok(())),
            (Some("Bearer s3cre"), Err(AccessError::WrongToken)),
            (Some("Basic s3cret"), Err(AccessError::Token)),
        ] {
            let mut pairs = vec![("host", "localhost")];
            pairs.extend(given.map(|given| ("authorization", given)));
            let found = access.check(&headers(&pairs), FROM, &Counted::default());
            assert_eq!(found, check, "{given:?}");
        }
    }

    #[test]
    fn requests_of_a_minute_are_counted() {
        let access = Access { requests_per_minute: Some(2), ..Access::default() };
        let headers = headers(&[("host", "localhost")]);
        let counted = Counted::default();
        let found: Vec<_> = (0..3).map(|_| access.check(&headers, FROM, &counted)).collect();
        assert_eq!(found, [Ok(()), Ok(()), Err(AccessError::TooMany(2))]);
        assert_eq!(access.check(&headers, "10.0.0.1".parse().unwrap(), &counted), Ok(()));
    }
}
