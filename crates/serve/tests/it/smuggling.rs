//! A message stays a single message for every reader: no character between its tokens or in its
//! strings ends a line for a server or a client.

use std::path::Path;
use std::time::Duration;

use counterfoil_guard::{Guard, GuardOptions, GuardSettings, SessionStart};
use counterfoil_serve::{
    Access, Gateway, NamedServer, Program, Remote, Server, Servers, Step, relay, relay_to,
};
use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use hyper::Method;
use tokio::process::Command;

use crate::http::{ALONE, Desk};
use crate::{gateway, json, test, wait};

/// Logs each line, and answers with line breaks of its own between tokens.
const SERVER: &str = r#"
while IFS= read -r line; do
  printf '%s\n' "$line" >> heard
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0",\r"id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,\r"result":{"tools":[{"name":"say"},{"name":"delete_all"}]}}\n' "$id" ;;
    *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":\r{"content":[{"type":"text","text":"\342\200\250\302\205\177"}]}}\n' "$id" ;;
  esac
done
"#;

/// All characters that end a line for some reader, and every other control character.
fn breaking() -> Vec<char> {
    let controls = (0..0x20).filter_map(char::from_u32).filter(|c| *c != '\t');
    controls.chain(['\u{7f}', '\u{85}', '\u{2028}', '\u{2029}']).collect()
}

/// A call of an allowed tool that contains a call of a denied tool, with an additional character at
/// each place between its tokens in turn, and at all of them.
fn messages(tool: &str, meta: &str, denied: &str) -> Vec<String> {
    let inner = format!(
        r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{"name":"{denied}","arguments":{{}}}}}}"#
    );
    let call = format!(
        r#"{{ "jsonrpc" : "2.0" , "id" : ID , "method" : "tools/call" , "params" : {{ "name" : "{tool}" , "arguments" : {{ "note" : {inner} }} , "_meta" : {{ {meta}"x" : {inner} }} }} }}"#
    );
    let note = format!(
        r#"{{ "jsonrpc" : "2.0" , "method" : "notifications/roots/list_changed" , "params" : {{ {meta}"x" : {inner} }} }}"#
    );
    let mut all = Vec::new();
    for message in [call, note] {
        let tokens: Vec<&str> = message.split(' ').collect();
        for c in breaking() {
            for at in 0..=tokens.len() {
                let between = |(place, token): (usize, &&str)| match place == at || at == 0 {
                    true => format!("{c}{token}"),
                    false => (*token).to_owned(),
                };
                let text: String = tokens.iter().enumerate().map(between).collect();
                all.push(text.replace("ID", &(1000 + all.len()).to_string()));
            }
        }
    }
    all
}

fn settings() -> GuardSettings {
    let policy = r#"{"tools":{"permissions":{"rules":[{"tool":"*delete_all","action":"deny"}]}}}"#;
    serde_json::from_str::<GuardOptions>(policy).unwrap().resolve().unwrap()
}

fn program(folder: &Path) -> Program {
    std::fs::write(folder.join("server.sh"), SERVER).unwrap();
    Program {
        words: vec!["sh".to_owned(), "server.sh".to_owned()],
        folder: Some(folder.to_owned()),
        ..Program::default()
    }
}

/// Checks that the server received only calls of the allowed tool, whatever ends its lines.
#[track_caller]
fn check_heard(folder: &Path, way: &str) {
    let heard = std::fs::read_to_string(folder.join("heard")).unwrap();
    let mut calls = 0;
    for line in heard.lines() {
        assert!(!line.contains(breaking().as_slice()), "{way}: {line:?}");
        let message = json(line);
        assert_ne!(message["id"], 77, "{way}: {line}");
        let named = message["params"]["name"].as_str().unwrap_or("say");
        assert_eq!(named, "say", "{way}: {line}");
        calls += usize::from(message["method"] == "tools/call");
    }
    assert!(calls > 10, "{way}: {calls} calls");
}

/// Checks that a client over streams received one message per line.
#[track_caller]
fn check_output(output: &[u8], way: &str) {
    let text = std::str::from_utf8(output).unwrap();
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    assert!(lines.len() > 30, "{way}");
    for line in lines {
        assert!(!line.contains(breaking().as_slice()), "{way}: {line:?}");
        assert!(json(line).is_object(), "{way}: {line}");
    }
}

const BEGIN: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
];

#[test]
fn through_the_gateway_itself() {
    let gateway = gateway(settings());
    let mut forwarded = 0;
    for message in messages("say", "", "delete_all") {
        for step in wait(gateway.from_client(&message)) {
            let (Step::Forward(text) | Step::Answer(text)) = &step;
            assert!(!text.contains(breaking().as_slice()), "{text:?}");
            forwarded += usize::from(matches!(step, Step::Forward(_)));
        }
        // The same text from a server, as an answer and as a notification.
        let answer = message.replace("tools/call", "notifications/message");
        for text in [
            answer.replace(r#""method":"#, r#""x":"#).replace(r#""params":"#, r#""result":"#),
            answer,
        ] {
            let reply = wait(gateway.from_server(&text)).unwrap_or_default();
            assert!(!reply.contains(breaking().as_slice()), "{reply:?}");
        }
    }
    assert!(forwarded > 60, "{forwarded}");
}

#[test]
fn over_streams() {
    test(async {
        for way in ["relay", "command", "several", "bridge", "remote"] {
            let folder = tempfile::tempdir().unwrap();
            let program = program(folder.path());
            let named = |server: Server| {
                let limit = Duration::from_secs(10);
                Servers::new(vec![NamedServer { name: "a".to_owned(), server, limit }])
            };
            let tool = if way == "several" { "a__say" } else { "say" };
            let mut input = BEGIN.join("\n");
            // A client over streams ends its lines itself.
            let all = messages(tool, "", "delete_all").into_iter();
            all.filter(|message| !message.contains('\n')).for_each(|message| {
                input.push('\n');
                input.push_str(&message);
            });
            input.push('\n');
            let guard = Guard::builder().settings(settings()).build().unwrap();
            let gateway = Gateway::new(guard, SessionStart::default(), "words").unwrap();
            let mut output = Vec::new();
            let streams = (input.as_bytes(), &mut output);
            let stop = std::future::pending();
            let server = match way {
                "relay" => {
                    let mut command = Command::new("sh");
                    command.arg("server.sh").current_dir(folder.path());
                    relay(&gateway, command, streams, stop).await.unwrap();
                    None
                }
                "command" => Some(Server::Command(program)),
                "several" => Some(Server::Several(named(Server::Command(program)))),
                "bridge" => Some(Server::Bridged(named(Server::Command(program)))),
                _ => {
                    let upstream = desk(Server::Command(program)).await;
                    let url = format!("http://{}/mcp", upstream.address);
                    Some(Server::Remote(Remote::new(&url, [], Duration::from_secs(10)).unwrap()))
                }
            };
            if let Some(server) = server {
                let stop = std::future::pending();
                relay_to(&server, gateway, (input.as_bytes(), &mut output), stop).await.unwrap();
            }
            check_heard(folder.path(), way);
            check_output(&output, way);
        }
    });
}

async fn desk(server: Server) -> Desk {
    let folder = tempfile::tempdir().unwrap();
    Desk::before(server, settings(), Access::default(), folder).await
}

#[test]
fn over_http() {
    let meta = r#""io.modelcontextprotocol/protocolVersion" : "2026-07-28" , "io.modelcontextprotocol/clientCapabilities" : {} , "#;
    test(async move {
        for (way, meta) in [("session", ""), ("alone", meta)] {
            let folder = tempfile::tempdir().unwrap();
            let desk = desk(Server::Command(program(folder.path()))).await;
            let session = match way {
                "session" => {
                    let session = desk.post(&[], BEGIN[0]).await.session.unwrap();
                    let headers = [("mcp-session-id", session.as_str())];
                    desk.post(&headers, BEGIN[1]).await;
                    desk.post(&headers, BEGIN[2]).await;
                    session
                }
                _ => String::new(),
            };
            // Every fifth message covers every character and every place.
            let some = messages("say", meta, "delete_all").into_iter().step_by(5);
            let posts = some.map(|message| {
                let (desk, session) = (&desk, session.as_str());
                async move {
                    let headers: Vec<(&str, &str)> = match way {
                        "session" => vec![("mcp-session-id", session)],
                        _ => ALONE.to_vec(),
                    };
                    let response = desk.ask(Method::POST, "/mcp", &headers, &message).await;
                    response.into_body().collect().await.unwrap().to_bytes()
                }
            });
            let mut bodies = futures_util::stream::iter(posts).buffer_unordered(32);
            while let Some(body) = bodies.next().await {
                let text = std::str::from_utf8(&body).unwrap();
                assert!(!text.contains(breaking().as_slice()), "{way}: {text:?}");
            }
            check_heard(folder.path(), way);
        }
    });
}
