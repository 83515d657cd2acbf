//! Encryption: a server that cannot prove its identity gets no request.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use rcgen::{CertificateParams, KeyPair};
use tempfile::NamedTempFile;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, Stream};

use super::*;

/// A server with its own certificate for `name` that answers one request. The handle returns
/// whether one came.
fn server(name: &str) -> (u16, NamedTempFile, JoinHandle<bool>) {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec![name.to_owned()]).unwrap().self_signed(&key).unwrap();
    let der: CertificateDer<'static> = certificate.der().clone();
    let mut file = NamedTempFile::new().unwrap();
    let encoded = base64(&der);
    write!(file, "-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n").unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![der], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config);
    let thread = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut connection = ServerConnection::new(config).unwrap();
        let mut stream = Stream::new(&mut connection, &mut socket);
        let mut request = [0; 16];
        if stream.read(&mut request).unwrap_or(0) == 0 {
            return false;
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
        connection.send_close_notify();
        let _ = connection.complete_io(&mut socket);
        true
    });
    (port, file, thread)
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    let lines: Vec<String> =
        text.chars().collect::<Vec<_>>().chunks(64).map(|line| line.iter().collect()).collect();
    lines.join("\n")
}

fn options(port: u16, ca_file: Option<&NamedTempFile>) -> WebOptions {
    WebOptions {
        allow_private_hosts: vec![format!("app.test:{port}"), format!("127.0.0.1:{port}")],
        ca_file: ca_file.map(|file| file.path().to_owned()),
        ..WebOptions::default()
    }
}

#[test]
fn a_server_that_proves_its_name_gets_the_request() {
    let (port, file, got_request) = server("app.test");
    let book = Book::new(&[("app.test", &["127.0.0.1"])]);
    let web = executor(options(port, Some(&file)), &book);
    let output = fetch(&web, &format!("https://app.test:{port}/"));
    assert_eq!((output.failure, output.text.as_str()), (None, "secret"), "{}", output.text);
    assert!(got_request.join().unwrap());
}

#[test]
fn a_server_that_does_not_gets_no_request() {
    let book = Book::new(&[("app.test", &["127.0.0.1"])]);
    let own = |file: &NamedTempFile| Some(file.path().to_owned());
    for (what, name, trusted) in
        [("another name", "other.test", true), ("nobody vouches", "app.test", false)]
    {
        let (port, file, got_request) = server(name);
        // Another certificate is trusted, so that the trust store is not empty.
        let (_, other, _) = server("somebody.test");
        let ca_file = if trusted { own(&file) } else { own(&other) };
        let web = executor(WebOptions { ca_file, ..options(port, None) }, &book);
        let output = fetch(&web, &format!("https://app.test:{port}/"));
        let (category, message) = failure(&output);
        assert_eq!(category, NetworkError, "{what}: {message}");
        assert!(
            message.starts_with("cannot open an encrypted connection to `app.test`"),
            "{message}"
        );
        assert!(!got_request.join().unwrap(), "{what}: it was asked");
        assert_eq!(output.egress[0].status, None);
    }
    let plain = Server::start(|_| answer("200 OK", "", "x"));
    let (_, other, _) = server("somebody.test");
    let web = executor(options(plain.port(), Some(&other)), &book);
    let output = fetch(&web, &format!("https://app.test:{}/", plain.port()));
    assert_eq!(failure(&output).0, NetworkError, "a server without encryption");
}

#[test]
fn certificates_that_cannot_be_read_say_so() {
    let mut broken = NamedTempFile::new().unwrap();
    broken.write_all(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    for path in [broken.path(), Path::new("/no/such/file")] {
        let options = WebOptions { ca_file: Some(path.to_owned()), ..options(1, None) };
        let output = fetch(&executor(options, &Book::default()), "https://127.0.0.1:1/");
        let (category, message) = failure(&output);
        assert_eq!(category, PermanentFailure);
        assert!(message.starts_with("the certificates in `"), "{message}");
        assert!(output.egress[0].blocked.is_some());
    }
}
