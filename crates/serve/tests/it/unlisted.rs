//! A client over streams that calls a tool before it lists any: on every way to a server the
//! gateway lists the tools itself, and checks the call against them.

use std::path::Path;
use std::time::Duration;

use counterfoil_guard::{Guard, SessionStart};
use counterfoil_serve::{
    Access, Gateway, NamedServer, Program, Remote, Server, Servers, relay, relay_to,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::process::Command;

use crate::http::Desk;
use crate::{json, test};

/// A server with one tool on two pages, that notes each call.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([^,}]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'"cursor":"two"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"say","inputSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}]}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[],"nextCursor":"two"}}' ;;
    *'"tools/call"'*) printf '%s\n' "$line" >> called
      echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"said"}]}}' ;;
  esac
done
"#;

const BEGIN: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

fn call(id: u32, tool: &str, member: &str) -> String {
    let params = json!({ "name": tool, "arguments": { member: "moon" } });
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    format!("{message}\n")
}

/// What a client receives until all its calls are answered; then it leaves.
async fn conversation(client: DuplexStream, input: &str) -> String {
    let (read, mut write) = tokio::io::split(client);
    write.write_all(input.as_bytes()).await.unwrap();
    let (mut lines, mut output) = (BufReader::new(read).lines(), String::new());
    let mut open = 4;
    while open > 0 {
        let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("only {output}"));
        open -= usize::from(json(&line)["id"].is_number());
        output.push_str(&line);
        output.push('\n');
    }
    output
}

fn check(folder: &Path, output: &str, way: &str) {
    let answer = |id: u32| {
        let answers = output.lines().map(json);
        let mut answers = answers.filter(|message| message["id"] == id);
        answers.next().unwrap_or_else(|| panic!("{way}: no answer to {id}: {output}"))
    };
    assert_eq!(answer(1)["result"]["isError"], true, "{way}: {output}");
    assert_eq!(answer(2)["error"]["code"], -32602, "{way}: {output}");
    assert_eq!(answer(3)["result"]["content"][0]["text"], "said", "{way}: {output}");
    assert!(!output.contains("counterfoil-tools"), "{way}: {output}");
    let called = std::fs::read_to_string(folder.join("called")).unwrap();
    assert_eq!(called.lines().count(), 1, "{way}: {called}");
}

#[test]
fn a_call_over_streams_is_checked_although_its_client_listed_nothing() {
    test(async {
        for way in ["relay", "command", "several", "bridge", "remote"] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("server.sh"), SERVER).unwrap();
            let program = Program {
                words: vec!["sh".to_owned(), "server.sh".to_owned()],
                folder: Some(folder.path().to_owned()),
                ..Program::default()
            };
            let named = |server: Server| {
                let limit = Duration::from_secs(10);
                Servers::new(vec![NamedServer { name: "a".to_owned(), server, limit }])
            };
            let (say, odd) = match way {
                "several" => ("a__say", "a__sya"),
                _ => ("say", "sya"),
            };
            let calls = [call(1, say, "wrod"), call(2, odd, "word"), call(3, say, "word")];
            let input = format!("{BEGIN}{}", calls.concat());
            let guard = Guard::builder().build().unwrap();
            let gateway = Gateway::new(guard, SessionStart::default(), "words").unwrap();
            let (client, server_end) = tokio::io::duplex(64 * 1024);
            let streams = tokio::io::split(server_end);
            let client = tokio::spawn(async move { conversation(client, &input).await });
            let stop = std::future::pending();
            let server = match way {
                "relay" => {
                    let mut command = Command::new("sh");
                    command.arg("server.sh").current_dir(folder.path());
                    relay(&gateway, command, streams, stop).await.unwrap();
                    check(folder.path(), &client.await.unwrap(), way);
                    continue;
                }
                "command" => Server::Command(program),
                "several" => Server::Several(named(Server::Command(program))),
                "bridge" => Server::Bridged(named(Server::Command(program))),
                _ => {
                    let inner = tempfile::tempdir().unwrap();
                    let settings = counterfoil_guard::GuardSettings::default();
                    let server = Server::Command(program);
                    let desk = Desk::before(server, settings, Access::default(), inner).await;
                    let url = format!("http://{}/mcp", desk.address);
                    Server::Remote(Remote::new(&url, [], Duration::from_secs(10)).unwrap())
                }
            };
            relay_to(&server, gateway, streams, stop).await.unwrap();
            check(folder.path(), &client.await.unwrap(), way);
        }
    });
}

#[test]
fn a_client_never_sees_what_the_gateway_requested_from_a_server_that_died() {
    test(async {
        let folder = tempfile::tempdir().unwrap();
        let dies =
            SERVER.replace(r#"*'"cursor":"two"'*) echo"#, r#"*'"cursor":"two"'*) exit; echo"#);
        std::fs::write(folder.path().join("server.sh"), dies).unwrap();
        let guard = Guard::builder().build().unwrap();
        let gateway = Gateway::new(guard, SessionStart::default(), "words").unwrap();
        let (client, server_end) = tokio::io::duplex(64 * 1024);
        let mut command = Command::new("sh");
        command.arg("server.sh").current_dir(folder.path());
        let (read, mut write) = tokio::io::split(client);
        let input = format!("{BEGIN}{}", call(1, "say", "word"));
        write.write_all(input.as_bytes()).await.unwrap();
        let streams = tokio::io::split(server_end);
        relay(&gateway, command, streams, std::future::pending()).await.unwrap();
        let (mut lines, mut ids) = (BufReader::new(read).lines(), Vec::new());
        while let Some(line) = lines.next_line().await.unwrap() {
            ids.push(json(&line)["id"].clone());
        }
        assert!(!ids.is_empty() && ids.iter().all(serde_json::Value::is_number), "{ids:?}");
    });
}
