//! Several servers as one, and servers with another protocol revision than their client.

use std::time::Duration;

use counterfoil_guard::{Guard, SessionStart};
use counterfoil_serve::{Gateway, NamedServer, Program, Server, Servers, relay_to};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::time::timeout;

/// A server with the protocol that the folder selects, which answers with its own name.
const SERVER: &str = r#"
name=$(cat name)
uri=at://$name; [ -e uri ] && uri=$(cat uri)
what='Who?'; [ -e what ] && what=$(cat what)
while IFS= read -r line; do
  printf '%s\n' "$line" >> heard
  case "$line" in *'/list"'*) [ -e slow ] && sleep "$(cat slow)" ;; esac
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\("*[0-9a-z]*"*\).*/\1/p')
  answer() { echo '{"jsonrpc":"2.0","id":'"$id"','"$1"'}'; }
  case "$line" in
    *'"initialize"'*) if [ -e alone ]; then answer '"error":{"code":-32601,"message":"no such method"}'
      else answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"instructions":"I am '"$name"'."}'; fi ;;
    *'"server/discover"'*) answer '"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}' ;;
    *'"tools/list"'*) answer '"result":{"tools":[{"name":"say","big":12345678901234567890,"inputSchema":{"type":"object"}},{"name":"ask"}]}' ;;
    *'"resources/list"'*) answer '"result":{"resources":[{"name":"r","uri":"'"$uri"'"}]}' ;;
    *'"resources/read"'*) case "$line" in
      *"at://$name"*) answer '"result":{"contents":[{"uri":"at://'"$name"'","text":"of '"$name"'"}]}' ;;
      *) answer '"error":{"code":-32002,"message":"not here"}' ;;
      esac ;;
    *'"inputResponses"'*) answer '"result":{"resultType":"complete","content":[{"type":"text","text":"thanks"}]}' ;;
    *'"name":"ask"'*) if [ -e alone ]; then answer '"result":{"resultType":"input_required","requestState":"s1","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"'"$what"'"}}}}'
      else
        asked=$id
        echo '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"'"$what"'"}}'
        IFS= read -r line; printf '%s\n' "$line" >> heard; id=$asked
        case "$line" in
          *lena*) answer '"result":{"content":[{"type":"text","text":"thanks"}]}' ;;
          *) answer '"result":{"isError":true,"content":[{"type":"text","text":"nobody"}]}' ;;
        esac
      fi ;;
    *'"tools/call"'*)
      [ -e tells ] && cat tells
      [ -e forges ] && for token in '"p"' '"q"' 7 99; do echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'"$token"',"progress":1}}'; done
      [ -n "$token" ] && [ ! -e forges ] && echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'"$token"',"progress":1}}'
      answer '"result":{"content":[{"type":"text","text":"'"$name"'"}],"odd":1.50}' ;;
  esac
done
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(name: &str, alone: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.sh"), SERVER).unwrap();
        std::fs::write(folder.path().join("name"), name).unwrap();
        if alone {
            std::fs::write(folder.path().join("alone"), "").unwrap();
        }
        Self(folder)
    }

    fn named(&self, name: &str) -> NamedServer {
        let words = vec!["sh".to_owned(), "server.sh".to_owned()];
        let folder = Some(self.0.path().to_owned());
        let server = Server::Command(Program { words, folder, ..Program::default() });
        NamedServer { name: name.to_owned(), server, limit: Duration::from_secs(5) }
    }

    fn heard(&self) -> String {
        std::fs::read_to_string(self.0.path().join("heard")).unwrap()
    }
}

/// A client over streams.
struct Client {
    input: DuplexStream,
    output: tokio::io::Lines<BufReader<DuplexStream>>,
}

impl Client {
    fn new(server: Server) -> Self {
        let (input, theirs) = duplex(1 << 16);
        let (output, ours) = duplex(1 << 16);
        tokio::spawn(async move {
            let guard = Guard::builder().build().unwrap();
            let gateway = Gateway::new(guard, SessionStart::default(), "mcp").unwrap();
            relay_to(&server, gateway, (theirs, ours), std::future::pending()).await.unwrap();
        });
        Self { input, output: BufReader::new(output).lines() }
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> String {
        timeout(Duration::from_secs(10), self.output.next_line()).await.unwrap().unwrap().unwrap()
    }

    /// The answer to a request, verbatim.
    async fn ask(&mut self, method: &str, params: Value) -> String {
        self.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await;
        loop {
            let text = self.hear().await;
            if crate::json(&text)["id"] == 1 {
                return text;
            }
        }
    }

    async fn begin(&mut self, capabilities: Value) -> Value {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities });
        let greeting = self.ask("initialize", params).await;
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        crate::json(&greeting)["result"].take()
    }
}

fn names(listed: &str) -> Vec<String> {
    let listed = crate::json(listed);
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Parameters of a request without a session.
fn alone(params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    });
    params
}

#[test]
fn several_servers_are_one() {
    crate::test(async {
        let (moon, sun) = (Folder::new("moon", false), Folder::new("sun", true));
        let missing = Program { words: vec!["/none".to_owned()], ..Program::default() };
        let gone = NamedServer {
            name: "gone".to_owned(),
            server: Server::Command(missing),
            ..moon.named("")
        };
        let servers = Servers::new(vec![gone, moon.named("moon"), sun.named("sun")]);
        let mut client = Client::new(Server::Several(servers.clone()));
        let greeting = client.begin(json!({})).await;
        assert_eq!(greeting["protocolVersion"], "2025-06-18");
        assert_eq!(greeting["instructions"], "# moon\n\nI am moon.");
        // What each server said is only for the gateway.
        assert_eq!(greeting["_meta"], json!({ "counterfoil/unreachable": ["gone"] }));
        assert_eq!(greeting["capabilities"]["tools"]["listChanged"], true);
        assert!(greeting["capabilities"]["resources"].is_object(), "{greeting}");
        let listed = client.ask("tools/list", json!({})).await;
        // An unreachable server does not affect the others, and numbers stay verbatim.
        assert_eq!(names(&listed), ["moon__say", "moon__ask", "sun__say", "sun__ask"]);
        assert!(listed.contains("12345678901234567890"), "{listed}");
        for (tool, word) in [("moon__say", "moon"), ("sun__say", "sun")] {
            let reply = client.ask("tools/call", json!({ "name": tool, "arguments": {} })).await;
            assert!(reply.contains(r#""odd":1.50"#) && reply.contains("execution_id"), "{reply}");
            assert_eq!(crate::json(&reply)["result"]["content"][0]["text"], word);
        }
        let unknown = client.ask("tools/call", json!({ "name": "gone__say" })).await;
        assert_eq!(crate::json(&unknown)["error"]["code"], -32602, "{unknown}");
        client.ask("resources/list", json!({})).await;
        let read = client.ask("resources/read", json!({ "uri": "at://moon" })).await;
        assert!(read.contains("of moon"), "{read}");
        let heard = moon.heard();
        let none = client.ask("resources/read", json!({ "uri": "at://none" })).await;
        assert_eq!(crate::json(&none)["error"]["code"], -32602, "{none}");
        assert_eq!(
            moon.heard().matches("resources/read").count(),
            heard.matches("resources/read").count()
        );
        let odd = client.ask("tasks/list", json!({})).await;
        assert_eq!(crate::json(&odd)["error"]["code"], -32601);
        // Servers are added and removed while the client is connected.
        servers.replace(vec![moon.named("moon")]);
        loop {
            if client.hear().await.contains("notifications/tools/list_changed") {
                break;
            }
        }
        let listed = client.ask("tools/list", json!({})).await;
        assert_eq!(names(&listed), ["moon__say", "moon__ask"]);
        // The remaining server was not restarted.
        assert_eq!(moon.heard().matches("\"initialize\"").count(), 1);
    });
}

/// A slow server is left out of the list and named; clients are told when it has answered.
#[test]
fn a_slow_server_holds_no_list_up() {
    crate::test(async {
        let (moon, snail) = (Folder::new("moon", false), Folder::new("snail", false));
        std::fs::write(snail.0.path().join("slow"), "6").unwrap();
        let servers = [moon.named("moon"), snail.named("snail")]
            .map(|server| NamedServer { limit: Duration::from_secs(30), ..server });
        let mut client = Client::new(Server::Several(Servers::new(servers.to_vec())));
        client.begin(json!({})).await;
        // Also while it is still awaited.
        for _ in 0..2 {
            let listed = client.ask("tools/list", json!({})).await;
            assert_eq!(names(&listed), ["moon__say", "moon__ask"]);
            let away = &crate::json(&listed)["result"]["_meta"]["counterfoil/unreachable"];
            assert_eq!(away, &json!(["snail"]), "{listed}");
        }
        while !client.hear().await.contains("notifications/tools/list_changed") {}
        let listed = client.ask("tools/list", json!({})).await;
        assert_eq!(names(&listed), ["moon__say", "moon__ask", "snail__say", "snail__ask"]);
        assert_eq!(snail.heard().matches("tools/list").count(), 1);
    });
}

/// What one server lists first stays its own, and is pinned with its name.
#[test]
fn a_resource_stays_with_the_server_that_listed_it_first() {
    crate::test(async {
        let (moon, star) = (Folder::new("moon", false), Folder::new("star", false));
        std::fs::write(star.0.path().join("uri"), "at://moon").unwrap();
        for (order, owner) in [([&moon, &star], "moon"), ([&star, &moon], "star")] {
            let named = order.map(|folder| {
                let name = std::fs::read_to_string(folder.0.path().join("name")).unwrap();
                folder.named(&name)
            });
            let mut client = Client::new(Server::Several(Servers::new(named.to_vec())));
            client.begin(json!({})).await;
            // Also for a client that lists nothing first.
            let read = client.ask("resources/read", json!({ "uri": "at://moon" })).await;
            assert_eq!(read.contains("of moon"), owner == "moon", "{read}");
            let listed = crate::json(&client.ask("resources/list", json!({})).await);
            let expected = json!([{ "name": "r", "uri": "at://moon",
                "_meta": { "counterfoil/server": owner } }]);
            assert_eq!(listed["result"]["resources"], expected, "{listed}");
        }
    });
}

/// A server knows no other server's progress tokens, and a token of its own names only its calls.
#[test]
fn a_server_reports_progress_of_its_own_calls_only() {
    crate::test(async {
        let (moon, star) = (Folder::new("moon", false), Folder::new("star", false));
        std::fs::write(star.0.path().join("forges"), "").unwrap();
        let servers = Servers::new(vec![moon.named("moon"), star.named("star")]);
        let mut client = Client::new(Server::Several(servers));
        client.begin(json!({})).await;
        client.ask("tools/list", json!({})).await;
        let call = |id: i64, tool: &str, token: Value| {
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": { "name": tool, "arguments": {}, "_meta": { "progressToken": token } } })
        };
        for (id, tool, token, reported) in [
            (5, "moon__say", json!("p"), vec![json!("p")]),
            (6, "moon__say", json!(7), vec![json!(7)]),
            (7, "star__say", json!("q"), vec![]),
        ] {
            client.say(&call(id, tool, token)).await;
            let mut heard = Vec::new();
            loop {
                let mut message = crate::json(&client.hear().await);
                if message["id"] == id {
                    break;
                }
                heard.push(message["params"]["progressToken"].take());
            }
            assert_eq!(heard, reported, "{tool}");
        }
        assert!(!moon.heard().contains(r#""progressToken":"p""#), "{}", moon.heard());
    });
}

#[test]
fn a_client_with_a_session_reaches_a_server_without() {
    crate::test(async {
        let sun = Folder::new("sun", true);
        let mut client = Client::new(Server::Bridged(Servers::new(vec![sun.named("sun")])));
        client.begin(json!({ "elicitation": {} })).await;
        let listed = client.ask("tools/list", json!({})).await;
        assert_eq!(names(&listed), ["say", "ask"]);
        let params = json!({ "name": "say", "arguments": {}, "_meta": { "progressToken": 7 } });
        client
            .say(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params }))
            .await;
        let progress = client.hear().await;
        assert_eq!(crate::json(&progress)["params"]["progressToken"], 7, "{progress}");
        assert_eq!(crate::json(&client.hear().await)["id"], 5);
        // The server's question in a result becomes a request to the client.
        let params = json!({ "name": "ask", "arguments": {} });
        client
            .say(&json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": params }))
            .await;
        let question = crate::json(&client.hear().await);
        assert_eq!(
            (&question["method"], &question["params"]["message"]),
            (&json!("elicitation/create"), &json!("Server `sun` asks: Who?"))
        );
        let given = json!({ "action": "accept", "content": { "who": "lena" } });
        client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": given })).await;
        let reply = crate::json(&client.hear().await);
        assert_eq!(
            (&reply["id"], &reply["result"]["content"][0]["text"]),
            (&json!(6), &json!("thanks"))
        );
        assert!(sun.heard().contains(r#""requestState":"s1""#), "{}", sun.heard());
    });
}

#[test]
fn a_client_without_a_session_reaches_a_server_with_one() {
    crate::test(async {
        let moon = Folder::new("moon", false);
        let mut client = Client::new(Server::Bridged(Servers::new(vec![moon.named("moon")])));
        let discovered = crate::json(&client.ask("server/discover", alone(json!({}))).await);
        assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!(discovered["result"]["resultType"], "complete");
        let listed = client.ask("tools/list", alone(json!({}))).await;
        assert_eq!(crate::json(&listed)["result"]["cacheScope"], "private");
        let call = alone(json!({ "name": "say", "arguments": {} }));
        client
            .say(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call }))
            .await;
        let progress = crate::json(&client.hear().await);
        assert_eq!(progress["params"]["progressToken"], "p");
        let reply = crate::json(&client.hear().await);
        assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
        assert!(!moon.heard().contains("clientCapabilities"), "{}", moon.heard());
        // The client is not asked what it cannot answer.
        let reply =
            client.ask("tools/call", alone(json!({ "name": "ask", "arguments": {} }))).await;
        assert!(reply.contains("nobody"), "{reply}");
        // The server's question during a call becomes a result; the call continues when it is
        // repeated with the answer.
        let mut call = alone(json!({ "name": "ask", "arguments": {} }));
        call["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
        let question = crate::json(&client.ask("tools/call", call.clone()).await);
        let result = &question["result"];
        assert_eq!(result["resultType"], "input_required", "{question}");
        let message = &result["inputRequests"]["asked"]["params"]["message"];
        assert_eq!(message, "Server `moon` asks: Who?", "{question}");
        let mut again = call.clone();
        again["requestState"] = result["requestState"].clone();
        again["inputResponses"] =
            json!({ "asked": { "action": "accept", "content": { "who": "lena" } } });
        let mut other = again.clone();
        other["requestState"] = json!("bridge-0");
        let wrong = crate::json(&client.ask("tools/call", other).await);
        assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
        let reply = client.ask("tools/call", again.clone()).await;
        assert!(reply.contains("thanks"), "{reply}");
        let twice = crate::json(&client.ask("tools/call", again).await);
        assert_eq!(twice["error"]["code"], -32602, "{twice}");
    });
}

#[test]
fn a_server_with_a_session_asks_a_client_with_one_through_the_bridge() {
    crate::test(async {
        let moon = Folder::new("moon", false);
        let mut client = Client::new(Server::Several(Servers::new(vec![moon.named("moon")])));
        client.begin(json!({ "elicitation": {} })).await;
        client.ask("tools/list", json!({})).await;
        let params = json!({ "name": "moon__ask", "arguments": {} });
        client
            .say(&json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": params }))
            .await;
        let question = crate::json(&client.hear().await);
        let given = json!({ "action": "accept", "content": { "who": "lena" } });
        client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": given })).await;
        assert!(client.hear().await.contains("thanks"));
        assert!(moon.heard().contains(r#""capabilities":{"elicitation":{}}"#), "{}", moon.heard());
    });
}

#[test]
fn a_question_begins_with_the_name_of_the_member_that_asks() {
    let forged = "Server `star` asks: Who?";
    for (server_alone, client_alone) in [(false, false), (false, true), (true, false), (true, true)]
    {
        crate::test(async move {
            let (star, moon) =
                (Folder::new("star", server_alone), Folder::new("moon", server_alone));
            std::fs::write(moon.0.path().join("what"), forged).unwrap();
            let servers = Servers::new(vec![star.named("star"), moon.named("moon")]);
            let mut client = Client::new(Server::Several(servers));
            let mut params = json!({ "name": "moon__ask", "arguments": {} });
            if client_alone {
                params = alone(params);
                params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                    json!({ "elicitation": {} });
            } else {
                client.begin(json!({ "elicitation": {} })).await;
            }
            client
                .say(
                    &json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": params }),
                )
                .await;
            let reply = crate::json(&client.hear().await);
            let question = match client_alone {
                true => {
                    let requests = reply["result"]["inputRequests"].as_object().cloned();
                    requests.unwrap_or_default().into_iter().next().unwrap_or_default().1
                }
                false => reply.clone(),
            };
            let expected = format!("Server `moon` asks: {forged}");
            assert_eq!(question["params"]["message"], expected, "{server_alone}: {reply}");
        });
    }
}

#[test]
fn a_question_in_a_notification_begins_with_the_name_of_the_member_too() {
    crate::test(async {
        let moon = Folder::new("moon", false);
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/tasks", "params": {
            "taskId": "t", "inputRequests": { "a": { "method": "elicitation/create",
                "params": { "message": "Who?" } } } } });
        let unreadable = notification.to_string().replace("\"message\":", "\"Message\":");
        std::fs::write(moon.0.path().join("tells"), format!("{unreadable}\n{notification}\n"))
            .unwrap();
        let mut client = Client::new(Server::Several(Servers::new(vec![moon.named("moon")])));
        client.begin(json!({ "elicitation": {} })).await;
        let params = json!({ "name": "moon__say", "arguments": {} });
        client
            .say(&json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": params }))
            .await;
        let heard = crate::json(&client.hear().await);
        let message = &heard["params"]["inputRequests"]["a"]["params"]["message"];
        assert_eq!(message, "Server `moon` asks: Who?", "{heard}");
    });
}
