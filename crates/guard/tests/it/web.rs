//! The web executor: what is fetched, what is refused, and that a refused target is never
//! contacted.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "certificates and records lie in files")]

mod addresses;
mod bodies;
mod chain;
mod encrypted;
mod pages;
mod redirects;
mod server;

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use counterfoil_guard::{
    BoxFuture, ErasedToolExecutor, Requested, Resolver, Scene, ToolOutput, TrustLevel, WebExecutor,
    WebOptions, WebOptionsError,
};
use counterfoil_model::SideEffect;
use counterfoil_model::ToolErrorCategory::{
    self, InvalidParameters, NetworkError, PermanentFailure, PolicyBlocked, RateLimited,
    ServerError, Timeout,
};
use serde_json::json;

use crate::desk::wait;
use crate::stage::{Stage, approved, call, permit};
use server::{Server, answer};

/// Resolves names from a fixed table, and remembers what it was asked.
#[derive(Debug, Clone, Default)]
struct Book {
    names: Arc<BTreeMap<String, Vec<IpAddr>>>,
    lookups: Arc<Mutex<Vec<String>>>,
}

impl Book {
    fn new(names: &[(&str, &[&str])]) -> Self {
        let parse = |text: &&str| text.parse().unwrap();
        let entries = names
            .iter()
            .map(|(name, found)| ((*name).to_owned(), found.iter().map(parse).collect()));
        Self { names: Arc::new(entries.collect()), lookups: Arc::default() }
    }

    fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }
}

impl Resolver for Book {
    fn resolve<'r>(&'r self, name: &'r str) -> BoxFuture<'r, io::Result<Vec<IpAddr>>> {
        self.lookups.lock().unwrap().push(name.to_owned());
        let found = self.names.get(name).cloned();
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

fn executor(options: WebOptions, book: &Book) -> WebExecutor {
    WebExecutor::resolving(options.resolve().unwrap(), book.clone())
}

/// Options that open a server of this machine.
fn opened(server: &Server) -> WebOptions {
    WebOptions { allow_private_hosts: vec![server.authority()], ..WebOptions::default() }
}

fn call_web(web: &WebExecutor, tool: &str, url: &str) -> ToolOutput {
    let web: &dyn ErasedToolExecutor = web;
    let stage = Stage::at(Path::new("/work"));
    let scene = stage.scene();
    wait(web.execute_tool_call(permit(tool, json!({ "url": url })), &scene)).unwrap().unwrap()
}

fn fetch(web: &WebExecutor, url: &str) -> ToolOutput {
    call_web(web, "fetch", url)
}

/// The message and category of a failure.
#[track_caller]
fn failure(output: &ToolOutput) -> (ToolErrorCategory, &str) {
    (output.failure.unwrap_or_else(|| panic!("it succeeded: {}", output.text)), &output.text)
}

#[test]
fn what_needs_approval() {
    let options = WebOptions {
        allow_private_hosts: vec!["localhost:3000".to_owned()],
        ..WebOptions::default()
    };
    let named = WebOptions { allow_domains: vec!["example.com".to_owned()], ..options.clone() };
    let without_approval = WebOptions { allow_unasked: true, ..options.clone() };
    use TrustLevel::{Provisional, Trusted, Untrusted};
    let cases: [(&WebOptions, &str, TrustLevel, bool); 10] = [
        (&options, "https://example.com/", Provisional, true),
        (&options, "https://example.com/", Untrusted, true),
        (&options, "https://example.com/", Trusted, false),
        (&options, "http://localhost:3000/", Provisional, false),
        // The call is refused in any case, so no person is asked.
        (&options, "http://example.com/", Provisional, false),
        (&options, "https://localhost:3001/", Provisional, false),
        (&options, "file:///etc/passwd", Provisional, false),
        (&named, "https://www.example.com/", Provisional, false),
        (&named, "https://other.example/", Provisional, false),
        (&without_approval, "https://example.com/", Provisional, false),
    ];
    for (options, url, trust, needs_approval) in cases {
        let web = executor(options.clone(), &Book::default());
        let web: &dyn ErasedToolExecutor = &web;
        let mut stage = Stage::at(Path::new("/work"));
        stage.trust = trust;
        let why = web.requires_confirmation(&call("fetch", json!({ "url": url })), &stage.scene());
        assert_eq!(why.is_some(), needs_approval, "{url} {trust:?}: {why:?}");
    }
    let web = executor(options, &Book::default());
    let web: &dyn ErasedToolExecutor = &web;
    let stage = Stage::at(Path::new("/work"));
    assert!(web.requires_confirmation(&call("other", json!({})), &stage.scene()).is_some());
}

#[test]
fn tools_are_declared_as_they_are() {
    let web = executor(WebOptions::default(), &Book::default());
    let web: &dyn ErasedToolExecutor = &web;
    for tool in web.tool_definitions() {
        assert!(["fetch", "scrape"].contains(&tool.name.as_str()));
        let effects = tool.effects;
        assert_eq!(
            (effects.reads, effects.writes, effects.network, effects.idempotent),
            (Some(true), Some(false), Some(true), Some(true))
        );
        assert_eq!(tool.parameters.unwrap()["required"], json!(["url"]));
        assert!(web.is_tool_retryable(&tool.name) && !web.is_tool_speculatable(&tool.name));
    }
    assert!(!web.owns("shell") && !web.is_tool_retryable("shell"));
}

#[test]
fn deny_before_allow_for_domains() {
    let options = WebOptions {
        allow_domains: vec!["example.com".to_owned(), "bücher.example".to_owned()],
        deny_domains: vec!["bad.example.com".to_owned(), "evil.example".to_owned()],
        ..WebOptions::default()
    };
    let denied = "matches `tools.web.deny_domains`";
    let unnamed = "is not in `tools.web.allow_domains`";
    let cases = [
        ("https://example.com/", ""),
        ("https://EXAMPLE.com./", ""),
        ("https://www.example.com/", ""),
        ("https://xn--bcher-kva.example/", ""),
        ("https://b\u{fc}cher.example/", ""),
        ("https://bad.example.com/", denied),
        ("https://x.BAD.example.com/", denied),
        ("https://bad.example.com./", denied),
        ("https://evil.example/", denied),
        ("https://notexample.com/", unnamed),
        ("https://example.com.evil.test/", unnamed),
        ("https://bad.example.org/", unnamed),
        ("https://93.184.216.34/", unnamed),
    ];
    for (url, expected) in cases {
        let book = Book::default();
        let output = fetch(&executor(options.clone(), &book), url);
        if expected.is_empty() {
            // The resolver knows no names, but it was asked.
            assert_eq!(failure(&output).0, NetworkError, "{url}");
            assert_eq!(book.lookups().len(), 1, "{url}");
        } else {
            let (category, message) = failure(&output);
            assert_eq!(category, PolicyBlocked, "{url}");
            assert!(message.ends_with(expected), "{url}: {message}");
            assert_eq!(book.lookups(), Vec::<String>::new(), "{url}: nobody is asked for it");
        }
    }
    // A host in both lists is denied.
    let server = Server::start(|_| answer("200 OK", "", "x"));
    let options = WebOptions { deny_domains: vec!["127.0.0.1".to_owned()], ..opened(&server) };
    let output = fetch(&executor(options, &Book::default()), &server.url("/"));
    assert_eq!(failure(&output).0, PolicyBlocked);
    assert_eq!(server.connections(), 0);
}

#[test]
fn only_grounded_urls_where_that_is_configured() {
    let server = Server::start(|_| answer("200 OK", "", "x"));
    let options = WebOptions { grounded_only: true, ..opened(&server) };
    let web = executor(options, &Book::default());
    let web: &dyn ErasedToolExecutor = &web;
    let stage = Stage::at(Path::new("/work"));
    let url = server.url("/");
    let try_in = |scene: Scene<'_>| {
        let permit = permit("fetch", json!({ "url": url }));
        wait(web.execute_tool_call(permit, &scene)).unwrap().unwrap()
    };
    let refused = try_in(stage.scene());
    assert_eq!(failure(&refused).0, PolicyBlocked);
    assert!(refused.egress[0].blocked.as_ref().unwrap().contains("grounded_only"));
    assert_eq!(server.connections(), 0);
    assert_eq!(try_in(Scene { claim_source: Some("web"), ..stage.scene() }).failure, None);
    assert_eq!(try_in(Scene { requested: Requested::ByUser, ..stage.scene() }).failure, None);
}

#[test]
fn approval_does_not_widen_what_may_be_reached() {
    let server = Server::start(|_| answer("200 OK", "", "x"));
    let options =
        WebOptions { allow_unencrypted: true, ports: vec![server.port()], ..WebOptions::default() };
    let web = executor(options, &Book::default());
    let web: &dyn ErasedToolExecutor = &web;
    let stage = Stage::at(Path::new("/work"));
    let permit = approved("fetch", json!({ "url": server.url("/") }));
    let output = wait(web.execute_tool_call_confirmed(permit, &stage.scene())).unwrap().unwrap();
    assert_eq!(failure(&output).0, PolicyBlocked);
    assert_eq!(server.connections(), 0);
}

#[test]
fn options_that_cannot_be_used_say_why() {
    let list = |text: &str| vec![text.to_owned()];
    let default = WebOptions::default;
    for (options, expected) in [
        (
            WebOptions { deny_domains: list("*.example.com"), ..default() },
            "deny_domains: `*.example.com` is not a domain such as `example.com`",
        ),
        (
            WebOptions { allow_domains: list("https://example.com"), ..default() },
            "allow_domains: `https://example.com` is not a domain such as `example.com`",
        ),
        (
            WebOptions { allow_private_hosts: list("localhost:http"), ..default() },
            "allow_private_hosts: `localhost:http` is not a host, or a host and a port such as \
             `localhost:3000`",
        ),
        (
            WebOptions { timeout_secs: 0, ..default() },
            "`timeout_secs` must be between 1 and 300, got 0",
        ),
        (
            WebOptions { max_bytes: 1, ..default() },
            "`max_bytes` must be between 1024 and 268435456, got 1",
        ),
        (
            WebOptions { ca_file: Some("ca.pem".into()), ..default() },
            "ca_file: `ca.pem` is not an absolute path",
        ),
    ] {
        let error: WebOptionsError = options.resolve().unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
