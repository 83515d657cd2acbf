//! TLS to the database.

use std::sync::Arc;

use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::address::{PostgresAddress, Protection};

/// A TLS connector for this address.
///
/// # Errors
/// The reason why there is none.
pub(super) fn connector(address: &PostgresAddress) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?;
    let config = match address.protection {
        Protection::TlsWithNamedServer => builder.with_root_certificates(authorities(address)?),
        // The certificate is not verified if the URL says so, or if the connection stays on this
        // machine.
        Protection::Nothing | Protection::TlsIfOffered | Protection::Tls => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

fn authorities(address: &PostgresAddress) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match &address.authorities {
        Some(path) => {
            let wrong = |error: String| format!("`sslrootcert` {}: {error}", path.display());
            let read = CertificateDer::pem_file_iter(path).map_err(|e| wrong(e.to_string()))?;
            for certificate in read {
                let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
                roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
            }
        }
        None => {
            // Certificates that cannot be parsed are skipped: fewer authorities are trusted.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(
            "no trusted certificate authority found: specify a file with `sslrootcert`".to_owned()
        );
    }
    Ok(roots)
}

/// Accepts any certificate, if the server has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
