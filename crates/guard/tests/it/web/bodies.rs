//! Responses that are too large, too slow, broken, or not text.

use std::io::Write as _;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::server::Act;
use super::*;

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

const GZIP: &str = "Content-Encoding: gzip\r\nContent-Type: text/plain\r\n";

#[test]
fn what_is_too_long_does_not_arrive() {
    let bomb = gzip(&vec![0; 64 * 1024 * 1024]);
    let twice = [gzip(&vec![b'a'; 3_000_000]), gzip(&vec![b'b'; 3_000_000])].concat();
    let server = Server::start(move |path| match path {
        "/said" => Act::SendAndWait(b"HTTP/1.1 200 OK\r\nContent-Length: 4194305\r\n\r\n".to_vec()),
        "/chunks" => {
            let piece = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
            Act::SendForEver(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
                piece,
            )
        }
        "/unsaid" => Act::SendForEver(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 65_536]),
        "/bomb" => answer("200 OK", GZIP, &bomb),
        "/twice" => answer("200 OK", GZIP, &twice),
        "/head" => {
            Act::SendForEver(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X-A: aaaaaaaaaaa\r\n".to_vec())
        }
        "/line" => Act::SendForEver(b"HTTP/1.1 200 ".to_vec(), vec![b'x'; 4096]),
        _ => answer("200 OK", "Content-Type: text/plain\r\n", vec![b'x'; 4 * 1024 * 1024]),
    });
    let web = executor(opened(&server), &Book::default());
    for path in ["/said", "/chunks", "/unsaid", "/bomb", "/twice"] {
        let output = fetch(&web, &server.url(path));
        assert_eq!(
            failure(&output),
            (PermanentFailure, "the response from `127.0.0.1` is longer than 4194304 bytes"),
            "{path}"
        );
        assert!(output.egress[0].bytes <= 5 * 1024 * 1024, "{path}");
    }
    for path in ["/head", "/line"] {
        assert_eq!(failure(&fetch(&web, &server.url(path))).0, NetworkError, "{path}");
    }
    let output = fetch(&web, &server.url("/just"));
    assert_eq!((output.failure, output.truncated), (None, true));
    assert_eq!(output.egress[0].bytes, 4 * 1024 * 1024);
    assert!(output.text.ends_with("\n[truncated after 100000 characters]\n"));
}

#[test]
fn who_is_too_slow_is_given_up() {
    let server = Server::start(|path| match path {
        "/silent" => Act::SendAndWait(Vec::new()),
        "/head" => Act::SendAndWait(b"HTTP/1.1 200 OK\r\nX: ".to_vec()),
        _ => Act::SendAndWait(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()),
    });
    let options = WebOptions { timeout_secs: 1, ..opened(&server) };
    let web = executor(options, &Book::default());
    for path in ["/silent", "/head", "/body"] {
        let begun = Instant::now();
        let output = fetch(&web, &server.url(path));
        assert_eq!(failure(&output), (Timeout, "the page did not load within 1 s"), "{path}");
        assert!(begun.elapsed().as_secs() < 10, "{path}");
        assert_eq!(output.egress.len(), 1, "{path}");
        assert_eq!(output.side_effects, [SideEffect::Reached(server.authority())]);
    }
    assert_eq!(fetch(&web, &server.url("/body")).egress[0].status, Some(200));
}

#[test]
fn what_breaks_off_is_no_page() {
    let whole = gzip(b"hello hello hello hello");
    let half = whole[..whole.len() - 9].to_vec();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    let server = Server::start(move |path| match path {
        "/nothing" => Act::Send(Vec::new()),
        "/garbage" => Act::Send(b"SSH-2.0-x\r\n\r\n".to_vec()),
        "/half" => Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()),
        "/chunk" => {
            Act::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel".to_vec())
        }
        "/gzip" => answer("200 OK", GZIP, &half),
        "/changed" => answer("200 OK", GZIP, &changed),
        "/whole" => answer("200 OK", GZIP, &whole),
        "/none" => answer("200 OK", GZIP, "this is not gzip"),
        "/br" => answer("200 OK", "Content-Encoding: br\r\n", "x"),
        _ => answer("200 OK", "Content-Encoding: gzip, gzip\r\n", "x"),
    });
    let web = executor(opened(&server), &Book::default());
    assert_eq!(fetch(&web, &server.url("/whole")).text, "hello hello hello hello");
    for (path, category) in [
        ("/nothing", NetworkError),
        ("/garbage", NetworkError),
        ("/half", NetworkError),
        ("/chunk", NetworkError),
        ("/gzip", NetworkError),
        ("/changed", NetworkError),
        ("/none", PermanentFailure),
        ("/br", PermanentFailure),
        ("/doubly", PermanentFailure),
    ] {
        let output = fetch(&web, &server.url(path));
        let (found, message) = failure(&output);
        assert_eq!(found, category, "{path}: {message}");
    }
}

#[test]
fn statuses_have_their_category() {
    let server = Server::start(|path| {
        let status = format!("{} X", path.trim_start_matches('/'));
        answer(&status, "Content-Type: text/plain\r\n", "sorry")
    });
    let web = executor(opened(&server), &Book::default());
    for (status, category) in [
        (400, PermanentFailure),
        (401, PermanentFailure),
        (403, PermanentFailure),
        (404, PermanentFailure),
        (408, Timeout),
        (410, PermanentFailure),
        (425, ServerError),
        (429, RateLimited),
        (500, ServerError),
        (502, ServerError),
        (503, ServerError),
        (504, Timeout),
    ] {
        let output = fetch(&web, &server.url(&format!("/{status}")));
        let (found, message) = failure(&output);
        assert_eq!(found, category, "{status}");
        assert!(message.starts_with(&format!("the server answered {status} ")), "{message}");
        assert!(message.ends_with("\nsorry"), "{message}");
        assert_eq!(output.egress[0].status, Some(status));
    }
    for status in [200, 201, 206, 204, 304] {
        assert_eq!(fetch(&web, &server.url(&format!("/{status}"))).failure, None, "{status}");
    }
}

#[test]
fn an_unreachable_server_is_a_failure_of_the_network() {
    let gone = Server::start(|_| answer("200 OK", "", ""));
    let (options, url) = (opened(&gone), gone.url("/"));
    drop(gone);
    let output = fetch(&executor(options, &Book::default()), &url);
    assert_eq!(failure(&output).0, NetworkError);
    assert_eq!((output.egress[0].status, &output.egress[0].blocked), (None, &None));
}

#[test]
fn text_is_read_in_its_encoding_and_nothing_else_is_read() {
    let cases: Vec<(&str, Vec<u8>, Option<&str>)> = vec![
        ("text/plain", "grün".into(), Some("grün")),
        ("", "grün".into(), Some("grün")),
        ("application/json; charset=utf-8", "{}".into(), Some("{}")),
        ("application/problem+json", "{}".into(), Some("{}")),
        ("image/svg+xml", "<svg/>".into(), Some("<svg/>")),
        ("text/plain; charset=iso-8859-1", b"gr\xfcn".to_vec(), Some("grün")),
        ("text/plain; charset=\"Shift_JIS\"", b"\x93\xfa\x96\x7b".to_vec(), Some("日本")),
        ("text/plain; charset=utf-16le", b"h\0i\0".to_vec(), Some("hi")),
        ("text/plain", b"\xff\xfeh\0i\0".to_vec(), Some("hi")),
        ("text/plain; charset=nonsense", "x".into(), Some("x")),
        ("text/plain", b"gr\xfcn".to_vec(), Some("gr\u{fffd}n")),
        (
            "text/html",
            b"<meta charset=windows-1252>gr\xfcn".to_vec(),
            Some("<meta charset=windows-1252>grün"),
        ),
        ("image/png", b"\x89PNG".to_vec(), None),
        ("application/octet-stream", "text".into(), None),
        ("application/pdf", "%PDF".into(), None),
        ("", b"\x7fELF\0".to_vec(), None),
        ("text/plain", b"a\0b".to_vec(), None),
    ];
    let all = cases.clone();
    let server = Server::start(move |path| {
        let (media, body, _) = &all[path.trim_start_matches('/').parse::<usize>().unwrap()];
        let header =
            if media.is_empty() { String::new() } else { format!("Content-Type: {media}\r\n") };
        answer("200 OK", &header, body)
    });
    let web = executor(opened(&server), &Book::default());
    for (at, (media, _, expected)) in cases.iter().enumerate() {
        let output = fetch(&web, &server.url(&format!("/{at}")));
        match expected {
            Some(text) => assert_eq!((output.failure, output.text.as_str()), (None, *text)),
            None => {
                let (category, message) = failure(&output);
                assert_eq!(category, PermanentFailure, "{media}");
                assert!(message.contains("not text ("), "{message}");
            }
        }
    }
}

#[test]
fn requests_say_no_more_than_they_must() {
    let server = Server::start(|_| answer("200 OK", "Set-Cookie: a=b\r\n", "x"));
    let web = executor(opened(&server), &Book::default());
    for _ in 0..2 {
        fetch(&web, &server.url("/a%20b?c=d%26e#f"));
    }
    let requests = server.requests();
    assert_eq!((server.connections(), requests.len()), (2, 2), "no connection is used twice");
    assert_eq!(requests[0], requests[1], "nothing is remembered");
    let head = requests[0].to_ascii_lowercase();
    assert!(head.starts_with("get /a%20b?c=d%26e http/1.1\r\n"), "{head}");
    let names: Vec<&str> =
        head.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(names, ["host", "user-agent", "accept", "accept-encoding", "connection"]);
    assert!(head.contains(&format!("host: {}\r\n", server.authority())), "{head}");
}
