//! Addresses, passwords and TLS.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use counterfoil_ledger::{OpenLedgerError, PostgresAddress};

use super::*;

#[test]
fn a_url_says_where_and_never_shows_its_password() {
    for (url, expected) in [
        ("postgres://me@db.example/agents", Ok("postgres://me@db.example/agents")),
        ("postgres://me:s3cret@db.example/agents", Ok("postgres://me@db.example/agents")),
        (
            "postgres://me@localhost/x?sslmode=prefer",
            Ok("postgres://me@localhost/x?sslmode=prefer"),
        ),
        (
            "postgres://me@db.example/x?sslmode=disable",
            Ok("postgres://me@db.example/x?sslmode=disable"),
        ),
        ("postgres://me@db.example/x?sslmode=prefer", Err("`db.example` is another machine")),
        ("postgres://me@db.example/x?sslmode=allow", Err("`sslmode` cannot be `allow`")),
        ("postgres://me@db.example/x?colour=red", Err("unknown parameter `colour`")),
        ("postgres://me@db.example/x?password=s3cret", Err("put the password before the host")),
        ("mysql://me:s3cret@db.example/x", Err("starts with a different scheme")),
        ("/var/lib/ledger.db", Err("is not a URL of the form")),
    ] {
        let read = PostgresAddress::parse(url);
        let shown = format!("{read:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        match (read, expected) {
            (Ok(address), Ok(expected)) => assert_eq!(address.to_string(), expected),
            (Err(error), Err(expected)) => {
                assert!(error.to_string().contains(expected), "{url}: {error}");
                assert!(!error.to_string().contains("s3cret"), "{error}");
            }
            (read, _) => panic!("{url}: {read:?}"),
        }
    }
}

#[test]
fn a_password_file_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    std::fs::write(&path, "s3cret\n").unwrap();
    let address = PostgresAddress::parse("postgres://me@localhost/x").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = address.clone().or_password_file(&path).unwrap_err();
    assert!(exposed.to_string().contains("other users can access it"), "{exposed}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let address = address.or_password_file(&path).unwrap();
    assert!(!format!("{address:?}{address}").contains("s3cret"));
}

/// Certificates signed by a test authority: the authority's, the server's, and the server's key.
fn certificates() -> [String; 3] {
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let authority = rcgen::CertifiedIssuer::self_signed(authority, authority_key).unwrap();
    let server = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let signed = server.signed_by(&key, &authority).unwrap();
    [
        pem("CERTIFICATE", authority.der()),
        pem("CERTIFICATE", signed.der()),
        pem("PRIVATE KEY", key.serialized_der()),
    ]
}

fn pem(label: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{encoded}\n-----END {label}-----\n")
}

#[test]
fn the_connection_is_encrypted_to_the_server_that_was_meant() {
    let [authority, certificate, key] = certificates();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some(mut server) = start(&["fsync=off"]) else { return };
    for (name, text) in [("ca.pem", &authority), ("server.pem", &certificate), ("key.pem", &key)] {
        server.write(name, text);
    }
    let folder = server.folder().display().to_string();
    server.restart_with(&[
        "ssl=on".to_owned(),
        format!("ssl_cert_file={folder}/server.pem"),
        format!("ssl_key_file={folder}/key.pem"),
        "listen_addresses=localhost".to_owned(),
        format!("port={port}"),
    ]);
    server.sql("ALTER ROLE counterfoil PASSWORD 's3cret'");
    server.sql("CREATE SCHEMA encrypted");
    let own = tempfile::tempdir().unwrap();
    let other = own.path().join("other.pem");
    std::fs::write(&other, &certificates()[0]).unwrap();
    let open = |host: &str, parameters: &str| {
        let url = format!(
            "postgres://counterfoil:s3cret@{host}:{port}/postgres?options=-csearch_path%3Dencrypted&{parameters}"
        );
        let address = PostgresAddress::parse(&url).unwrap();
        let key = Some(own.path().join("key"));
        let settings = LedgerSettings { key, ..settings(Durability::Batch) };
        let opened = PostgresLedger::open(
            &address,
            settings,
            SetClock::at(NOW),
            Arc::new(Counted::default()),
        );
        opened.map(|(ledger, _)| Ledger::from(ledger))
    };
    let full = format!("sslmode=verify-full&sslrootcert={folder}/ca.pem");
    let ledger = open("localhost", &full).unwrap();
    execute(&ledger, "s", &id(1), b"encrypted");
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                     WHERE application_name = 'counterfoil'";
    assert_eq!(server.sql(encrypted), "t");
    drop(ledger);
    drop(open("localhost", "sslmode=require").unwrap());
    drop(open("localhost", "sslmode=disable").unwrap());
    let refused = |host: &str, parameters: &str| -> String {
        let error: OpenLedgerError = open(host, parameters).unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
        error.to_string()
    };
    // A certificate for another name, and one signed by another authority.
    assert!(refused("127.0.0.1", &full).contains("certificate"));
    let foreign = format!("sslmode=verify-full&sslrootcert={}", other.display());
    assert!(refused("localhost", &foreign).contains("certificate"));
}
