//! The model that judges calls, behind a scripted local server. TLS is not tested here, because no
//! test machine trusts a certificate that a test could have.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::Desk;

/// Serves the next request with these bytes; the receiver gets the request.
pub(crate) fn serve(answer: String) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, question) = channel();
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        // Read until the body has the announced length.
        while !is_whole(&request) {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(count) => request.extend_from_slice(&piece[..count]),
            }
        }
        let _ = sender.send(String::from_utf8_lossy(&request).into_owned());
        let _ = stream.write_all(answer.as_bytes());
    });
    (port, question)
}

pub(crate) fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.to_lowercase().lines().find_map(|line| {
        line.strip_prefix("content-length: ").map(|length| length.trim().parse::<usize>().unwrap())
    });
    body.len() >= length.unwrap_or(0)
}

pub(crate) fn http(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

pub(crate) fn completion(word: &str) -> String {
    let body = json!({ "choices": [{ "message": { "role": "assistant", "content": word } }] });
    http("200 OK", &body.to_string())
}

fn desk(port: u16, more: &str) -> Desk {
    let text = format!(
        "[tools.adversarial_policy]\nenabled = true\npolicies = [\"Nothing is deleted.\"]\n\
         url = \"http://127.0.0.1:{port}/v1/\"\nmodel = \"small\"\n{more}\n"
    );
    Desk::with(&[("counterfoil.toml", &text)])
}

fn run(desk: &Desk) -> (i32, Value) {
    let words = ["run", "shell", "--yes", "--json", "--args", r#"{"command":"echo 'a`b'"}"#];
    let variables = [("COUNTERFOIL_STATE", "state"), ("JUDGE_KEY", "key-of-the-judge")];
    let ran = desk.spawn(&variables, &words, "");
    let value = serde_json::from_str(&ran.out).map_err(|_| ran.to_string()).unwrap();
    (ran.code, value)
}

#[test]
fn only_an_answer_of_the_model_lets_a_call_through() {
    let long = completion(&"x".repeat(300_000));
    let cases = [
        (completion("ALLOW"), "completed"),
        (completion("DENY"), "denied"),
        (completion("ALLOW, of course"), "denied"),
        (http("500 Internal Server Error", "ALLOW"), "denied"),
        (http("302 Found\r\nlocation: http://127.0.0.1:1/", ""), "denied"),
        (http("200 OK", "ALLOW"), "denied"),
        (http("200 OK", r#"{"choices":[]}"#), "denied"),
        (long, "denied"),
        (String::new(), "denied"),
    ];
    for (answer, status) in cases {
        let shown: String = answer.chars().take(120).collect();
        let (port, question) = serve(answer);
        let (_, found) = run(&desk(port, "api_key_env = \"JUDGE_KEY\""));
        assert_eq!(found["status"], status, "{shown}: {found}");
        let request = question.recv().unwrap();
        assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
        assert!(request.contains("authorization: Bearer key-of-the-judge\r\n"), "{request}");
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["model"], "small");
        let content = body["messages"][0]["content"].as_str().unwrap();
        assert!(content.contains("1. Nothing is deleted.") && content.contains("a\\u0060b"));
    }
}

#[test]
fn no_one_to_ask_is_a_denial_unless_the_operator_wants_it_open() {
    // A port on which nothing listens any more.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for (more, status) in [("", "denied"), ("fail_open = true", "completed")] {
        assert_eq!(run(&desk(port, more)).1["status"], status, "{more}");
    }
}

#[test]
fn a_judge_that_cannot_be_asked_is_refused_at_the_start() {
    for (more, complaint) in [
        ("url = \"http://judge.example.com/v1\"", "uses plain HTTP and is not on this machine"),
        ("url = \"ftp://127.0.0.1/\"", "is neither http nor https"),
        ("url = \"judge\"", "is not a URL"),
        ("url = \"http://127.0.0.1:1/\"", "`tools.adversarial_policy` has no `model`"),
        (
            "url = \"http://127.0.0.1:1/\"\nmodel = \"m\"\napi_key_env = \"NO_SUCH_KEY\"",
            "the environment variable `NO_SUCH_KEY` is not set",
        ),
    ] {
        let text =
            format!("[tools.adversarial_policy]\nenabled = true\npolicies = [\"x\"]\n{more}\n");
        let desk = Desk::with(&[("counterfoil.toml", &text)]);
        let words = ["run", "shell", "--yes", "--args", r#"{"command":"true"}"#];
        let ran = desk.spawn(&[("COUNTERFOIL_STATE", "state")], &words, "");
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains(complaint), "{ran}");
    }
}

/// The rehearsal reports that the model would be asked, but does not ask it.
#[test]
fn policy_explain_asks_no_one() {
    let (port, question) = serve(completion("DENY"));
    let desk = desk(port, "");
    let words = ["policy", "explain", "--tool", "shell", "--args", r#"{"command":"ls"}"#];
    let ran = desk.spawn(&[], &words, "");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("by `tools.adversarial_policy: the model is asked`"), "{ran}");
    assert!(question.try_recv().is_err());
}

/// An agent's calls are judged by the model as well; if it does not answer in time, none passes.
#[test]
fn a_hook_asks_the_model() {
    let event = |desk: &Desk| {
        let event = json!({
            // Messages shown once per session are remembered beyond this test.
            "session_id": desk.path(), "cwd": desk.path(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t1",
        });
        let variables = [("COUNTERFOIL_STATE", "state"), ("JUDGE_KEY", "key-of-the-judge")];
        let ran = desk.spawn(&variables, &["hook", "claude-code"], &event.to_string());
        assert_eq!(ran.code, 0, "{ran}");
        serde_json::from_str(&ran.out).unwrap_or(Value::Null)
    };
    let denial = |answer: &Value| {
        let specific = &answer["hookSpecificOutput"];
        let reason = specific["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
        (specific["permissionDecision"] == "deny").then_some(reason)
    };
    let (port, question) = serve(completion("ALLOW"));
    assert_eq!(event(&desk(port, "")), Value::Null);
    assert!(question.recv().unwrap().contains("Nothing is deleted."));
    let (port, _question) = serve(completion("DENY"));
    let answer = event(&desk(port, ""));
    assert!(denial(&answer).unwrap().contains("violates the operator's policies"));
    // The server accepts the connection but never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = event(&desk(port, "\n[hooks]\ntime_limit_ms = 1500\n"));
    assert!(denial(&answer).unwrap().contains("could not determine whether"), "{answer}");
    // Without its key, the model cannot be asked.
    let answer = event(&desk(port, "api_key_env = \"NO_SUCH_KEY\""));
    assert!(
        denial(&answer).unwrap().contains("a model must judge this call, but none is configured"),
        "{answer}"
    );
    let notice = answer["systemMessage"].as_str().unwrap();
    assert!(notice.contains("the environment variable `NO_SUCH_KEY` is not set"), "{answer}");
}
