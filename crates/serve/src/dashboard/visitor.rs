//! Authentication and roles.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use counterfoil_model::Digest;
use hyper::HeaderMap;
use hyper::header;

use super::problem::HttpProblem;

/// The cookie of a signed-in browser.
pub(crate) const COOKIE: &str = "counterfoil_session";

/// How long a browser stays signed in, in milliseconds.
const LASTS: i64 = 12 * 3_600_000;

/// Maximum number of signed-in browsers; beyond it, the one that signed in first is signed out.
const MOST: usize = 1_000;

/// What a visitor may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// See everything.
    Read,
    /// See everything, and decide on approvals.
    Operate,
}

impl Role {
    /// The name in token files and on pages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
        }
    }
}

/// An access token and its owner.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// The secret.
    pub token: String,
    /// The owner's role.
    pub role: Role,
    /// The owner's name, as recorded in approvals.
    pub name: String,
}

/// An authenticated visitor.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) role: Role,
    pub(crate) name: String,
    /// The token required in a browser's forms; `None` if the request carried an access token.
    pub(crate) form_token: Option<String>,
}

impl Visitor {
    /// Checks that the visitor has at least this role.
    pub(crate) fn needs(&self, role: Role) -> Result<(), HttpProblem> {
        if self.role >= role {
            return Ok(());
        }
        let (has, needs) = (self.role.name(), role.name());
        Err(HttpProblem::forbidden(format!(
            "this requires the role `{needs}`, but you have `{has}`"
        )))
    }
}

/// Everyone who has access.
#[derive(Debug)]
pub(crate) struct Visitors {
    tokens: Vec<(Digest, Role, String)>,
    /// The token of the one-time sign-in link, with its role and name.
    once: Mutex<Option<(Digest, Role, String)>>,
    browsers: Mutex<BTreeMap<Digest, Browser>>,
    most: Role,
}

#[derive(Debug, Clone)]
struct Browser {
    visitor: Visitor,
    since: i64,
}

impl Visitors {
    /// Creates a set of visitors, none of whom may have more than the role `most`.
    pub(crate) fn new(tokens: Vec<AccessToken>, most: Role) -> Self {
        let digest = |token: AccessToken| {
            (Digest::of_bytes(token.token.as_bytes()), token.role.min(most), token.name)
        };
        Self {
            tokens: tokens.into_iter().map(digest).collect(),
            once: Mutex::default(),
            browsers: Mutex::default(),
            most,
        }
    }

    /// Creates a one-time token that replaces any earlier one.
    pub(crate) fn once(&self, name: &str) -> Option<String> {
        let token = unguessable()?;
        let known = (Digest::of_bytes(token.as_bytes()), self.most, name.to_owned());
        *self.once.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Some(token)
    }

    /// The visitor who sent a request, by its token, or by its cookie if cookies are accepted.
    pub(crate) fn visitor(
        &self,
        headers: &HeaderMap,
        by_cookie: bool,
        now: i64,
    ) -> Option<Visitor> {
        let given = headers.get(header::AUTHORIZATION);
        if let Some(given) = given {
            let (kind, token) = given.to_str().ok()?.split_once(' ')?;
            let found = self.known(token.trim())?;
            return kind.eq_ignore_ascii_case("bearer").then_some(found);
        }
        let cookie = cookie_of(headers).filter(|_| by_cookie)?;
        let digest = Digest::of_bytes(cookie.as_bytes());
        let browsers = self.browsers();
        let browser = browsers.get(&digest)?;
        (now.saturating_sub(browser.since) < LASTS).then(|| browser.visitor.clone())
    }

    /// Compares digests, so that the time taken reveals nothing about the token.
    fn known(&self, token: &str) -> Option<Visitor> {
        let digest = Digest::of_bytes(token.as_bytes());
        let (_, role, name) = self.tokens.iter().find(|(known, ..)| *known == digest)?;
        Some(Visitor { role: *role, name: name.clone(), form_token: None })
    }

    /// Signs a browser in. Returns the value of its cookie, and whether the one-time token was
    /// used.
    pub(crate) fn sign_in(&self, token: &str, now: i64) -> Option<(String, bool)> {
        let digest = Digest::of_bytes(token.as_bytes());
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        let is_once = once.as_ref().is_some_and(|(known, ..)| *known == digest);
        let (role, name) = match is_once {
            true => once.take().map(|(_, role, name)| (role, name))?,
            false => self.known(token).map(|visitor| (visitor.role, visitor.name))?,
        };
        drop(once);
        let (cookie, form_token) = (unguessable()?, unguessable()?);
        let visitor = Visitor { role, name, form_token: Some(form_token) };
        let mut browsers = self.browsers();
        browsers.retain(|_, browser| now.saturating_sub(browser.since) < LASTS);
        if browsers.len() >= MOST
            && let Some(oldest) = browsers.iter().min_by_key(|(_, b)| b.since).map(|(k, _)| *k)
        {
            browsers.remove(&oldest);
        }
        browsers.insert(Digest::of_bytes(cookie.as_bytes()), Browser { visitor, since: now });
        Some((cookie, is_once))
    }

    pub(crate) fn sign_out(&self, headers: &HeaderMap) {
        if let Some(cookie) = cookie_of(headers) {
            self.browsers().remove(&Digest::of_bytes(cookie.as_bytes()));
        }
    }

    fn browsers(&self) -> MutexGuard<'_, BTreeMap<Digest, Browser>> {
        self.browsers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value of our cookie.
fn cookie_of(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut pairs = all.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// 32 random bytes as text; `None` if the system has no randomness.
fn unguessable() -> Option<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitors(most: Role) -> Visitors {
        let token = |token: &str, role| AccessToken {
            token: token.to_owned(),
            role,
            name: format!("who has {token}"),
        };
        Visitors::new(vec![token("r", Role::Read), token("o", Role::Operate)], most)
    }

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        [(name.parse().unwrap(), value.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn tokens_have_roles() {
        for (most, given, expected) in [
            (Role::Operate, "Bearer r", Some(Role::Read)),
            (Role::Operate, "bearer o", Some(Role::Operate)),
            (Role::Read, "Bearer o", Some(Role::Read)),
            (Role::Operate, "Basic o", None),
            (Role::Operate, "Bearer x", None),
            (Role::Operate, "Bearer", None),
            (Role::Operate, "", None),
        ] {
            let found = visitors(most).visitor(&headers("authorization", given), true, 0);
            assert_eq!(found.map(|visitor| visitor.role), expected, "{given}");
        }
    }

    #[test]
    fn a_link_signs_in_once_and_a_browser_is_not_known_for_ever() {
        let visitors = visitors(Role::Operate);
        let once = visitors.once("ada").unwrap();
        let (cookie, is_once) = visitors.sign_in(&once, 0).unwrap();
        assert!(is_once && visitors.sign_in(&once, 0).is_none());
        let sent = headers("cookie", &format!("a=b; {COOKIE}={cookie}"));
        let found = visitors.visitor(&sent, true, LASTS - 1).unwrap();
        assert_eq!((found.role, found.name.as_str()), (Role::Operate, "ada"));
        assert!(found.form_token.is_some());
        assert!(visitors.visitor(&sent, false, 1).is_none(), "at another host a cookie is nothing");
        assert!(visitors.visitor(&sent, true, LASTS).is_none());
        visitors.sign_out(&sent);
        assert!(visitors.visitor(&sent, true, 1).is_none());
        let (_, is_once) = visitors.sign_in("r", 0).unwrap();
        assert!(!is_once && visitors.sign_in("x", 0).is_none());
    }
}
