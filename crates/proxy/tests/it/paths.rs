//! Which requests are passed on, and how they are read.

use counterfoil_guard::{GuardOptions, GuardSettings};
use counterfoil_proxy::{
    KeyProvider, ProxyMode, ProxyOptions, ProxyOptionsError, VirtualKeyOptions,
};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::desk::{ClientResponse, Desk, Scripted, received};
use crate::test;
use crate::wires::On;
use crate::wires::Says::{Call, Text};

const LIE: &str = "I have cancelled order 7.";

async fn send(
    desk: &Desk,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> ClientResponse {
    let mut request = Request::builder().method(method);
    request = request.uri(format!("http://{}{path}", desk.address));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body.into())).unwrap();
    received(desk.client.request(request).await.unwrap()).await
}

/// Requests whose answers would not be judged.
const NOT_JUDGED: [(&str, &str); 31] = [
    ("POST", "/v1/chat/x/../completions"),
    ("POST", "/v1/./chat/completions"),
    ("POST", "/v1/chat/completions/."),
    ("POST", "/v1/chat/completions/x/.."),
    ("POST", "/V1/Chat/Completions"),
    ("POST", "/v1/chat/completions;x"),
    ("POST", "/v1/chat%252Fcompletions"),
    ("POST", "/v1/chat%2Fcompletions"),
    ("POST", "/v1/chat/completions%20"),
    ("POST", "/v1/chat/completions%00"),
    ("POST", "/v1/chat\\completions"),
    ("PUT", "/v1/chat/completions"),
    ("PATCH", "/v1/messages"),
    ("POST", "/v1/completions"),
    ("POST", "/v1beta/models/gemini:generateContent"),
    ("POST", "/api/chat"),
    ("POST", "/api/generate"),
    ("GET", "/v1/chat/completions"),
    ("GET", "/v1/chat/completions?limit=1"),
    ("GET", "/v1/chat/completions/x"),
    ("POST", "/v1/chat/completions/x"),
    ("GET", "/v1/chat/completions/x/messages"),
    ("GET", "/v1/responses/r1"),
    ("POST", "/v1/responses/r1"),
    ("POST", "/v1/responses/r1/cancel"),
    ("GET", "/v1/responses/r1/input_items"),
    ("GET", "/v1/responses/models"),
    ("GET", "/v1/conversations/c1/items"),
    ("GET", "/v1/threads/t/messages"),
    ("GET", "/v1/files/f/content"),
    ("POST", "/v1/messages/batches"),
];

#[test]
fn what_would_not_be_judged_is_refused() {
    test(async {
        for mode in [ProxyMode::Correct, ProxyMode::Block] {
            let desk = Desk::new(mode).await;
            for (method, path) in NOT_JUDGED {
                let response = send(&desk, (method, path), &[], "{}").await;
                assert_eq!(response.status, 403, "{method} {path}: {}", response.text);
                let helps = response.text.contains("proxy.paths")
                    || response.text.contains("write it without");
                assert!(helps, "{method} {path}: {}", response.text);
            }
            assert!(desk.heard().is_empty());
        }
        // In other modes they are passed on, and an operator may allow some.
        let desk = Desk::new(ProxyMode::Annotate).await;
        desk.next(Scripted::status(200, "{}"));
        assert_eq!(send(&desk, ("GET", "/v1/responses/r1"), &[], "").await.text, "{}");
        let paths = vec!["GET /v1/files/*/content".to_owned()];
        let options = ProxyOptions { mode: ProxyMode::Block, paths, ..ProxyOptions::default() };
        let desk = Desk::with(options, GuardSettings::default()).await;
        desk.next(Scripted::status(200, "{}"));
        assert_eq!(send(&desk, ("GET", "/v1/files/f/content"), &[], "").await.text, "{}");
        // A header cannot request another method or path.
        desk.next(Scripted::status(200, "{}"));
        let other =
            [("x-http-method-override", "POST"), ("x-original-url", "/v1/chat/completions")];
        send(&desk, ("GET", "/v1/models"), &other, "").await;
        let head = desk.heard().pop().unwrap().head;
        assert!(!head.contains("override") && !head.contains("original"), "{head}");
    });
}

fn utf16(text: &str) -> Vec<u8> {
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    [0xff, 0xfe].into_iter().chain(units).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

fn zlib(text: &str) -> Vec<u8> {
    use std::io::Write as _;
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// A rule denies order 13.
fn denying() -> GuardSettings {
    let options: Value = json!({ "policy": {
        "enabled": true, "default_effect": "allow",
        "rules": [{ "name": "no", "effect": "deny", "tool": "*", "args_match": "^13$" }],
    } });
    let tools = serde_json::from_value(options).unwrap();
    GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap()
}

#[test]
fn requests_are_read_however_they_are_written_or_refused() {
    test(async {
        let mut request = On::Chat.request("Look up 13.", &[]);
        request["stream"] = json!(false);
        let plain = request.to_string().replace("\"integer\"", "\"string\"");
        let answer = On::Chat.whole(&[Call("c1", "get_order", "{\"id\": \"13\"}")]);
        let json = ("content-type", "application/json");
        let packed = |kind: &'static str| ("content-encoding", kind);
        for (what, header, body, read) in [
            ("plain", json, plain.clone().into_bytes(), true),
            ("escaped", json, plain.replace("\"model\"", "\"mod\\u0065l\"").into_bytes(), true),
            ("mark", json, format!("\u{feff}{plain}").into_bytes(), true),
            ("identity", packed("identity"), plain.clone().into_bytes(), true),
            ("no brotli", packed("br"), plain.clone().into_bytes(), true),
            ("gzip", packed("gzip"), gzip(&plain), true),
            ("deflate", packed("deflate"), zlib(&plain), false),
            ("two gzip", packed("gzip, gzip"), gzip("x"), false),
            ("utf-16", json, utf16(&plain), false),
            (
                "another charset",
                ("content-type", "application/json; charset=utf-7"),
                plain.clone().into_bytes(),
                false,
            ),
            ("twice", json, plain.replacen('{', "{\"tools\":[],", 1).into_bytes(), false),
        ] {
            let options = ProxyOptions {
                mode: ProxyMode::Correct,
                max_corrections: 0,
                verify_ms: 10_000,
                ..ProxyOptions::default()
            };
            let desk = Desk::with(options, denying()).await;
            desk.next(Scripted::json(&answer));
            let response = send(&desk, ("POST", On::Chat.path()), &[header], body).await;
            assert!(!response.text.contains("\"tool_calls\""), "{what}: {}", response.text);
            assert_eq!(response.status, if read { 200 } else { 400 }, "{what}: {}", response.text);
            if let Some(heard) = desk.heard().pop() {
                // The parsed request is the one that was passed on.
                assert!(heard.text.starts_with('{') && !heard.head.contains("content-encoding"));
            }
        }
        // An answer that is not plain UTF-8 text.
        for head in ["content-encoding: gzip", "content-type: application/json; charset=utf-16"] {
            let desk = Desk::with(
                ProxyOptions { mode: ProxyMode::Correct, ..ProxyOptions::default() },
                denying(),
            )
            .await;
            let mut scripted = Scripted::json(&answer);
            scripted.head = format!("HTTP/1.1 200 OK\r\n{head}");
            desk.next(scripted);
            let response = desk.ask(On::Chat.path(), &request).await;
            assert_eq!(response.status, 502, "{head}: {}", response.text);
        }
    });
}

fn team(paths: &[&str], tokens_per_day: Option<u64>) -> VirtualKeyOptions {
    VirtualKeyOptions {
        name: "team".to_owned(),
        key_env: "OWN".to_owned(),
        provider_key_env: "REAL".to_owned(),
        provider: KeyProvider::Openai,
        tokens_per_day,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..VirtualKeyOptions::default()
    }
}

async fn with_key(mode: ProxyMode, key: VirtualKeyOptions) -> Desk {
    let options =
        ProxyOptions { mode, keys: vec![key], verify_ms: 10_000, ..ProxyOptions::default() };
    Desk::with(options, GuardSettings::default()).await
}

const OWN: (&str, &str) = ("authorization", "Bearer value of OWN");

#[test]
fn a_key_of_ours_reaches_what_it_is_given() {
    test(async {
        for mode in [ProxyMode::Observe, ProxyMode::Annotate] {
            let desk = with_key(mode, team(&["GET /v1/files/*"], None)).await;
            for (method, path, reaches) in [
                ("GET", "/v1/models", true),
                ("POST", "/v1/chat/completions", true),
                ("POST", "/v1/responses/input_tokens", true),
                ("GET", "/v1/files/f1", true),
                ("GET", "/v1/files/f1/content", false),
                ("GET", "/v1/files/../organization", false),
                ("GET", "/v1/files", false),
                ("DELETE", "/v1/files/f1", false),
                ("POST", "/v1/batches", false),
                ("GET", "/v1/organization/admin_api_keys", false),
                ("POST", "/v1/embeddings", false),
                ("POST", "/v1/completions", false),
                ("POST", "/v1/chat%2Fcompletions", false),
                ("GET", "/v1/responses/r1", false),
            ] {
                let before = desk.heard().len();
                desk.next(Scripted::status(200, "{\"choices\":[]}"));
                let response = send(&desk, (method, path), &[OWN], "{}").await;
                let went = desk.heard().len() > before;
                assert_eq!(went, reaches, "{mode:?} {method} {path}: {}", response.text);
                assert!(reaches || response.status == 403, "{method} {path}: {}", response.text);
                if !reaches {
                    desk.script.lock().unwrap().clear();
                }
            }
        }
        let options = |key| ProxyOptions { keys: vec![key], ..ProxyOptions::default() };
        let read = |key| options(key).resolve(|name| Some(name.to_owned())).map(|_| ());
        let wrong = read(team(&["/v1/files"], None)).unwrap_err();
        assert_eq!(wrong, ProxyOptionsError::Path("/v1/files".to_owned()));
        // Requests that are answered later are not counted.
        assert!(read(team(&["POST /v1/batches"], None)).is_ok());
        let wrong = read(team(&["POST /v1/batches"], Some(10))).unwrap_err();
        assert!(wrong.to_string().contains("cannot be counted"), "{wrong}");
    });
}

#[test]
fn what_passes_with_a_key_is_counted() {
    test(async {
        let usage = "{\"data\":[],\"usage\":{\"prompt_tokens\":20,\"total_tokens\":20}}";
        let silent = "{\"data\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}";
        for answer in [usage, silent] {
            let desk =
                with_key(ProxyMode::Annotate, team(&["POST /v1/embeddings"], Some(15))).await;
            let mut statuses = Vec::new();
            // The cost is counted after the answer was sent, which the client may see first.
            while statuses.len() < 50 && !statuses.contains(&429) {
                desk.next(Scripted::status(200, answer));
                let response =
                    send(&desk, ("POST", "/v1/embeddings"), &[OWN], "{\"input\":\"x\"}").await;
                statuses.push(response.status);
            }
            assert_eq!((statuses[0], statuses.last()), (200, Some(&429)), "{answer}");
        }
        let desk = with_key(ProxyMode::Annotate, team(&[], Some(15))).await;
        let mut request = On::Responses.request("Hi", &[]);
        request["background"] = json!(true);
        let response = desk.ask_as(On::Responses.path(), &[OWN], &request).await;
        assert_eq!(response.status, 400, "{}", response.text);
    });
}

#[test]
fn the_key_of_a_provider_stays_here() {
    test(async {
        for mode in super::MODES {
            for streams in [true, false] {
                let desk = with_key(mode, team(&[], None)).await;
                let body = "{\"error\":{\"message\":\"Incorrect key: value of REAL\"}}";
                let mut scripted = Scripted::status(401, body);
                scripted.head += "\r\nwww-authenticate: Bearer value of REAL";
                desk.next(scripted);
                let mut request = On::Chat.request("Hi", &[]);
                request["stream"] = json!(streams);
                let response = desk.ask_as(On::Chat.path(), &[OWN], &request).await;
                assert!(!response.text.contains("REAL"), "{mode:?}: {}", response.text);
                assert_eq!(response.headers["www-authenticate"], "Bearer [key]", "{mode:?}");
                desk.next(Scripted::status(401, body));
                let response = send(&desk, ("GET", "/v1/models"), &[OWN], "").await;
                assert!(!response.text.contains("REAL"), "{mode:?}: {}", response.text);
            }
        }
    });
}

#[test]
fn an_answer_that_is_not_judged_says_so() {
    test(async {
        let half = On::Chat.whole(&[Text(LIE)]).to_string().replace("7.", "7.\\udcff");
        let large = On::Chat.whole(&[Text(LIE)]).to_string().replacen('{', "{\"x\":1e400,", 1);
        let nested = format!("{{\"x\":{}{},", "[".repeat(200), "]".repeat(200));
        let deep = On::Chat.whole(&[Text(LIE)]).to_string().replacen('{', &nested, 1);
        for mode in [ProxyMode::Annotate, ProxyMode::Correct, ProxyMode::Block] {
            for answer in [&half, &large, &deep] {
                let desk = Desk::new(mode).await;
                desk.next(Scripted::status(200, answer));
                let mut request = On::Chat.request("Cancel 7.", &[]);
                request["stream"] = json!(false);
                let response = desk.ask(On::Chat.path(), &request).await;
                if mode == ProxyMode::Block {
                    assert_eq!(response.status, 502);
                    assert!(!response.text.contains("cancelled"), "{}", response.text);
                } else {
                    let found = response.headers["counterfoil-findings"].to_str().unwrap();
                    assert!(found.contains("not_judged"), "{found}");
                }
            }
        }
    });
}
