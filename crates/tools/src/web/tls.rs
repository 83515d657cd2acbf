//! Decides which certificates to trust.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Why TLS cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// There is no trusted authority.
    #[error("this machine trusts no certificate authority, so no server can be verified")]
    NoRoots,
    /// A file of certificates cannot be read.
    #[error("the certificates in `{path}` cannot be read: {reason}")]
    CaFile {
        /// Its path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Anything else.
    #[error("encryption cannot be set up: {0}")]
    Setup(String),
}

/// A connector that trusts the system's authorities, and those in the file.
///
/// The crypto provider is passed explicitly, so that no other part of the program has to install
/// one first.
///
/// # Errors
/// When no authority is trusted, or the file cannot be read.
pub fn trusted_tls(ca_file: Option<&Path>) -> Result<TlsConnector, TlsError> {
    let mut roots = RootCertStore::empty();
    // Certificates that cannot be parsed are skipped: fewer authorities are trusted.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca_file {
        let wrong = |reason: String| TlsError::CaFile { path: path.display().to_string(), reason };
        let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
        for certificate in read {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
    }
    if roots.is_empty() {
        return Err(TlsError::NoRoots);
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Setup(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
