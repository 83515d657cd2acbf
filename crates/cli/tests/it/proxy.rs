//! `counterfoil proxy`, as a user with an agent sees it.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName,
};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::Desk;
use crate::server::Server;

/// A `PATH` with a shell.
const PATH: [(&str, &str); 1] = [("PATH", "/usr/bin:/bin")];

/// A model that gives every client the same answer.
fn model(says: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let message = serde_json::json!({ "role": "assistant", "content": says });
            let choice = serde_json::json!({ "message": message, "finish_reason": "stop" });
            let usage = serde_json::json!({ "prompt_tokens": 7, "completion_tokens": 5 });
            let body =
                serde_json::json!({ "id": "c", "choices": [choice], "usage": usage }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    port
}

/// Starts a proxy.
fn start(desk: &Desk, arguments: &[&str]) -> Server {
    Server::start(desk, "proxy", arguments, &[])
}

/// Returns the proxy's answer to a request for a completion.
fn complete(proxy: &Server, body: &str) -> String {
    proxy.ask("POST", "/v1/chat/completions", "", body)
}

const REQUEST: &str = "{\"model\":\"m-1\",\"messages\":[{\"role\":\"user\",\"content\":\"Cancel order 7.\"}],\
     \"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"cancel_order\"}}]}";

#[test]
fn a_lie_is_annotated_and_operators_see_it() {
    // A busy machine judges slowly.
    let desk = Desk::with(&[("c.toml", "[proxy]\nverify_ms = 10_000\n")]);
    let port = model("I have cancelled order 7.");
    let upstream = format!("http://127.0.0.1:{port}");
    let running = start(&desk, &["--config", "c.toml", "--upstream", &upstream]);
    let answer = complete(&running, REQUEST);
    assert!(
        answer.contains("Counterfoil: the record of this session does not support"),
        "{answer}"
    );
    assert!(answer.to_ascii_lowercase().contains("counterfoil-findings: "), "{answer}");
    let at = &running.address;
    let status = || desk.run(&format!("proxy status --address {at} --json"));
    let mut report: Value = serde_json::from_str(&status().out).unwrap();
    for _ in 0..200 {
        if report["answers"]["annotated"] == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        report = serde_json::from_str(&status().out).unwrap();
    }
    assert_eq!(report["answers"]["annotated"], 1, "{report}");
    let status = desk.run(&format!("proxy status --address {at}"));
    assert!(status.out.contains("mode            annotate"), "{}", status.out);
    assert!(status.out.contains("findings        1 FK010"), "{}", status.out);
    let sessions = desk.run(&format!("proxy sessions --address {at}"));
    assert!(sessions.out.contains("(m-1)"), "{}", sessions.out);
    let id = sessions.out.lines().nth(1).unwrap().split_whitespace().nth(5).unwrap();
    let checked = desk.run(&format!("check --session {id}"));
    assert_eq!(checked.code, 1, "{} {}", checked.out, checked.err);
    assert!(checked.out.contains("FK010"), "{}", checked.out);
}

#[test]
fn a_program_gets_the_address_and_its_end_is_ours() {
    let desk = Desk::with(&[]);
    let script = "echo $OPENAI_BASE_URL $OPENAI_API_BASE $ANTHROPIC_BASE_URL; exit 7";
    let ran = desk.spawn(&PATH, &["proxy", "run", "--", "sh", "-c", script], "");
    assert_eq!(ran.code, 7, "{}", ran.err);
    let words: Vec<&str> = ran.out.split_whitespace().collect();
    assert_eq!(words.len(), 3, "{}", ran.out);
    assert_eq!(words[0], format!("{}/v1", words[2]));
    assert!(words[2].starts_with("http://127.0.0.1:"));
    let ran = desk.run("proxy run -- no-such-program");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot start `no-such-program`"), "{}", ran.err);
}

#[test]
fn what_cannot_be_is_reported() {
    let desk = Desk::with(&[]);
    for (arguments, message) in [
        (vec!["--listen", "0.0.0.0:0"], "is reachable from other machines"),
        (vec!["--upstream", "api.openai.com"], "must begin with `https://`"),
        (vec!["--upstream", "http://api.example"], "anyone on the network can read"),
        (vec!["--mode", "loud"], "invalid value 'loud'"),
        (vec!["status", "--address", "127.0.0.1:9"], "no proxy is running at 127.0.0.1:9"),
    ] {
        let ran = desk.run(&format!("proxy {}", arguments.join(" ")));
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{arguments:?}: {}", ran.err);
    }
    for (config, message) in [
        ("[proxy]\nmode = \"loud\"", "unknown value"),
        ("[proxy]\ntls_cert = \"a.pem\"", "must be set together"),
        ("[[proxy.keys]]\nname = \"a\"", "needs `name`, `key_env`"),
        (
            "[[proxy.keys]]\nname = \"a\"\nkey_env = \"NO_SUCH\"\nprovider_key_env = \"NO_SUCH\"",
            "`NO_SUCH` holds no key",
        ),
    ] {
        let desk = Desk::with(&[("c.toml", config)]);
        let ran = desk.run("--config c.toml proxy --listen 127.0.0.1:0");
        assert_eq!(ran.code, 2, "{config}: {}", ran.err);
        assert!(ran.err.contains(message), "{config}: {}", ran.err);
    }
}

#[test]
fn a_changed_configuration_is_in_force() {
    let desk = Desk::with(&[("c.toml", "[proxy]\nmode = \"observe\"\n")]);
    let port = model("I have cancelled order 7.");
    let upstream = format!("http://127.0.0.1:{port}");
    let running = start(&desk, &["--config", "c.toml", "--upstream", &upstream]);
    assert!(complete(&running, REQUEST).ends_with("I have cancelled order 7.\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":5}}"));
    let file = desk.path().join("c.toml");
    std::fs::write(&file, "[proxy]\nmode = \"block\"\nmax_corrections = 0\n").unwrap();
    for _ in 0..200 {
        if complete(&running, REQUEST).contains("held back") {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(complete(&running, REQUEST).contains("held back"));
}

/// A server that supports only HTTP/2 with this certificate; returns its port and the protocol
/// versions it saw.
async fn http2(certificate: CertificateDer<'static>, key: &KeyPair) -> (u16, Arc<Mutex<String>>) {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard: Arc<Mutex<String>> = Arc::default();
    let versions = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let versions = Arc::clone(&versions);
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let versions = Arc::clone(&versions);
                async move {
                    versions.lock().unwrap().push_str(&format!("{:?}", request.version()));
                    let message = serde_json::json!({ "role": "assistant", "content": "Hello." });
                    let choice = serde_json::json!({ "message": message, "finish_reason": "stop" });
                    let body = serde_json::json!({ "id": "c", "choices": [choice] }).to_string();
                    Ok::<_, Infallible>(hyper::Response::new(Full::new(Bytes::from(body))))
                }
            });
            let builder = http2::Builder::new(TokioExecutor::new());
            tokio::spawn(builder.serve_connection(TokioIo::new(stream), service));
        }
    });
    (port, heard)
}

#[test]
fn both_ways_can_be_encrypted() {
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let config = "[proxy]\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\n";
    let (pem, private) = (certificate.pem(), key.serialize_pem());
    let desk = Desk::with(&[("c.toml", config), ("cert.pem", &pem), ("key.pem", &private)]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (port, heard) = http2(certificate.der().clone(), &key).await;
        let upstream = format!("https://localhost:{port}");
        let running = Server::start(
            &desk,
            "proxy",
            &["--config", "c.toml", "--upstream", &upstream],
            &[("SSL_CERT_FILE", desk.path().join("cert.pem").to_str().unwrap())],
        );
        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = tokio::net::TcpStream::connect(&running.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close";
        let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{REQUEST}", REQUEST.len());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        // The server may close the connection without an answer.
        drop(stream.read_to_string(&mut answer).await);
        assert!(answer.contains("Hello."), "{answer}");
        assert_eq!(*heard.lock().unwrap(), "HTTP/2.0");
    });
}
