//! Clients over HTTP, in front of a server that is a process or is itself reached over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use counterfoil_guard::{Guard, GuardOptions, GuardSettings, Ledger, Receipt, SessionStart};
use counterfoil_model::Status;
use counterfoil_serve::{
    Access, Gateway, HttpGateway, Limits, Program, Remote, Server, relay_to, serve_http,
};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use crate::{json, test};

/// A server with one tool whose argument selects what it does: `slow` reports progress and waits
/// for a file, `die` ends the server, `late` never answers.
const SERVER: &str = r#"
while IFS= read -r line; do
  printf '%s\n' "$line" >> heard
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([^,}]*\).*/\1/p')
  token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\([^,}]*\).*/\1/p')
  word=$(printf '%s' "$line" | sed -n 's/.*"word":"\([^"]*\)".*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"odd":1.50}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"say","inputSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}]}}' ;;
    *'"word":"die"'*) exit 3 ;;
    *'"word":"late"'*) ;;
    *'"tools/call"'*)
      case "$word" in slow)
        echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'"$token"',"progress":1}}'
        sleep 0.2 ;;
      esac
      echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"$word"'"}]}}' ;;
  esac
done
"#;

/// A gateway over HTTP.
pub(crate) struct Desk {
    pub(crate) address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    ledger: Ledger,
    folder: tempfile::TempDir,
}

/// A response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) messages: Vec<Value>,
}

impl Desk {
    async fn new(settings: GuardSettings, access: Access) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.sh"), SERVER).unwrap();
        let server = Server::Command(Program {
            words: vec!["sh".to_owned(), "server.sh".to_owned()],
            folder: Some(folder.path().to_owned()),
            ..Program::default()
        });
        Self::before(server, settings, access, folder).await
    }

    pub(crate) async fn before(
        server: Server,
        settings: GuardSettings,
        access: Access,
        folder: tempfile::TempDir,
    ) -> Self {
        let guard = Guard::builder().settings(settings).build().unwrap();
        let (ledger, events) = (guard.ledger().clone(), guard.events());
        let limits =
            Limits { max_body_bytes: 4096, max_sessions: 2, idle: Duration::from_secs(3600) };
        let server = HttpGateway::new(server, access, limits, move || {
            Gateway::new(guard.clone(), SessionStart::default(), "words")
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve_http(Arc::new(server), listener, events, std::future::pending()));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { address, client, ledger, folder }
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response<Incoming> {
        let mut request = Request::builder().method(method);
        request = request.uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::from(body.to_owned()));
        self.client.request(request.body(body).unwrap()).await.unwrap()
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        read(self.ask(Method::POST, "/mcp", headers, body).await).await
    }

    /// A session that has listed its tools.
    async fn session(&self, capabilities: &str) -> String {
        let begin = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"capabilities":{capabilities}}}}}"#
        );
        let began = self.post(&[], &begin).await;
        assert_eq!(began.messages[0]["result"]["odd"], 1.5);
        let session = began.session.unwrap();
        self.post(&[("mcp-session-id", &session)], LIST).await;
        session
    }

    /// Waits until the ledger has a closed receipt, and returns the latest.
    pub(crate) async fn receipt(&self) -> Receipt {
        for _ in 0..200 {
            let ids = self.ledger.recent(None, 100).unwrap();
            let receipts = ids.iter().map(|id| self.ledger.receipt(id).unwrap().unwrap());
            let last = receipts.max_by_key(|receipt| receipt.seq);
            if let Some(receipt) = last.filter(|receipt| receipt.status != Status::Open) {
                return receipt;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("no call was closed")
    }
}

async fn read(response: Response<Incoming>) -> Answer {
    let status = response.status().as_u16();
    let text = |name: &str| response.headers().get(name).map(|v| v.to_str().unwrap().to_owned());
    let (session, kind) = (text("mcp-session-id"), text("content-type").unwrap_or_default());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let messages = match kind.as_str() {
        "text/event-stream" => {
            body.lines().filter_map(|line| line.strip_prefix("data: ")).map(json).collect()
        }
        "application/json" => vec![json(&body)],
        _ => vec![Value::String(body)],
    };
    Answer { status, session, messages }
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn call(id: &str, word: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"say","arguments":{{"word":"{word}"}},"_meta":{{"progressToken":7}}}}}}"#
    )
}

/// A call in the protocol without sessions.
fn alone(id: &str, word: &str) -> String {
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    call(id, word).replace(r#""_meta":{"#, &format!(r#""_meta":{{{meta},"#))
}

pub(crate) const ALONE: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "say")];

#[test]
fn a_session_has_a_server_and_receipts() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let session = desk.session("{}").await;
        let headers = [("mcp-session-id", session.as_str())];
        let response = desk.post(&headers, &call("\"a\"", "moon")).await;
        let message = &response.messages[0];
        assert_eq!(
            (&message["id"], &message["result"]["content"][0]["text"]),
            (&json!("a"), &json!("moon"))
        );
        let id = message["result"]["_meta"]["counterfoil/execution_id"].as_str().unwrap();
        let receipt = desk.ledger.receipt(id).unwrap().unwrap();
        assert_eq!((receipt.status, receipt.tool.as_str()), (Status::Completed, "say"));
        let wrong = desk.post(&headers, &call("2", "moon").replace("word", "wrod")).await;
        assert_eq!(wrong.messages[0]["result"]["isError"], true);
        let unknown = desk.post(&headers, &call("3", "moon").replace("\"say\"", "\"sya\"")).await;
        assert_eq!(unknown.messages[0]["error"]["code"], -32602);
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(desk.post(&headers, initialized).await.status, 202);
        assert_eq!(desk.ask(Method::DELETE, "/mcp", &headers, "").await.status(), 200);
        assert_eq!(desk.post(&headers, LIST).await.status, 404);
        // A client begins anew, whatever session it names.
        let greeting = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        assert_eq!(desk.post(&headers, greeting).await.status, 200);
        assert_eq!(desk.ask(Method::DELETE, "/mcp", &headers, "").await.status(), 404);
    });
}

#[test]
fn progress_comes_with_the_call_that_it_is_of() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let session = desk.session("{}").await;
        let response = desk.post(&[("mcp-session-id", &session)], &call("5", "slow")).await;
        assert_eq!(response.messages.len(), 2, "{:?}", response.messages);
        assert_eq!(response.messages[0]["params"]["progressToken"], 7);
        assert_eq!(response.messages[1]["id"], 5);
    });
}

#[test]
fn clients_without_a_session_may_use_the_same_ids() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let words = ["slow", "sun", "slow", "stars"];
        let calls = words.map(|word| {
            let (body, desk) = (alone("1", word), &desk);
            async move { desk.post(&ALONE, &body).await }
        });
        for (word, response) in words.iter().zip(futures_util::future::join_all(calls).await) {
            let last = response.messages.last().unwrap();
            assert_eq!(
                (&last["id"], &last["result"]["content"][0]["text"]),
                (&json!(1), &json!(word))
            );
            if *word == "slow" {
                assert_eq!(
                    response.messages[0]["params"]["progressToken"], 7,
                    "{:?}",
                    response.messages
                );
            }
        }
    });
}

#[test]
fn headers_of_a_message_say_what_it_says() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let mut wrong = ALONE;
        wrong[2].1 = "other";
        let response = desk.post(&wrong, &alone("1", "sun")).await;
        assert_eq!(
            (response.status, &response.messages[0]["error"]["code"]),
            (400, &json!(-32020))
        );
        let response = desk.post(&[], &call("1", "sun")).await;
        assert_eq!(
            (response.status, &response.messages[0]["error"]["code"]),
            (400, &json!(-32602))
        );
    });
}

#[test]
fn a_client_that_goes_away_gives_its_call_up() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let body = alone("1", "late");
        let gone = timeout(Duration::from_millis(300), desk.post(&ALONE, &body)).await;
        assert!(gone.is_err());
        assert_eq!(desk.receipt().await.status, Status::Cancelled);
        let mut heard = String::new();
        for _ in 0..100 {
            heard = std::fs::read_to_string(desk.folder.path().join("heard")).unwrap();
            if heard.contains("notifications/cancelled") {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("{heard}");
    });
}

#[test]
fn no_client_cancels_the_call_of_another() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let (slow, cancels) = (alone("\"a\"", "slow"), async {
            sleep(Duration::from_millis(50)).await;
            // The id used with the server, and the client's own.
            for id in ["1", "2", "3", "\"a\""] {
                let cancel = alone(id, "x")
                    .replace("tools/call", "notifications/cancelled")
                    .replace(&format!(r#""id":{id},"#), "")
                    .replace(r#""params":{"#, &format!(r#""params":{{"requestId":{id},"#));
                assert_eq!(desk.post(&[], &cancel).await.status, 202);
            }
        });
        let (response, ()) = tokio::join!(desk.post(&ALONE, &slow), cancels);
        let last = response.messages.last().unwrap();
        assert_eq!(last["result"]["content"][0]["text"], "slow", "{last}");
        assert_eq!(desk.receipt().await.status, Status::Completed);
        let heard = std::fs::read_to_string(desk.folder.path().join("heard")).unwrap();
        assert!(!heard.contains("cancelled"), "{heard}");
    });
}

#[test]
fn a_cancelled_call_ends_its_answer() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let session = desk.session("{}").await;
        let headers = [("mcp-session-id", session.as_str())];
        let (late, cancel) = (call("9", "late"), async {
            sleep(Duration::from_millis(200)).await;
            let cancel =
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
            desk.post(&headers, cancel).await
        });
        let (response, cancelled) = tokio::join!(desk.post(&headers, &late), cancel);
        assert_eq!((response.messages.len(), cancelled.status), (0, 202));
        assert_eq!(desk.receipt().await.status, Status::Cancelled);
    });
}

#[test]
fn a_server_that_dies_leaves_a_closed_receipt_and_another_session_alone() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let (dying, other) = (desk.session("{}").await, desk.session("{}").await);
        let response = desk.post(&[("mcp-session-id", &dying)], &call("5", "die")).await;
        assert_eq!(response.messages[0]["error"]["code"], -32000, "{:?}", response.messages);
        assert_eq!(desk.receipt().await.status, Status::Failed);
        let response = desk.post(&[("mcp-session-id", &dying)], &call("6", "sun")).await;
        assert_eq!(response.messages[0]["error"]["code"], -32000);
        let response = desk.post(&[("mcp-session-id", &other)], &call("5", "sun")).await;
        assert_eq!(response.messages[0]["result"]["content"][0]["text"], "sun");
        // Clients without a session get a new server.
        let response = desk.post(&ALONE, &alone("5", "die")).await;
        assert_eq!(response.messages[0]["error"]["code"], -32000);
        let response = desk.post(&ALONE, &alone("5", "sun")).await;
        assert_eq!(response.messages[0]["result"]["content"][0]["text"], "sun");
    });
}

fn asking() -> GuardSettings {
    let options: GuardOptions =
        serde_json::from_value(json!({ "tools": { "permissions": { "default": "ask" } } }))
            .unwrap();
    options.resolve().unwrap()
}

#[test]
fn a_question_goes_where_the_call_was_made() {
    test(async {
        let desk = Desk::new(asking(), Access::default()).await;
        let session = desk.session(r#"{"elicitation":{}}"#).await;
        for (action, expected) in [("accept", "sun"), ("decline", "This tool call was blocked")] {
            let headers = [("mcp-session-id", session.as_str())];
            let mut pending = desk.ask(Method::POST, "/mcp", &headers, &call("5", "sun")).await;
            let frame = pending.body_mut().frame().await.unwrap().unwrap();
            let frame = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
            let question = json(frame.trim().strip_prefix("data: ").unwrap());
            assert_eq!(question["method"], "elicitation/create");
            let answer =
                json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": action } });
            assert_eq!(desk.post(&headers, &answer.to_string()).await.status, 202);
            let response = read(pending).await;
            let text = response.messages[0]["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with(expected), "{text}");
        }
    });
}

#[test]
fn a_client_that_is_rejected_learns_why() {
    test(async {
        let access = Access { token: Some("s3cret".to_owned()), ..Access::default() };
        let desk = Desk::new(GuardSettings::default(), access).await;
        let bearer = ("authorization", "Bearer s3cret");
        let long = format!("{}{}", call("1", &"x".repeat(5000)), "");
        for (headers, body, status, why) in [
            (vec![], LIST, 401, "bearer token"),
            (vec![bearer, ("origin", "https://evil.example")], LIST, 403, "mcp.listen.origins"),
            (vec![bearer, ("host", "evil.example")], LIST, 403, "mcp.listen.hosts"),
            (vec![bearer], "{", 400, "EOF"),
            (vec![bearer], "[]", 400, "one by one"),
            (vec![bearer], r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, 400, "twice"),
            (vec![bearer], &long, 413, "4096 bytes"),
            (vec![bearer, ("mcp-session-id", "none")], LIST, 404, "this session does not exist"),
        ] {
            let response = desk.post(&headers, body).await;
            assert_eq!(response.status, status, "{why}");
            let message = response.messages[0]["error"]["message"].as_str().unwrap();
            assert!(message.contains(why), "{message}");
        }
        for (path, status) in [("/healthz", 200), ("/other", 401), ("/metrics", 401)] {
            assert_eq!(desk.ask(Method::GET, path, &[], "").await.status(), status, "{path}");
        }
    });
}

#[test]
fn sessions_are_counted_and_so_are_calls() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let session = desk.session("{}").await;
        desk.session("{}").await;
        let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let third = desk.post(&[], begin).await;
        assert_eq!((third.status, &third.messages[0]["id"]), (503, &json!(0)));
        desk.post(&[("mcp-session-id", &session)], &call("5", "sun")).await;
        desk.post(&[("mcp-session-id", &session)], &call("6", "sun").replace("word", "x")).await;
        let expected = [
            "counterfoil_sessions 2",
            "counterfoil_http_requests_total{code=\"503\"} 1",
            "counterfoil_tool_calls_total{status=\"completed\"} 1",
            "counterfoil_tool_calls_total{status=\"refused\"} 1",
        ];
        let mut text = String::new();
        // Calls are counted asynchronously.
        for _ in 0..100 {
            let metrics = read(desk.ask(Method::GET, "/metrics", &[], "").await).await;
            text = metrics.messages[0].as_str().unwrap().to_owned();
            if expected.iter().all(|line| text.lines().any(|found| found == *line)) {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("{text}");
    });
}

/// A gateway in front of another one, over HTTP.
async fn chain() -> (Desk, Desk) {
    let upstream = Desk::new(GuardSettings::default(), Access::default()).await;
    let url = format!("http://{}/mcp", upstream.address);
    let remote = Remote::new(&url, [("x-own", "1")], Duration::from_secs(10)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = GuardSettings::default();
    let desk = Desk::before(Server::Remote(remote), settings, Access::default(), folder).await;
    (desk, upstream)
}

#[test]
fn a_server_over_http_is_the_same_behind_the_gateway() {
    test(async {
        let (desk, upstream) = chain().await;
        let session = desk.session("{}").await;
        let headers = [("mcp-session-id", session.as_str())];
        let response = desk.post(&headers, &call("5", "slow")).await;
        assert_eq!(response.messages[0]["params"]["progressToken"], 7);
        let own = &response.messages[1]["result"]["_meta"]["counterfoil/execution_id"];
        let receipt = desk.ledger.receipt(own.as_str().unwrap()).unwrap().unwrap();
        assert_eq!(receipt.status, Status::Completed);
        assert_eq!(upstream.receipt().await.status, Status::Completed);
        let response = desk.post(&ALONE, &alone("5", "sun")).await;
        assert_eq!(response.messages[0]["result"]["content"][0]["text"], "sun");
        assert_eq!(desk.ask(Method::DELETE, "/mcp", &headers, "").await.status(), 200);
        // The other gateway's session has ended as well.
        assert_eq!(upstream.post(&headers, LIST).await.status, 404);
        let response = desk.post(&ALONE, &alone("5", "die")).await;
        assert_eq!(response.messages[0]["error"]["code"], -32000);
        assert_eq!(desk.receipt().await.status, Status::Failed);
    });
}

#[test]
fn below_well_known_only_plain_paths_are_requested_and_without_our_headers() {
    test(async {
        let (url, heard) = crate::session_anew::answering(|_| (200, "", "{}".to_owned())).await;
        let remote = Remote::new(&url, [("x-own", "secret")], Duration::from_secs(10)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let settings = GuardSettings::default();
        let desk = Desk::before(Server::Remote(remote), settings, Access::default(), folder).await;
        for (path, status) in [
            ("/.well-known/oauth-protected-resource", 200),
            ("/.well-known/oauth-authorization-server/tenant-1?a=b", 200),
            ("/.well-known/../admin", 404),
            ("/.well-known/a/./b", 404),
            ("/.well-known/%2e%2e/admin", 404),
            ("/.well-known/%252e%252e/admin", 404),
            ("/.well-known/..;/admin", 404),
            ("/.well-known//evil.example/", 404),
            ("/.well-known/a%5c..%5cadmin", 404),
        ] {
            let response =
                desk.ask(Method::GET, path, &[("authorization", "Bearer its-own")], "").await;
            assert_eq!(response.status(), status, "{path}");
        }
        let heard = heard.lock().unwrap().join("\n");
        assert_eq!(heard.matches("GET ").count(), 2, "{heard}");
        assert!(!heard.contains("secret") && heard.contains("its-own"), "{heard}");
    });
}

#[test]
fn a_client_over_streams_reaches_a_server_over_http() {
    test(async {
        let upstream = Desk::new(GuardSettings::default(), Access::default()).await;
        let url = format!("http://{}/mcp", upstream.address);
        let remote = Remote::new(&url, [], Duration::from_secs(10)).unwrap();
        let guard = Guard::builder().build().unwrap();
        let gateway = Gateway::new(guard, SessionStart::default(), "words").unwrap();
        let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let input =
            [begin, initialized, LIST, &call("5", "slow"), &alone("6", "sun"), ""].join("\n");
        let mut output = Vec::new();
        let server = Server::Remote(remote);
        let stop = std::future::pending();
        relay_to(&server, gateway, (input.as_bytes(), &mut output), stop).await.unwrap();
        let messages: Vec<Value> = String::from_utf8(output).unwrap().lines().map(json).collect();
        let of = |id: i64| messages.iter().find(|message| message["id"] == id).unwrap();
        assert_eq!(of(0)["result"]["odd"], 1.5);
        assert_eq!(of(5)["result"]["content"][0]["text"], "slow");
        assert_eq!(of(6)["result"]["content"][0]["text"], "sun");
        assert!(messages.iter().any(|message| message["method"] == "notifications/progress"));
    });
}

#[test]
fn a_missing_server_is_reported() {
    test(async {
        let remote = Remote::new("http://127.0.0.1:1/mcp", [], Duration::from_secs(1)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let settings = GuardSettings::default();
        let desk = Desk::before(Server::Remote(remote), settings, Access::default(), folder).await;
        let response = desk.post(&ALONE, &alone("5", "sun")).await;
        let message = response.messages[0]["error"]["message"].as_str().unwrap();
        assert!(message.contains("cannot reach the MCP server"), "{message}");
        assert_eq!(desk.receipt().await.status, Status::Failed);
        assert!(Remote::new("ftp://x", [], Duration::from_secs(1)).is_err());
    });
}

/// A client that calls before it lists: the gateway asks for the list itself, once.
#[test]
fn a_call_is_checked_although_its_client_listed_nothing() {
    test(async {
        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let session = desk.post(&[], begin).await.session.unwrap();
        let of_session = [("mcp-session-id", session.as_str())];
        let wrong = call("2", "moon").replace("\"word\"", "\"wrod\"");
        let wrong = desk.post(&of_session, &wrong).await;
        assert_eq!(wrong.messages[0]["result"]["isError"], true, "{:?}", wrong.messages);
        let unknown = call("3", "moon").replace("\"say\"", "\"sya\"");
        let unknown = desk.post(&of_session, &unknown).await;
        assert_eq!(unknown.messages[0]["error"]["code"], -32602, "{:?}", unknown.messages);
        let right = desk.post(&of_session, &call("4", "moon")).await;
        assert_eq!(right.messages[0]["result"]["content"][0]["text"], "moon");
        let heard = std::fs::read_to_string(desk.folder.path().join("heard")).unwrap();
        assert!(!heard.contains("wrod") && !heard.contains("sya"), "{heard}");
        assert_eq!(heard.matches("tools/list").count(), 1, "{heard}");

        let desk = Desk::new(GuardSettings::default(), Access::default()).await;
        let wrong = alone("1", "moon").replace("\"word\"", "\"wrod\"");
        let wrong = desk.post(&ALONE, &wrong).await;
        assert_eq!(wrong.messages[0]["result"]["isError"], true, "{:?}", wrong.messages);
        let right = desk.post(&ALONE, &alone("1", "moon")).await;
        assert_eq!(right.messages[0]["result"]["content"][0]["text"], "moon");
    });
}
