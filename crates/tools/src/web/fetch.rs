//! Fetches the text at a URL, following redirects, each checked like the first request.

use std::sync::OnceLock;

use counterfoil_ledger::Egress;
use counterfoil_model::ToolErrorCategory;
use hyper::header;
use tokio_rustls::TlsConnector;
use url::Url;

use super::body::Kind;
use super::exchange::{Answered, exchange, leads_elsewhere};
use super::resolve::Resolver;
use super::target::{Target, blocked};
use super::tls::{TlsError, trusted_tls};
use crate::ToolError;
use crate::WebSettings;

/// The maximum number of redirects.
const REDIRECTS: usize = 3;

/// Fetches pages.
pub(super) struct Fetcher {
    pub(super) settings: WebSettings,
    pub(super) resolver: Box<dyn Resolver>,
    /// Created on first use, because the system's certificates are read from many files.
    pub(super) tls: OnceLock<Result<TlsConnector, TlsError>>,
}

/// A fetched page.
pub(super) struct Page {
    /// Its final URL.
    pub(super) url: Url,
    /// Whether a redirect led there.
    pub(super) moved: bool,
    pub(super) status: u16,
    pub(super) reason: &'static str,
    pub(super) kind: Kind,
    pub(super) body: Vec<u8>,
}

impl Fetcher {
    /// Fetches a page. Records the requests that were sent or blocked in `egress`, whatever the
    /// result.
    pub(super) async fn fetch(
        &self,
        url: &str,
        egress: &mut Vec<Egress>,
    ) -> Result<Page, ToolError> {
        let mut target = match Target::read(url) {
            Ok(target) => target,
            Err(wrong) => {
                egress.push(held_back(String::new(), &wrong.why));
                return Err(wrong.into());
            }
        };
        for hop in 0..=REDIRECTS {
            let answered = self.hop(&target, egress).await?;
            if !leads_elsewhere(answered.status) {
                return Ok(page(target, hop > 0, answered));
            }
            let location = answered.headers.get(header::LOCATION);
            let location = location.and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
            let Some(location) = location else {
                let message = format!("the redirect from `{}` has no valid target", target.name());
                return Err(ToolError::new(ToolErrorCategory::PermanentFailure, message));
            };
            let next = target.redirected(location).and_then(|next| {
                if target.encrypted && !next.encrypted {
                    return Err(blocked("the response redirects from `https:` to `http:`"));
                }
                Ok(next)
            });
            target = match next {
                Ok(next) => next,
                Err(wrong) => {
                    egress.push(held_back(target.authority(), &wrong.why));
                    return Err(wrong.into());
                }
            };
        }
        let message = format!("more than {REDIRECTS} redirects");
        Err(ToolError::new(ToolErrorCategory::PermanentFailure, message))
    }

    /// One request, checked before it is sent.
    async fn hop(&self, target: &Target, egress: &mut Vec<Egress>) -> Result<Answered, ToolError> {
        let checked = match target.permit(&self.settings) {
            Ok(()) => target.addresses(&self.settings, self.resolver.as_ref()).await,
            Err(blocked) => Err(blocked.into()),
        };
        let addresses = match checked {
            Ok(addresses) => addresses,
            Err(error) => {
                egress.push(held_back(target.authority(), &error.to_string()));
                return Err(error);
            }
        };
        let tls = match target.encrypted {
            true => {
                let made = self.tls.get_or_init(|| trusted_tls(self.settings.ca_file.as_deref()));
                Some(made.as_ref().map_err(|error| {
                    egress.push(held_back(target.authority(), &error.to_string()));
                    ToolError::new(ToolErrorCategory::PermanentFailure, error.to_string())
                })?)
            }
            false => None,
        };
        egress.push(Egress {
            host: target.authority(),
            address: None,
            method: "GET".to_owned(),
            status: None,
            bytes: 0,
            blocked: None,
        });
        let Some(noted) = egress.last_mut() else {
            return Err(blocked("the request was not sent because it could not be recorded").into());
        };
        exchange(target, &addresses, tls, self.settings.max_bytes, noted).await
    }
}

fn held_back(host: String, why: &str) -> Egress {
    Egress {
        host,
        address: None,
        method: "GET".to_owned(),
        status: None,
        bytes: 0,
        blocked: Some(why.to_owned()),
    }
}

fn page(target: Target, moved: bool, answered: Answered) -> Page {
    Page {
        kind: Kind::read(answered.headers.get(header::CONTENT_TYPE)),
        url: target.url,
        moved,
        status: answered.status.as_u16(),
        reason: answered.status.canonical_reason().unwrap_or("unknown"),
        body: answered.body,
    }
}
