//! Only public addresses are reached, however others are spelled.

use counterfoil_tools::{Reserved, reserved};

use super::*;

#[test]
fn what_addresses_are_for() {
    use Reserved::{
        LinkLocal, Loopback, Metadata, Multicast, Private, Shared, Special, Translated, Unspecified,
    };
    let cases: [(Option<Reserved>, &[&str]); 10] = [
        (
            None,
            &[
                "8.8.8.8",
                "1.1.1.1",
                "93.184.216.34",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2606:4700::1111",
                "2001:4860:4860::8888",
                "2003::1",
                "2a00::1",
                "3ffe::1",
            ],
        ),
        (Some(Loopback), &["127.0.0.1", "127.255.255.254", "::1"]),
        (
            Some(Private),
            &[
                "10.0.0.1",
                "10.255.255.255",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.0.1",
                "fc00::1",
                "fd12:3456::1",
                "fec0::1",
            ],
        ),
        (Some(Shared), &["100.64.0.0", "100.127.255.255"]),
        (
            Some(Metadata),
            &[
                "169.254.169.254",
                "169.254.170.2",
                "168.63.129.16",
                "100.100.100.200",
                "192.0.0.192",
                "fd00:ec2::254",
                "fd20:ce::254",
            ],
        ),
        (Some(LinkLocal), &["169.254.0.1", "169.254.255.255", "fe80::1", "febf::1"]),
        (
            Some(Multicast),
            &["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "ff0e::1"],
        ),
        (Some(Unspecified), &["0.0.0.0", "0.1.2.3", "::"]),
        (
            Some(Translated),
            &[
                "::ffff:127.0.0.1",
                "::ffff:8.8.8.8",
                "::127.0.0.1",
                "::8.8.8.8",
                "::ffff:0:127.0.0.1",
                "64:ff9b::127.0.0.1",
                "64:ff9b::8.8.8.8",
                "64:ff9b:1::7f00:1",
                "2002:7f00:1::1",
                "2002:a00:1::",
                "2001::7f00:1",
                "192.88.99.1",
                "2001:4860::5efe:7f00:1",
                "2001:4860::200:5efe:7f00:1",
            ],
        ),
        (
            Some(Special),
            &[
                "192.0.0.8",
                "192.0.2.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "240.0.0.1",
                "254.255.255.255",
                "100::1",
                "2001:db8::1",
                "2001:1ff::1",
                "3fff::1",
                "5f00::1",
                "4000::1",
                "64:ff9a::1",
                "fe00::1",
            ],
        ),
    ];
    for (expected, addresses) in cases {
        for address in addresses {
            assert_eq!(reserved(address.parse().unwrap()), expected, "{address}");
        }
    }
}

/// Spellings of this machine and its neighbours. Each is requested at the port of a local server,
/// with everything allowed except the address.
#[test]
fn no_spelling_of_a_near_address_is_reached() {
    let server = Server::start(|_| answer("200 OK", "", "near"));
    let port = server.port();
    let six = Server::at(&format!("[::1]:{port}"), |_| answer("200 OK", "", "near"));
    if six.is_err() {
        println!("not checked over IPv6: there is none here");
    }
    let hosts = [
        "127.0.0.1",
        "127.0.0.2",
        "127.1",
        "127.0.1",
        "127.255.255.254",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0x7F.0.0.1",
        "0x7f.0x0.0x0.0x1",
        "0177.0.0.1",
        "0177.1",
        "017700000001",
        "00000177.0.0.1",
        "127.0.0.1.",
        "0127.0.0.1x",
        "127.0.0.0x1",
        "0",
        "0.0.0.0",
        "0x0",
        "00",
        "000.0.0.0",
        "%31%32%37.0.0.1",
        "127%2e0%2e0%2e1",
        "127。0。0。1",
        "127．0．0．1",
        "①②⑦.⓪.⓪.①",
        "１２７.0.0.1",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[0000::1]",
        "[::]",
        "[0::0]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[::7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2002:7f00:1::1]",
        "[2001:0:0:0:0:0:7f00:1]",
        "[::ffff:0:127.0.0.1]",
        "[fe80::1]",
        "[fe80::1%25lo]",
        "[fd00::1]",
        "[fc00::1]",
        "[ff02::1]",
        "[fec0::1]",
        "[2001:4860::5efe:7f00:1]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "LocalHost",
        "ｌｏｃａｌｈｏｓｔ",
        "foo.localhost",
        "localhost.localdomain",
        "ip6-localhost",
        "printer.local",
        "router.lan",
        "metadata.google.internal",
        "metadata",
        "intranet",
        "x.home.arpa",
        "10.0.0.1",
        "10.1",
        "0xa000001",
        "012.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "192.168.1",
        "3232235521",
        "100.64.0.1",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[fd00:ec2::254]",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "0.1.2.3",
        "192.0.2.1",
        "user@127.0.0.1",
        "example.com@127.0.0.1",
        "user:pass@localhost",
    ];
    assert!(hosts.len() >= 60);
    // What the system's resolver would return for these names.
    let book = Book::new(&[
        ("localhost.localdomain", &["127.0.0.1"]),
        ("localhost", &["127.0.0.1"]),
        ("127.0.0.1.", &["127.0.0.1"]),
        ("0127.0.0.1x", &["127.0.0.1"]),
    ]);
    let options = WebOptions {
        allow_unencrypted: true,
        allow_unasked: true,
        ports: vec![port],
        ..WebOptions::default()
    };
    let web = executor(options, &book);
    let mut tried = 0;
    for host in hosts {
        for url in [
            format!("http://{host}:{port}/"),
            format!("HTTP://{host}:{port}"),
            format!("http:\\\\{host}:{port}\\x"),
            format!("http:{host}:{port}/"),
            format!("http:////{host}:{port}/"),
        ] {
            tried += 1;
            let output = fetch(&web, &url);
            let (category, message) = failure(&output);
            let fine = category == PolicyBlocked
                // Invalid URLs and unknown names are not reached, either.
                || category == InvalidParameters
                || (category == NetworkError && message.contains("cannot be found"));
            assert!(fine, "{url}: {category:?} {message}");
            assert!(output.egress.iter().all(|one| one.blocked.is_some()), "{url}");
            assert_eq!(output.side_effects, [], "{url}");
        }
    }
    println!("{tried} spellings of {} hosts", hosts.len());
    assert_eq!(server.connections(), 0);
    assert_eq!(six.map_or(0, |server| server.connections()), 0);
}

/// Names that resolve to a local address: the only one, one of several, or one in disguise.
#[test]
fn a_name_that_leads_near_is_not_reached() {
    let server = Server::start(|_| answer("200 OK", "", "near"));
    let port = server.port();
    let lists: [&[&str]; 14] = [
        &["127.0.0.1"],
        &["::1"],
        &["8.8.8.8", "127.0.0.1"],
        &["127.0.0.1", "8.8.8.8"],
        &["2606:4700::1111", "::1"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["2002:7f00:1::"],
        &["10.0.0.1"],
        &["169.254.169.254"],
        &["fd00:ec2::254"],
        &["100.64.0.1"],
        &["0.0.0.0"],
        &["::"],
    ];
    for found in lists {
        let book = Book::new(&[("rebind.example", found)]);
        let options = WebOptions {
            allow_unencrypted: true,
            allow_domains: vec!["rebind.example".to_owned()],
            ports: vec![port],
            ..WebOptions::default()
        };
        let output = fetch(&executor(options, &book), &format!("http://rebind.example:{port}/"));
        let (category, message) = failure(&output);
        assert_eq!(category, PolicyBlocked, "{found:?}: {message}");
        assert!(message.starts_with("`rebind.example` resolves to "), "{message}");
        assert_eq!(output.egress[0].blocked.as_deref(), Some(message));
    }
    assert_eq!(server.connections(), 0);
}

/// An opened host is reached at its resolved address, and resolved only once; metadata services and
/// the like stay closed.
#[test]
fn an_opened_host_is_reached_at_the_address_that_was_checked() {
    let server = Server::start(|_| answer("200 OK", "", "near"));
    let port = server.port();
    let options = WebOptions {
        allow_private_hosts: vec![format!("app.test:{port}")],
        ..WebOptions::default()
    };
    let book = Book::new(&[("app.test", &["127.0.0.1"])]);
    let output = fetch(&executor(options.clone(), &book), &format!("http://app.test:{port}/"));
    assert_eq!((output.failure, output.text.as_str()), (None, "near"));
    assert_eq!(book.lookups(), ["app.test"], "nobody asks a second time");
    assert_eq!(server.connections(), 1);
    assert_eq!(output.side_effects, [SideEffect::Reached(format!("app.test:{port}"))]);
    for address in
        ["169.254.169.254", "100.100.100.200", "224.0.0.1", "::ffff:127.0.0.1", "0.0.0.0"]
    {
        let book = Book::new(&[("app.test", &[address])]);
        let output = fetch(&executor(options.clone(), &book), &format!("http://app.test:{port}/"));
        assert_eq!(failure(&output).0, PolicyBlocked, "{address}");
    }
    let other = format!("http://app.test:{}/", port.wrapping_add(1));
    let output = fetch(&executor(options, &book), &other);
    assert_eq!(failure(&output).0, PolicyBlocked, "another port of the same host");
    assert_eq!(server.connections(), 1);
}

#[test]
fn what_is_not_fetched_by_its_url() {
    let web = executor(WebOptions::default(), &Book::default());
    let cases = [
        ("file:///etc/passwd", PolicyBlocked, "`file:` URLs are not fetched, only `https:`"),
        ("ftp://example.com/", PolicyBlocked, "`ftp:` URLs are not fetched, only `https:`"),
        ("gopher://example.com/", PolicyBlocked, "`gopher:` URLs are not fetched, only `https:`"),
        ("data:text/plain,x", PolicyBlocked, "`data:` URLs are not fetched, only `https:`"),
        ("javascript:alert(1)", PolicyBlocked, "`javascript:` URLs are not fetched, only `https:`"),
        (
            "http://example.com/",
            PolicyBlocked,
            "`http:` is not encrypted: only `https:` is fetched",
        ),
        ("https://a:b@example.com/", PolicyBlocked, "the URL contains a user name or password"),
        ("https://a@example.com/", PolicyBlocked, "the URL contains a user name or password"),
        ("https://example.com:22/", PolicyBlocked, "port 22 is not in `tools.web.ports`"),
        ("https://", InvalidParameters, "invalid URL: empty host"),
        ("example.com", InvalidParameters, "invalid URL: relative URL without a base"),
        ("", InvalidParameters, "invalid URL: relative URL without a base"),
        ("https://example.com:99999/", InvalidParameters, "invalid URL: invalid port number"),
        (
            "https://exa\tmple.com/",
            InvalidParameters,
            "the URL contains whitespace or control characters",
        ),
        (
            " https://example.com/",
            InvalidParameters,
            "the URL contains whitespace or control characters",
        ),
        (
            "https://example.com/\r\nHost: x",
            InvalidParameters,
            "the URL contains whitespace or control characters",
        ),
    ];
    for (url, category, message) in cases {
        let output = fetch(&web, url);
        assert_eq!(failure(&output), (category, message), "{url}");
        assert_eq!(output.egress.len(), 1);
        assert_eq!(output.egress[0].blocked.as_deref(), Some(message));
    }
    let long = format!("https://example.com/{}", "x".repeat(9_000));
    assert_eq!(failure(&fetch(&web, &long)).0, InvalidParameters);
}
