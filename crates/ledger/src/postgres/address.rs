use std::fmt;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use url::Url;
use zeroize::Zeroizing;

use crate::open::OpenLedgerError;
use crate::settings::LedgerSettings;

/// The address of a ledger on PostgreSQL: server, user, and protection of the connection.
///
/// Parsed from `postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?…]`. Displayed without the
/// password.
#[derive(Clone)]
pub struct PostgresAddress {
    pub(super) config: Config,
    pub(super) protection: Protection,
    /// The file with the trusted authorities; `None` for those of the system.
    pub(super) authorities: Option<PathBuf>,
    shown: String,
}

/// How the connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    /// Plain text.
    Nothing,
    /// TLS if the server supports it; its certificate is not verified.
    TlsIfOffered,
    /// TLS; the certificate is not verified.
    Tls,
    /// TLS with a certificate for the host.
    TlsWithNamedServer,
}

/// Why a URL is not the address of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresAddressError {
    /// It has the wrong form.
    #[error("it is not a URL of the form postgres://USER@HOST/DATABASE: {0}")]
    Form(String),
    /// An unknown parameter after the `?`.
    #[error("unknown parameter `{0}`")]
    UnknownParameter(String),
    /// An invalid value of a parameter after the `?`.
    #[error("the parameter `{name}` cannot be `{value}`: {why}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The connection might be in plain text, and someone on the network could read and change it.
    #[error(
        "`sslmode=prefer` may fall back to plain text, and `{host}` is another machine: \
         use `sslmode=verify-full`, or `sslmode=disable` if the network in between is trusted"
    )]
    PlainText {
        /// The host.
        host: String,
    },
    /// The password could not be read.
    #[error("the password file `{}` cannot be used: {message}", path.display())]
    PasswordFile {
        /// The file.
        path: PathBuf,
        /// The error of the system, or what is wrong with the file.
        message: String,
    },
}

/// The maximum length of a password file in bytes.
const LONGEST_PASSWORD: u64 = 4096;

impl PostgresAddress {
    /// Parses a URL.
    ///
    /// # Errors
    /// See [`PostgresAddressError`]; no error contains a password.
    pub fn parse(text: &str) -> Result<Self, PostgresAddressError> {
        let form = |why: &str| PostgresAddressError::Form(why.to_owned());
        let mut url = Url::parse(text).map_err(|error| form(&error.to_string()))?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(form("it starts with a different scheme"));
        }
        let mut parsing = Parsing { config: Config::new(), hosts: Vec::new(), mode: None };
        if let Some(host) = url.host_str().filter(|host| !host.is_empty()) {
            parsing.host(&decoded(host));
        }
        if let Some(port) = url.port() {
            parsing.config.port(port);
        }
        if !url.username().is_empty() {
            parsing.config.user(decoded(url.username()));
        }
        if let Some(password) = url.password() {
            parsing.config.password(&*Zeroizing::new(decoded(password)));
        }
        let database = decoded(url.path().trim_start_matches('/'));
        if !database.is_empty() {
            parsing.config.dbname(database);
        }
        let mut authorities = None;
        for (name, value) in url.query_pairs() {
            match &*name {
                "sslrootcert" => {
                    authorities = Some(PathBuf::from(&*value)).filter(|_| value != "system");
                }
                name => parsing.parameter(name, &value)?,
            }
        }
        let protection = parsing.protection()?;
        let _unchanged = url.set_password(None);
        let Parsing { mut config, .. } = parsing;
        config.ssl_mode(match protection {
            Protection::Nothing => SslMode::Disable,
            Protection::TlsIfOffered => SslMode::Prefer,
            Protection::Tls | Protection::TlsWithNamedServer => SslMode::Require,
        });
        config.application_name("counterfoil").connect_timeout(Duration::from_secs(5));
        config.keepalives_idle(Duration::from_secs(15));
        config.tcp_user_timeout(Duration::from_secs(20));
        Ok(Self { config, protection, authorities, shown: url.to_string() })
    }

    /// The address in the settings, with its password.
    ///
    /// # Errors
    /// When the settings have no URL, or it cannot be used.
    pub fn from_settings(settings: &LedgerSettings) -> Result<Self, OpenLedgerError> {
        let url = settings.url.as_ref();
        let wrong = |why: String| OpenLedgerError::Address {
            url: url.map(ToString::to_string).unwrap_or_default(),
            why,
        };
        let url = url.ok_or_else(|| wrong("the URL is missing".to_owned()))?;
        let (text, password) = url.secrets();
        let mut address = Self::parse(text).map_err(|error| wrong(error.to_string()))?;
        if let Some(password) = password {
            address = address.or_password(password);
        }
        match &settings.password_file {
            Some(path) => address.or_password_file(path).map_err(|error| wrong(error.to_string())),
            None => Ok(address),
        }
    }

    /// Sets the password, unless the URL has one.
    #[must_use]
    pub fn or_password(mut self, password: &str) -> Self {
        if self.config.get_password().is_none() {
            self.config.password(password);
        }
        self
    }

    /// Sets the password to the first line of a file, unless the URL has one. The file must be
    /// accessible to its owner only.
    ///
    /// # Errors
    /// When the file cannot be read, or other users can access it.
    pub fn or_password_file(self, path: &std::path::Path) -> Result<Self, PostgresAddressError> {
        let unusable =
            |message: String| PostgresAddressError::PasswordFile { path: path.to_owned(), message };
        let io = |error: std::io::Error| unusable(error.to_string());
        let mut file = OpenOptions::new().read(true).open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let mode = metadata.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(unusable(format!(
                "other users can access it (mode {mode:o}); run `chmod 600` on it"
            )));
        }
        if metadata.len() > LONGEST_PASSWORD || !metadata.is_file() {
            return Err(unusable("it is not a password file".to_owned()));
        }
        let mut text = Zeroizing::new(String::new());
        file.read_to_string(&mut text).map_err(io)?;
        match text.lines().next().filter(|line| !line.is_empty()) {
            Some(password) => Ok(self.or_password(password)),
            None => Err(unusable("its first line is empty".to_owned())),
        }
    }
}

/// The parts of a URL parsed so far.
struct Parsing {
    config: Config,
    hosts: Vec<String>,
    mode: Option<String>,
}

impl Parsing {
    fn host(&mut self, host: &str) {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        self.config.host(bare);
        self.hosts.push(bare.to_owned());
    }

    fn parameter(&mut self, name: &str, value: &str) -> Result<(), PostgresAddressError> {
        let wrong = |name: &'static str, why: &'static str| PostgresAddressError::Value {
            name,
            value: value.to_owned(),
            why,
        };
        match name {
            "host" => self.host(value),
            "port" => {
                let port = value.parse().map_err(|_| wrong("port", "it must be a number"))?;
                self.config.port(port);
            }
            "user" => drop(self.config.user(value)),
            "dbname" => drop(self.config.dbname(value)),
            "options" => drop(self.config.options(value)),
            "sslmode" => self.mode = Some(value.to_owned()),
            // A secret: before the host it is removed from what is displayed.
            "password" => {
                return Err(PostgresAddressError::Form(
                    "put the password before the host, or in a file".to_owned(),
                ));
            }
            name => return Err(PostgresAddressError::UnknownParameter(name.to_owned())),
        }
        Ok(())
    }

    /// Plain text is accepted on this machine; on others only with `sslmode=disable`.
    fn protection(&self) -> Result<Protection, PostgresAddressError> {
        let elsewhere = self.hosts.iter().find(|host| !is_here(host));
        match (self.mode.as_deref(), elsewhere) {
            (Some("disable"), _) => Ok(Protection::Nothing),
            (Some("require"), _) => Ok(Protection::Tls),
            (Some("verify-full"), _) | (None, Some(_)) => Ok(Protection::TlsWithNamedServer),
            (Some("prefer") | None, None) => Ok(Protection::TlsIfOffered),
            (Some("prefer"), Some(host)) => {
                Err(PostgresAddressError::PlainText { host: host.clone() })
            }
            (Some(other), _) => Err(PostgresAddressError::Value {
                name: "sslmode",
                value: other.to_owned(),
                why: "it must be `disable`, `prefer`, `require` or `verify-full`",
            }),
        }
    }
}

/// Whether a host is this machine: a socket in the file system, or a loopback address.
fn is_here(host: &str) -> bool {
    host.starts_with('/')
        || host == "localhost"
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresAddress").field(&self.shown).finish()
    }
}
