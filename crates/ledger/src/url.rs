use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use url::Url;

/// The URL of a ledger that several replicas share: `postgres://USER@HOST/DATABASE`. Displayed,
/// logged and serialised without its password.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "String")]
#[schemars(with = "String")]
pub struct LedgerUrl {
    url: String,
    /// A password from elsewhere; one in the URL takes precedence.
    password: Option<String>,
}

impl From<String> for LedgerUrl {
    fn from(url: String) -> Self {
        Self { url, password: None }
    }
}

impl LedgerUrl {
    /// A URL as written, including its password. It is validated when it is used.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self::from(url.into())
    }

    /// Sets the password, unless one was set before.
    #[must_use]
    pub fn or_password(mut self, password: &str) -> Self {
        self.password.get_or_insert_with(|| password.to_owned());
        self
    }

    /// The URL as written, and the password from elsewhere.
    #[cfg(feature = "postgres")]
    pub(super) fn secrets(&self) -> (&str, Option<&str>) {
        (&self.url, self.password.as_deref())
    }
}

impl fmt::Display for LedgerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(mut url) = Url::parse(&self.url) else { return f.write_str("(no URL)") };
        if url.password().is_some() && url.set_password(None).is_err() {
            return f.write_str("(no URL)");
        }
        if url.query_pairs().any(|(name, _)| name.contains("password")) {
            url.set_query(None);
        }
        write!(f, "{url}")
    }
}

impl fmt::Debug for LedgerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for LedgerUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://me:s3cret@db/x?sslmode=require", "postgres://me@db/x?sslmode=require"),
            ("postgres://me@db/x?password=s3cret", "postgres://me@db/x"),
            ("postgres:///x?host=/run&user=me", "postgres:///x?host=/run&user=me"),
            ("s3cret", "(no URL)"),
        ] {
            let url = LedgerUrl::new(url);
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), shown);
            assert_eq!(serde_json::to_string(&url).unwrap(), format!("{shown:?}"));
            let url = url.or_password("another");
            assert!(!format!("{url}").contains("another"));
        }
    }
}
