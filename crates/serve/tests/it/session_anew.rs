//! A server over HTTP that forgets its sessions, or exceeds the size limit.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use counterfoil_guard::{Guard, Ledger, SessionStart};
use counterfoil_model::Status;
use counterfoil_serve::{
    ClientOptions, Gateway, McpExecutor, NamedServer, Program, Remote, Server, Servers, relay_to,
};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::{json, test};

/// Stands for a byte that is no UTF-8.
pub(crate) const NO_UTF8: char = '\u{e000}';

/// A server over HTTP that answers each request (its head and body) with a status, a header and a
/// text. Returns its address and the requests it received.
pub(crate) async fn answering(
    answer: impl Fn(&str) -> (u16, &'static str, String) + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (noting, answer) = (Arc::clone(&heard), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (noting, answer) = (Arc::clone(&noting), Arc::clone(&answer));
            tokio::spawn(async move { serve(stream, &noting, &*answer).await });
        }
    });
    (url, heard)
}

async fn serve(
    mut stream: TcpStream,
    noting: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str) -> (u16, &'static str, String) + Send + Sync),
) {
    let mut received = Vec::new();
    let whole = loop {
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(read) => received.extend_from_slice(&piece[..read]),
        }
        let text = String::from_utf8_lossy(&received).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            break text;
        }
    };
    let (status, header, text) = answer(&whole);
    noting.lock().unwrap().push(whole);
    let kind = match header.starts_with("content-type:") {
        true => "",
        false => "content-type: application/json\r\n",
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\n{kind}{header}connection: close\r\ncontent-length: {}\r\n\r\n",
        text.chars().map(|c| if c == NO_UTF8 { 1 } else { c.len_utf8() }).sum::<usize>()
    );
    stream.write_all(head.as_bytes()).await.ok();
    for (at, piece) in text.split(NO_UTF8).enumerate() {
        let before: &[u8] = if at > 0 { b"\xff" } else { b"" };
        stream.write_all(&[before, piece.as_bytes()].concat()).await.ok();
    }
}

/// A server that only knows the session with the current name.
async fn forgetful() -> (Server, Arc<Mutex<&'static str>>, Arc<Mutex<Vec<String>>>) {
    let session = Arc::new(Mutex::new("one"));
    let now = Arc::clone(&session);
    let (url, heard) = answering(move |request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        if head.starts_with("GET") || head.starts_with("DELETE") {
            return (405, "", String::new());
        }
        let session = *now.lock().unwrap();
        let message = json(body);
        let header = match session {
            "one" => "mcp-session-id: one\r\n",
            "two" => "mcp-session-id: two\r\n",
            _ => "",
        };
        let result = match message["method"].as_str().unwrap() {
            "initialize" if !header.is_empty() => {
                json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } })
            }
            "server/discover" => {
                let error = json!({ "code": -32601, "message": "no such method" });
                let response = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                return (404, "", response.to_string());
            }
            _ if !head.contains(&format!("mcp-session-id: {session}\r\n")) => {
                let error = json!({ "code": -32001, "message": "session not found" });
                let response = json!({ "jsonrpc": "2.0", "id": null, "error": error });
                return (404, "", response.to_string());
            }
            "notifications/initialized" => return (202, "", String::new()),
            "tools/list" => json!({ "tools": [{ "name": "say", "inputSchema": {} }] }),
            _ => json!({ "content": [{ "type": "text", "text": session }] }),
        };
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        (200, header, response.to_string())
    })
    .await;
    let remote = Remote::new(&url, [], Duration::from_secs(10)).unwrap();
    (Server::Remote(remote), session, heard)
}

/// A client over streams in front of a server.
struct Desk {
    to: DuplexStream,
    from: tokio::io::Lines<BufReader<DuplexStream>>,
    ledger: Ledger,
}

impl Desk {
    fn new(server: Server) -> Self {
        let guard = Guard::builder().build().unwrap();
        let ledger = guard.ledger().clone();
        let gateway = Gateway::new(guard, SessionStart::default(), "words").unwrap();
        let (to, input) = duplex(1 << 16);
        let (output, from) = duplex(1 << 16);
        tokio::spawn(async move {
            relay_to(&server, gateway, (input, output), std::future::pending()).await
        });
        Self { to, from: BufReader::new(from).lines(), ledger }
    }

    async fn say(&mut self, message: Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The answer to a request.
    async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let line = timeout(Duration::from_secs(20), self.from.next_line()).await;
            let reply = json(&line.unwrap().unwrap().unwrap());
            if reply["id"] == id {
                return reply;
            }
        }
    }

    async fn began(&mut self) {
        self.ask(0, "initialize", json!({ "protocolVersion": "2025-11-25" })).await;
        self.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        self.ask(1, "tools/list", json!({})).await;
    }

    fn statuses(&self) -> Vec<Status> {
        let ids = self.ledger.recent(None, 100).unwrap();
        let mut all: Vec<_> =
            ids.iter().map(|id| self.ledger.receipt(id).unwrap().unwrap()).collect();
        all.sort_by_key(|receipt| receipt.seq);
        all.into_iter().map(|receipt| receipt.status).collect()
    }
}

#[test]
fn a_session_that_the_server_forgot_begins_anew() {
    test(async {
        let (server, session, heard) = forgetful().await;
        let mut desk = Desk::new(server);
        desk.began().await;
        let call = json!({ "name": "say", "arguments": {} });
        for (id, now, text) in [
            (5, "one", Some("one")),
            (6, "two", Some("two")),
            (7, "two", Some("two")),
            // It accepts no session: an error each time, and no success.
            (8, "closed", None),
            (9, "closed", None),
            (10, "one", Some("one")),
        ] {
            *session.lock().unwrap() = now;
            let reply = desk.ask(id, "tools/call", call.clone()).await;
            match text {
                Some(text) => assert_eq!(reply["result"]["content"][0]["text"], text, "{reply}"),
                None => assert_eq!(reply["error"]["code"], -32000, "{reply}"),
            }
        }
        let (good, bad) = (Status::Completed, Status::Failed);
        assert_eq!(desk.statuses(), [good, good, good, bad, bad, good]);
        // A new session begins with the client's original greeting.
        let heard = heard.lock().unwrap();
        let greetings = heard.iter().filter(|request| request.contains(r#""initialize""#));
        assert!(greetings.clone().all(|request| request.contains(r#""id":0"#)));
        let first = greetings.clone().filter(|request| !request.contains("mcp-session-id"));
        assert_eq!((greetings.count(), first.count()), (5, 5));
    });
}

#[test]
fn so_it_does_where_we_are_the_client() {
    test(async {
        let (server, session, _) = forgetful().await;
        let named = NamedServer {
            name: "a".to_owned(),
            server: server.clone(),
            limit: Duration::from_secs(10),
        };
        let mut desk = Desk::new(Server::Several(Servers::new(vec![named])));
        desk.began().await;
        let call = json!({ "name": "a__say", "arguments": {} });
        for (id, now) in [(5, "one"), (6, "two"), (7, "one")] {
            *session.lock().unwrap() = now;
            let reply = desk.ask(id, "tools/call", call.clone()).await;
            assert_eq!(reply["result"]["content"][0]["text"], now, "{reply}");
        }
        let options = ClientOptions::within(Duration::from_secs(10));
        let executor = McpExecutor::connect("a", server, options).await.unwrap();
        executor.close().await;
    });
}

/// A `ping` among the events of a server is no message, even if it looks like the answer.
#[test]
fn only_messages_of_a_stream_are_read() {
    test(async {
        let (url, _) = answering(|request| {
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            if head.starts_with("GET") || head.starts_with("DELETE") {
                return (405, "", String::new());
            }
            let message = json(body);
            let event = |text: &str| {
                let content = json!([{ "type": "text", "text": text }]);
                let result = json!({ "content": content, "protocolVersion": "2025-11-25",
                    "capabilities": {}, "tools": [{ "name": "say", "inputSchema": {} }] });
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
            };
            let stream = format!(
                "event: ping\ndata: {{\"now\":1}}\n\nevent: ping\ndata: {}\n\nevent: message\ndata: {}\n\n",
                event("all passed"),
                event("3 failed")
            );
            (200, "content-type: text/event-stream\r\n", stream)
        })
        .await;
        let remote = Remote::new(&url, [], Duration::from_secs(10)).unwrap();
        let mut desk = Desk::new(Server::Remote(remote));
        desk.began().await;
        let reply = desk.ask(5, "tools/call", json!({ "name": "say", "arguments": {} })).await;
        assert_eq!(reply["result"]["content"][0]["text"], "3 failed", "{reply}");
    });
}

/// A server whose answers to calls exceed the maximum size of a message.
const LOUD: &str = r#"
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"say"}]}}' ;;
    *'"word":"long"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
      head -c 68000000 /dev/zero | tr '\0' x
      echo '"}]}}' ;;
    *'"word":"late"'*)
      printf '{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"'
      head -c 68000000 /dev/zero | tr '\0' x
      echo '"}]},"id":'"$id"'}' ;;
    *'"word":"bytes"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":"\377"}}\n' "$id" ;;
    *'"word":"twice"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{},"result":{}}' ;;
    *'"word":"cut"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[' ;;
    *'"method":'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[],"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}' ;;
  esac
done
"#;

#[test]
fn an_answer_that_cannot_be_read_is_an_error_and_a_closed_receipt() {
    test(async {
        for several in [false, true] {
            let words = ["sh", "-c", LOUD].map(str::to_owned).to_vec();
            let server = Server::Command(Program { words, ..Program::default() });
            let limit = Duration::from_secs(20);
            let named = NamedServer { name: "a".to_owned(), server: server.clone(), limit };
            let (server, tool) = match several {
                true => (Server::Several(Servers::new(vec![named])), "a__say"),
                false => (server, "say"),
            };
            let mut desk = Desk::new(server);
            desk.began().await;
            for (id, word, why) in [
                (5, "long", Some("longer than 64 MiB")),
                (6, "late", Some("longer than 64 MiB")),
                (7, "bytes", Some("not UTF-8")),
                (8, "twice", Some("twice")),
                (9, "cut", Some("cannot be read")),
                (10, "fine", None),
            ] {
                let call = json!({ "name": tool, "arguments": { "word": word } });
                let reply = desk.ask(id, "tools/call", call).await;
                match why {
                    Some(why) => {
                        let error = reply["error"]["message"].as_str().unwrap();
                        assert!(error.contains(why), "{word}: {error}");
                    }
                    None => assert!(reply["result"]["content"].is_array(), "{reply}"),
                }
            }
            let (good, bad) = (Status::Completed, Status::Failed);
            assert_eq!(desk.statuses(), [bad, bad, bad, bad, bad, good], "{several}");
        }
    });
}

#[test]
fn a_result_with_the_status_of_an_error_is_no_success() {
    test(async {
        for (status, expected) in [(200, Status::Completed), (400, Status::Failed)] {
            let (url, _) = answering(move |request| {
                let (_, body) = request.split_once("\r\n\r\n").unwrap();
                let message = if body.is_empty() { Value::Null } else { json(body) };
                let (status, result) = match message["method"].as_str() {
                    Some("initialize") => (200, json!({ "protocolVersion": "2025-11-25" })),
                    Some("tools/list") => (200, json!({ "tools": [{ "name": "say" }] })),
                    Some("tools/call") => (status, json!({ "content": [] })),
                    _ => return (405, "", String::new()),
                };
                let response = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                (status, "", response.to_string())
            })
            .await;
            let remote = Remote::new(&url, [], Duration::from_secs(10)).unwrap();
            let mut desk = Desk::new(Server::Remote(remote));
            desk.began().await;
            let reply = desk.ask(2, "tools/call", json!({ "name": "say", "arguments": {} })).await;
            assert_eq!(reply["result"].is_object(), status == 200, "{reply}");
            assert_eq!(desk.statuses(), [expected]);
        }
    });
}
