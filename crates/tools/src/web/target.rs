//! The target of a URL, and whether it is allowed, before anything is sent.

use std::net::{IpAddr, SocketAddr};

use counterfoil_model::ToolErrorCategory;
use url::{Host, Url};

use super::address::reserved;
use super::resolve::Resolver;
use crate::ToolError;
use crate::WebSettings;

/// The maximum length of a URL in bytes.
const LONGEST: usize = 8 * 1024;

/// The maximum number of addresses of a host that are tried.
const MOST_ADDRESSES: usize = 4;

/// Top-level names of local networks, which the public web does not use.
const NEAR: [&str; 6] = ["localhost", "local", "internal", "home.arpa", "onion", "lan"];

/// The target of a request.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) host: Host<String>,
    pub(super) port: u16,
    pub(super) encrypted: bool,
}

/// Why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blocked {
    pub(super) category: ToolErrorCategory,
    pub(super) why: String,
}

impl From<Blocked> for ToolError {
    fn from(blocked: Blocked) -> Self {
        Self::new(blocked.category, blocked.why)
    }
}

pub(super) fn blocked(why: impl Into<String>) -> Blocked {
    Blocked { category: ToolErrorCategory::PolicyBlocked, why: why.into() }
}

impl Target {
    /// Parses the URL of a call.
    pub(super) fn read(text: &str) -> Result<Self, Blocked> {
        let wrong = |why: String| Blocked { category: ToolErrorCategory::InvalidParameters, why };
        if text.len() > LONGEST {
            return Err(wrong(format!("the URL is longer than {LONGEST} bytes")));
        }
        // URL parsers silently drop some of these; then the URL fetched would not be the one
        // judged.
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(wrong("the URL contains whitespace or control characters".to_owned()));
        }
        let url = Url::parse(text).map_err(|error| wrong(format!("invalid URL: {error}")))?;
        Self::new(url)
    }

    /// The target of a redirect.
    pub(super) fn redirected(&self, location: &str) -> Result<Self, Blocked> {
        let url = self.url.join(location).map_err(|error| {
            blocked(format!("the response redirects to an invalid URL: {error}"))
        })?;
        Self::new(url)
    }

    fn new(mut url: Url) -> Result<Self, Blocked> {
        let encrypted = match url.scheme() {
            "https" => true,
            "http" => false,
            other => {
                return Err(blocked(format!("`{other}:` URLs are not fetched, only `https:`")));
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(blocked("the URL contains a user name or password"));
        }
        let host = match url.host() {
            Some(host) => host.to_owned(),
            None => return Err(blocked("the URL has no host")),
        };
        let port = url.port_or_known_default().unwrap_or(443);
        url.set_fragment(None);
        Ok(Self { url, host, port, encrypted })
    }

    /// The host as in rules and records: without a trailing dot.
    pub(super) fn name(&self) -> String {
        let name = self.host.to_string();
        name.strip_suffix('.').unwrap_or(&name).to_owned()
    }

    /// The host and the port.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.name(), self.port)
    }

    /// Whether the operator allowed this host and port in a private network.
    fn is_opened(&self, settings: &WebSettings) -> bool {
        let name = self.name();
        settings
            .private
            .iter()
            .any(|(host, port)| *host == name && port.is_none_or(|port| port == self.port))
    }

    /// Whether the configuration already allows this host.
    pub(super) fn is_agreed(&self, settings: &WebSettings) -> bool {
        settings.without_approval
            || self.is_opened(settings)
            || is_below(&self.name(), &settings.allow)
    }

    /// Checks everything that is known without resolving the name.
    ///
    /// INVARIANT: a denial wins over everything that allows.
    pub(super) fn permit(&self, settings: &WebSettings) -> Result<(), Blocked> {
        let name = self.name();
        if is_below(&name, &settings.deny) {
            return Err(blocked(format!("`{name}` matches `tools.web.deny_domains`")));
        }
        let opened = self.is_opened(settings);
        if !opened && !settings.allow.is_empty() && !is_below(&name, &settings.allow) {
            return Err(blocked(format!("`{name}` is not in `tools.web.allow_domains`")));
        }
        if !self.encrypted && !opened && !settings.unencrypted {
            return Err(blocked("`http:` is not encrypted: only `https:` is fetched"));
        }
        if !opened && !settings.ports.contains(&self.port) {
            return Err(blocked(format!("port {} is not in `tools.web.ports`", self.port)));
        }
        match self.host {
            Host::Ipv4(address) => return self.permit_address(IpAddr::V4(address), settings),
            Host::Ipv6(address) => return self.permit_address(IpAddr::V6(address), settings),
            Host::Domain(_) if opened => return Ok(()),
            Host::Domain(_) => {}
        }
        let near = |suffix: &&str| is_below(&name, std::slice::from_ref(suffix));
        if !name.contains('.') || NEAR.iter().any(near) {
            return Err(blocked(format!("`{name}` is not a public name")));
        }
        Ok(())
    }

    fn permit_address(&self, address: IpAddr, settings: &WebSettings) -> Result<(), Blocked> {
        match reserved(address) {
            Some(kind) if !(kind.can_be_opened() && self.is_opened(settings)) => {
                let (name, kind) = (self.name(), kind.name());
                Err(blocked(format!("`{name}` resolves to {address} ({kind})")))
            }
            _ => Ok(()),
        }
    }

    /// The addresses that may be connected to. If one is not allowed, none is: a name with a public
    /// and a private address is a trick.
    pub(super) async fn addresses(
        &self,
        settings: &WebSettings,
        resolver: &dyn Resolver,
    ) -> Result<Vec<SocketAddr>, ToolError> {
        let found = match &self.host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => resolver.resolve(name).await.map_err(|error| {
                let name = self.name();
                let message = format!("cannot resolve `{name}`: {error}");
                ToolError::new(ToolErrorCategory::NetworkError, message)
            })?,
        };
        for address in &found {
            self.permit_address(*address, settings)?;
        }
        if found.is_empty() {
            let message = format!("`{}` has no address", self.name());
            return Err(ToolError::new(ToolErrorCategory::NetworkError, message));
        }
        let with_port = |address| SocketAddr::new(address, self.port);
        Ok(found.into_iter().take(MOST_ADDRESSES).map(with_port).collect())
    }
}

/// Whether a name is one of the domains, or a subdomain.
fn is_below<D: AsRef<str>>(name: &str, domains: &[D]) -> bool {
    domains.iter().map(AsRef::as_ref).any(|domain| {
        name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}
