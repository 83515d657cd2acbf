//! `counterfoil serve`, as a user at a terminal sees it.

use std::io::BufRead as _;

use crate::Desk;
use crate::server::Server;

/// Starts a dashboard.
fn start(desk: &Desk, arguments: &[&str]) -> Server {
    Server::start(desk, "serve", arguments, &[])
}

#[cfg(unix)]
fn set_mode(desk: &Desk, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(desk.path().join(name), permissions).unwrap();
}

#[test]
fn a_link_signs_in_and_another_one_follows() {
    let desk = Desk::with(&[]);
    let mut running = start(&desk, &[]);
    let path = format!("/login{}", running.line.trim().split("/login").nth(1).unwrap());
    // The link does not sign in a HEAD request, a request from another site's page, or another
    // host: every program that listens on this machine shares the host of the address.
    for (method, host, headers) in [
        ("HEAD", running.address.as_str(), ""),
        ("GET", &running.address, "sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n"),
        ("GET", "127.0.0.1", ""),
        ("GET", "localhost", ""),
    ] {
        let response = running.ask_as(host, method, &path, headers, "");
        assert!(!response.contains("set-cookie"), "{method} {host}: {response}");
    }
    let response = running.ask("GET", &path, "", "");
    assert!(response.starts_with("HTTP/1.1 303"), "{response}");
    let cookie = response.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let page = running.ask("GET", "/", &format!("cookie: {cookie}\r\n"), "");
    assert!(page.contains(" · operate"), "{page}");
    for host in ["127.0.0.1", "localhost", "127.0.0.1:7777"] {
        let response = running.ask_as(host, "GET", "/", &format!("cookie: {cookie}\r\n"), "");
        assert!(
            !response.contains(" · operate") && !response.contains(&running.address),
            "{response}"
        );
    }
    let mut next = String::new();
    running.stderr.read_line(&mut next).unwrap();
    assert!(next.contains("/login?token=") && next != running.line, "{next}");
    let again = running.ask("GET", &path, "", "");
    assert!(again.starts_with("HTTP/1.1 403"), "{again}");
}

#[cfg(unix)]
#[test]
fn tokens_have_roles_and_a_policy_is_replayed() {
    let tokens = "# who may\nread aaaaaaaaaaaaaaaa ada\n\noperate bbbbbbbbbbbbbbbb\n";
    let desk = Desk::with(&[("tokens", tokens), ("notes", "a note\n")]);
    set_mode(&desk, "tokens", 0o600);
    let ran = desk.spawn(&[], &["run", "read_file", "--args", "{\"path\":\"notes\"}"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let running = start(&desk, &["--token-file", "tokens"]);
    assert!(running.line.ends_with("; sign in with a token from tokens\n"), "{}", running.line);
    let bearer = |token: &str| {
        format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n")
    };
    for (token, path, status) in [
        ("aaaaaaaaaaaaaaaa", "/api/v1/approvals/x/grant", 403),
        ("bbbbbbbbbbbbbbbb", "/api/v1/approvals/x/grant", 404),
        ("cccccccccccccccc", "/api/v1/approvals/x/grant", 401),
    ] {
        let ask = || running.ask("POST", path, &bearer(token), "{}");
        let mut response = ask();
        // The server reads the ledger shortly after it starts.
        for _ in 0..200 {
            if !response.starts_with("HTTP/1.1 503") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            response = ask();
        }
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{token}: {response}");
    }
    // The server counts shortly after it starts.
    for _ in 0..200 {
        let response = running.ask("GET", "/api/v1/stats", &bearer("aaaaaaaaaaaaaaaa"), "");
        if response.contains("\"calls\":1,") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    let body = r#"{"policy":"[tools.permissions]\ndefault = \"deny\"\n"}"#;
    let response = running.ask("POST", "/api/v1/policy/replay", &bearer("aaaaaaaaaaaaaaaa"), body);
    assert!(
        response.contains("\"calls\":1,") && response.contains("\"after\":\"deny\""),
        "{response}"
    );
    let body = r#"{"policy":"[tools.permission]\n"}"#;
    let response = running.ask("POST", "/api/v1/policy/replay", &bearer("aaaaaaaaaaaaaaaa"), body);
    assert!(response.starts_with("HTTP/1.1 422") && response.contains("permission"), "{response}");
}

#[cfg(unix)]
#[test]
fn what_cannot_be_used_is_refused() {
    let tokens = [
        ("short", "read short\n"),
        ("role", "admin aaaaaaaaaaaaaaaa\n"),
        ("empty", "# nobody\n"),
        ("open", "read aaaaaaaaaaaaaaaa\n"),
    ];
    let desk = Desk::with(&tokens);
    for (name, _) in tokens {
        set_mode(&desk, name, if name == "open" { 0o644 } else { 0o600 });
    }
    for (arguments, expected) in [
        ("--listen 0.0.0.0:0", "no token is configured"),
        ("--token-file short", "short:1: a token must have at least 16 characters"),
        ("--token-file role", "role:1: the role must be `read` or `operate`"),
        ("--token-file empty", "contains no tokens"),
        ("--token-file open", "other users can read the token file open (mode 644)"),
        ("--token-file absent", "cannot read the token file"),
    ] {
        let ran = desk.run(&format!("serve {arguments}"));
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        assert!(ran.err.contains(expected), "{arguments}: {}", ran.err);
    }
}
