use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Host;

use super::range::{OutOfRange, in_range};

/// `[tools.web]`: which pages may be fetched, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebOptions {
    /// Domains that are never reached, including subdomains. Always takes precedence.
    pub deny_domains: Vec<String>,
    /// Domains that are reached without asking for approval, including subdomains. If this list is
    /// not empty, no other public host is reached.
    pub allow_domains: Vec<String>,
    /// Whether public hosts are reached without asking for approval if `allow_domains` is empty.
    pub allow_unasked: bool,
    /// Whether pages are also fetched without encryption (`http:`).
    pub allow_unencrypted: bool,
    /// Hosts, as `name` or `name:port`, that may be reached on this machine or on a private
    /// network, even without encryption.
    pub allow_private_hosts: Vec<String>,
    /// The ports that may be reached.
    pub ports: Vec<u16>,
    /// Whether only URLs from the user or an earlier result may be fetched.
    pub grounded_only: bool,
    /// The timeout of one call, in seconds.
    pub timeout_secs: u64,
    /// The maximum size of a body in bytes, both compressed and decompressed.
    pub max_bytes: u64,
    /// The maximum number of characters of a page that one call shows.
    pub max_output_chars: usize,
    /// A file of certificates (PEM) that are trusted in addition to those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

const MIB: u64 = 1024 * 1024;

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            deny_domains: Vec::new(),
            allow_domains: Vec::new(),
            allow_unasked: false,
            allow_unencrypted: false,
            allow_private_hosts: Vec::new(),
            ports: vec![80, 443, 8080, 8443],
            grounded_only: false,
            timeout_secs: 15,
            max_bytes: 4 * MIB,
            max_output_chars: 100_000,
            ca_file: None,
        }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebOptionsError {
    /// An invalid domain or host.
    #[error("{key}: `{given}` is not {what}")]
    Host {
        /// The option.
        key: &'static str,
        /// What was given.
        given: String,
        /// The expected form.
        what: &'static str,
    },
    /// A number out of range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A relative path, which would depend on where the program was started.
    #[error("ca_file: `{path}` is not an absolute path")]
    RelativeFile {
        /// The file.
        path: String,
    },
}

/// Which pages may be fetched, and how; checked.
#[derive(Debug, Clone)]
pub struct WebSettings {
    pub(crate) deny: Vec<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) without_approval: bool,
    pub(crate) unencrypted: bool,
    /// Hosts in URL form, with a port if only that port is allowed.
    pub(crate) private: Vec<(String, Option<u16>)>,
    pub(crate) ports: BTreeSet<u16>,
    pub(crate) grounded_only: bool,
    pub(crate) timeout: Duration,
    pub(crate) max_bytes: u64,
    pub(crate) max_output: usize,
    pub(crate) ca_file: Option<PathBuf>,
}

impl WebOptions {
    /// The checked settings.
    ///
    /// # Errors
    /// When a domain, host, number or file is invalid.
    pub fn resolve(self) -> Result<WebSettings, WebOptionsError> {
        in_range("timeout_secs", self.timeout_secs, 1, 300)?;
        in_range("max_bytes", self.max_bytes, 1024, 256 * MIB)?;
        in_range("max_output_chars", self.max_output_chars as u64, 500, 10_000_000)?;
        if let Some(path) = self.ca_file.as_ref().filter(|path| !path.is_absolute()) {
            return Err(WebOptionsError::RelativeFile { path: path.display().to_string() });
        }
        let private = self.allow_private_hosts.iter().map(|given| private_host(given));
        Ok(WebSettings {
            deny: domains("deny_domains", &self.deny_domains)?,
            allow: domains("allow_domains", &self.allow_domains)?,
            without_approval: self.allow_unasked,
            unencrypted: self.allow_unencrypted,
            private: private.collect::<Result<_, _>>()?,
            ports: self.ports.into_iter().collect(),
            grounded_only: self.grounded_only,
            timeout: Duration::from_secs(self.timeout_secs),
            max_bytes: self.max_bytes,
            max_output: self.max_output_chars,
            ca_file: self.ca_file,
        })
    }
}

impl Default for WebSettings {
    /// The default options; if those were invalid, nothing could be fetched.
    fn default() -> Self {
        WebOptions::default().resolve().unwrap_or_else(|_| Self {
            deny: Vec::new(),
            allow: Vec::new(),
            without_approval: false,
            unencrypted: false,
            private: Vec::new(),
            ports: BTreeSet::new(),
            grounded_only: true,
            timeout: Duration::from_secs(15),
            max_bytes: 4 * MIB,
            max_output: 100_000,
            ca_file: None,
        })
    }
}

fn domains(key: &'static str, given: &[String]) -> Result<Vec<String>, WebOptionsError> {
    given
        .iter()
        .map(|given| {
            let what = "a domain such as `example.com`";
            let wrong = || WebOptionsError::Host { key, given: given.clone(), what };
            if given.contains(['*', '/', ':', '@']) && !given.starts_with('[') {
                return Err(wrong());
            }
            host(given).ok_or_else(wrong)
        })
        .collect()
}

fn private_host(given: &str) -> Result<(String, Option<u16>), WebOptionsError> {
    let wrong = || WebOptionsError::Host {
        key: "allow_private_hosts",
        given: given.to_owned(),
        what: "a host, or a host and a port such as `localhost:3000`",
    };
    let (name, port) = match given.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            (name, Some(port.parse().map_err(|_| wrong())?))
        }
        _ => (given, None),
    };
    Ok((host(name).ok_or_else(wrong)?, port))
}

/// A host in URL form: lower case, ASCII, without a trailing dot.
fn host(given: &str) -> Option<String> {
    let parsed = Host::parse(given).ok()?.to_string();
    let plain = parsed.strip_suffix('.').unwrap_or(&parsed);
    (!plain.is_empty()).then(|| plain.to_owned())
}
