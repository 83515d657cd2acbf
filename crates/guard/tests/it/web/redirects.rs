//! Redirects: each hop is checked like the first.

use super::server::moved;
use super::*;

#[test]
fn no_redirect_leads_where_the_first_request_could_not_go() {
    let secret = Server::start(|_| answer("200 OK", "", "secret"));
    let port = secret.port();
    let locations = vec![
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://0177.1:{port}/"),
        format!("http://0:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[64:ff9b::7f00:1]:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("\\\\127.0.0.1:{port}\\"),
        format!("/\\127.0.0.1:{port}/"),
        format!("http:\\\\127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("http://x@127.0.0.1:{port}/"),
        format!("http://rebind.example:{port}/"),
        format!("http://mixed.example:{port}/"),
        format!(" http://127.0.0.1:{port}/ "),
        format!("ht\ttp://127.0.0.1:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "ftp://127.0.0.1/".to_owned(),
        "gopher://127.0.0.1:70/".to_owned(),
        "data:text/plain,secret".to_owned(),
        "javascript:alert(1)".to_owned(),
        "unix:/run/docker.sock".to_owned(),
        "http://".to_owned(),
        "http://127.0.0.1:99999/".to_owned(),
    ];
    let book = Book::new(&[
        ("rebind.example", &["127.0.0.1"]),
        ("mixed.example", &["8.8.8.8", "127.0.0.1"]),
        ("localhost", &["127.0.0.1"]),
    ]);
    for code in ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"] {
        for location in &locations {
            let (code, location) = (code.to_owned(), location.clone());
            let headers = format!("Location: {location}\r\n");
            let first = Server::start(move |_| answer(&code, &headers, "secret"));
            let options = WebOptions {
                allow_unencrypted: true,
                allow_unasked: true,
                ports: vec![80, port],
                ..opened(&first)
            };
            let output = fetch(&executor(options, &book), &first.url("/"));
            let (category, message) = failure(&output);
            assert_eq!(category, PolicyBlocked, "{location}: {message}");
            assert!(!message.contains("secret"), "{location}: {message}");
            assert_eq!(first.connections(), 1, "{location}");
            assert_eq!(output.egress.len(), 2, "{location}");
            assert!(output.egress[0].blocked.is_none() && output.egress[1].blocked.is_some());
        }
    }
    assert_eq!(secret.connections(), 0);
}

#[test]
fn redirects_are_followed_by_hand_and_counted() {
    // `/3` redirects to `/2`, and so on; `/0` exists.
    let server = Server::start(|path| match path.trim_start_matches('/').parse::<u32>() {
        Ok(0) => answer("200 OK", "", "arrived"),
        Ok(n) => moved(&format!("/{}", n - 1)),
        Err(_) if path == "/nowhere" => answer("302 Found", "", ""),
        Err(_) => moved(path),
    });
    let web = executor(opened(&server), &Book::default());
    let output = fetch(&web, &server.url("/3#part"));
    assert_eq!(output.text, format!("arrived\n[found at {}]\n", server.url("/0")));
    assert_eq!(output.egress.len(), 4);
    assert_eq!(output.side_effects, [SideEffect::Reached(server.authority())]);
    let output = fetch(&web, &server.url("/4"));
    assert_eq!(failure(&output), (PermanentFailure, "more than 3 redirects"));
    assert_eq!(output.egress.len(), 4);
    assert_eq!(failure(&fetch(&web, &server.url("/round"))).0, PermanentFailure);
    assert_eq!(
        failure(&fetch(&web, &server.url("/nowhere"))),
        (PermanentFailure, "the redirect from `127.0.0.1` has no valid target")
    );
    assert!(!server.requests().iter().any(|head| head.contains('#')), "{:?}", server.requests());
}

/// The second server of this machine is opened, too: names are resolved at each hop.
#[test]
fn every_hop_is_looked_up_and_recorded() {
    let last = Server::start(|_| answer("404 Not Found", "", "no such page"));
    let to = format!("http://last.test:{}/x", last.port());
    let first = Server::start(move |_| moved(&to));
    let book = Book::new(&[("first.test", &["127.0.0.1"]), ("last.test", &["127.0.0.1"])]);
    let options = WebOptions {
        allow_private_hosts: vec!["first.test".to_owned(), "last.test".to_owned()],
        ..WebOptions::default()
    };
    let output = fetch(&executor(options, &book), &format!("http://first.test:{}/", first.port()));
    assert_eq!(
        failure(&output),
        (PermanentFailure, "the server answered 404 Not Found\nno such page")
    );
    assert_eq!(book.lookups(), ["first.test", "last.test"]);
    let hosts = [first.port(), last.port()].into_iter().zip(["first.test", "last.test"]);
    let expected: Vec<String> = hosts.map(|(port, name)| format!("{name}:{port}")).collect();
    let seen: Vec<_> = output.egress.iter().map(|one| (one.host.clone(), one.status)).collect();
    assert_eq!(seen, [(expected[0].clone(), Some(302)), (expected[1].clone(), Some(404))]);
    assert_eq!(output.egress[1].bytes, 12);
    assert_eq!(output.egress[1].address, Some([127, 0, 0, 1].into()));
}
