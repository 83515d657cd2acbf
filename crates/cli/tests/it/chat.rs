//! `counterfoil chat` with a scripted model behind a local server.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::judge::{http, is_whole};
use crate::{Desk, Ran};

/// Answers each request with the next reply; the receiver gets the requests.
pub(crate) fn model(replies: Vec<Value>) -> (u16, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, question) = channel();
    std::thread::spawn(move || {
        for reply in replies {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let (mut request, mut piece) = (Vec::new(), [0; 4096]);
            while !is_whole(&request) {
                match stream.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => request.extend_from_slice(&piece[..count]),
                }
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            let body = text.split_once("\r\n\r\n").unwrap().1;
            let _ = sender.send(serde_json::from_str(body).unwrap());
            let body = json!({ "choices": [{ "message": reply, "finish_reason": "stop" }] });
            let answer = http("200 OK\r\nconnection: close", &body.to_string());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, question)
}

pub(crate) fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

pub(crate) fn calls(tool: &str, arguments: &Value) -> Value {
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let call = json!({ "id": "c1", "type": "function", "function": function });
    json!({ "role": "assistant", "content": null, "tool_calls": [call] })
}

pub(crate) fn desk(port: u16, more: &str) -> Desk {
    let text = format!(
        "[[llm.providers]]\nname = \"script\"\nurl = \"http://127.0.0.1:{port}/v1\"\n\
         model = \"script-1\"\nmax_attempts = 1\n{more}\n"
    );
    Desk::with(&[("counterfoil.toml", &text), ("notes.txt", "the door is green\n")])
}

pub(crate) fn chat(desk: &Desk, words: &[&str], input: &str) -> Ran {
    let variables = [("COUNTERFOIL_STATE", "state"), ("NO_COLOR", "1")];
    desk.spawn(&variables, &[&["chat"], words].concat(), input)
}

#[test]
fn an_answer_that_the_record_shows_is_printed_and_a_lie_never_is() {
    let read = || calls("read_file", &json!({ "path": "notes.txt" }));
    let lie = "I ran the tests and all 42 tests pass.";
    for (replies, code, out) in [
        (vec![read(), says("The door is green.")], 0, "The door is green.\n"),
        (vec![says(lie), read(), says("The door is green.")], 0, "The door is green.\n"),
        (
            vec![says(lie), says(lie)],
            1,
            "I have no answer that the record of this session supports.",
        ),
    ] {
        let (port, _) = model(replies);
        let ran = chat(&desk(port, ""), &["-p", "What colour is the door?"], "");
        assert_eq!(ran.code, code, "{ran}");
        assert!(ran.out.starts_with(out) && !ran.out.contains("42"), "{ran}");
        assert_eq!(ran.err.contains("an answer was held back"), ran.err.contains("CS016"), "{ran}");
    }
}

/// A judge reads what no rule proves, before it is shown.
#[test]
fn a_judge_reads_answers_where_the_user_wants_it() {
    let finding = json!({ "sentence": "S1", "verdict": "contradicted", "says": "door is red",
        "record": "R1", "quote": "door is green", "needs": null, "confidence": 0.9 });
    let reply = json!({ "findings": [finding], "need": [], "supported": [] }).to_string();
    let judge = |script: &str| {
        let command = json!(["sh", "-c", format!("cat >/dev/null; {script}")]);
        format!("[judge]\nchat = true\ntimeout_secs = 5\ncommand = {command}")
    };
    let read = || calls("read_file", &json!({ "path": "notes.txt" }));
    let red = || says("The door is red.");
    for (script, replies, out, err) in [
        // It answers correctly once, and then has nothing to say.
        (
            format!(
                "[ -e asked ] && echo '{{\"findings\": []}}' || printf '%s' '{reply}'; touch asked"
            ),
            vec![read(), red(), says("The door is green.")],
            "The door is green.\n",
            "an answer was held back",
        ),
        (
            "exit 1".to_owned(),
            vec![read(), red()],
            "The door is red.\n",
            "the judge did not read the answer",
        ),
    ] {
        let (port, _) = model(replies);
        let ran = chat(&desk(port, &judge(&script)), &["-p", "What colour is the door?"], "");
        assert_eq!((ran.code, ran.out.as_str()), (0, out), "{ran}");
        assert!(ran.err.contains(err), "{ran}");
    }
}

#[test]
fn a_session_goes_on_and_receipts_stand_in_the_ledger() {
    let (port, requests) = model(vec![
        calls("memory_save", &json!({ "text": "The door is green." })),
        says("I have noted that the door is green."),
        calls("memory_search", &json!({ "query": "door" })),
        says("The note says that the door is green."),
    ]);
    let desk = desk(port, "");
    let first = chat(&desk, &["--session", "s", "--json", "-p", "Note: the door is green."], "");
    let shown: Value = serde_json::from_str(&first.out).unwrap();
    assert_eq!((&shown["accepted"], &shown["session"]), (&json!(true), &json!("s")), "{first}");
    let id = shown["receipts"][0].as_str().unwrap();
    assert!(id.starts_with("memory_save_"), "{id}");
    let second = chat(&desk, &["--session", "s", "-p", "And?"], "What colour is it?");
    assert_eq!((second.code, second.out.as_str()), (0, "The note says that the door is green.\n"));
    let requests: Vec<Value> = requests.iter().take(4).collect();
    let messages: Vec<&str> = requests[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] != "system" && message["role"] != "tool")
        .filter_map(|message| message["content"].as_str())
        .collect();
    let expected = [
        "Note: the door is green.",
        "I have noted that the door is green.",
        "And?\n\nWhat colour is it?",
    ];
    assert_eq!(messages, expected);
    // The text of a note comes with its origin.
    let result = requests[3]["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let result = result.as_str().unwrap();
    assert!(result.contains("\"origin\":\"agent\"") && result.contains("\"score\""), "{result}");
    let receipts = desk.run_in(&[("COUNTERFOIL_STATE", "state")], "audit query --tool memory_save");
    assert!(receipts.out.contains("memory_save"), "{receipts}");
}

#[test]
fn a_resumed_session_shows_the_model_the_ids_that_it_saw() {
    for show_id in ["metadata", "trailer", "embed"] {
        let (port, requests) = model(vec![
            calls("read_file", &json!({ "path": "notes.txt" })),
            says("The file says that the door is green."),
            says("I do not know the id."),
        ]);
        let desk = desk(port, &format!("[tools]\nshow_id = \"{show_id}\""));
        for prompt in ["Read notes.txt", "Which execution id was that?"] {
            let ran = chat(&desk, &["--session", "s", "-p", prompt], "");
            assert_eq!(ran.code, 0, "{show_id}: {ran}");
        }
        let requests: Vec<Value> = requests.iter().take(3).collect();
        let results = |request: &Value| -> Vec<Value> {
            let messages = request["messages"].as_array().unwrap().iter();
            messages.filter(|message| message["role"] == "tool").cloned().collect()
        };
        let seen = results(&requests[1]);
        assert!(seen[0]["content"].as_str().unwrap().contains("read_file_"), "{show_id}: {seen:?}");
        assert_eq!(results(&requests[2]), seen, "{show_id}");
    }
}

#[test]
fn the_model_learns_what_is_denied() {
    let (port, requests) = model(vec![
        calls("shell", &json!({ "command": "rm -rf /" })),
        says("I was not allowed to run that command, so nothing was deleted."),
    ]);
    let ran = chat(&desk(port, ""), &["--yes", "-p", "Delete everything."], "");
    assert_eq!(ran.code, 0, "{ran}");
    let second = requests.iter().nth(1).unwrap();
    let result = second["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(result.as_str().unwrap().contains("PolicyBlocked"), "{result}");
}

#[test]
fn hidden_thinking_is_printed_nowhere() {
    for name in ["_tafc_think", "_TAFC_THINK"] {
        let arguments = json!({ name: "my hidden thought", "path": "notes.txt" });
        let (port, _) =
            model(vec![calls("read_file", &arguments), says("The notes say: the door is green.")]);
        let ran = chat(&desk(port, ""), &["-p", "What colour is the door?"], "");
        assert!(ran.code == 0 && ran.err.contains("notes.txt"), "{ran}");
        for printed in [&ran.out, &ran.err] {
            assert!(!printed.contains("my hidden thought"), "{ran}");
        }
    }
}

#[test]
fn a_memory_that_cannot_be_used_is_reported_and_left_alone() {
    let (port, requests) = model(vec![says("Hello.")]);
    let desk = desk(port, "");
    std::fs::create_dir(desk.path().join("state")).unwrap();
    let broken = "this is no database, and longer than its header would be: ".repeat(40);
    std::fs::write(desk.path().join("state/agent.sqlite"), &broken).unwrap();
    let ran = chat(&desk, &["-p", "Hi"], "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hello.\n"), "{ran}");
    assert!(ran.err.contains("memory and scheduled tasks are unavailable"), "{ran}");
    let tools = requests.iter().next().unwrap()["tools"].to_string();
    assert!(!tools.contains("memory_save"), "{tools}");
    let after = std::fs::read_to_string(desk.path().join("state/agent.sqlite")).unwrap();
    assert_eq!(after, broken);
}

#[test]
fn a_chat_that_cannot_start_says_why() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let down = desk(gone, "");
    for (desk, words, input, code, why) in [
        (&down, &["-p", "Hi"][..], "", 2, "cannot reach `script`"),
        (&down, &["-p", " "], "", 2, "the prompt is empty"),
        (&down, &["--json"], "", 2, "the prompt is empty"),
        (&down, &["--provider", "other", "-p", "Hi"], "", 2, "known: script"),
        (&Desk::with(&[]), &["-p", "Hi"], "", 2, "[[llm.providers]] is empty"),
        (&desk(gone, "api_key_env = \"NOT_SET\""), &["-p", "Hi"], "", 2, "`NOT_SET` is not set"),
        (&desk(gone, "[agent]\nmax_steps = 0"), &["-p", "Hi"], "", 2, "agent.max_steps is 0"),
    ] {
        let ran = chat(desk, words, input);
        assert_eq!(ran.code, code, "{words:?}: {ran}");
        assert!(ran.err.contains(why), "{words:?}: {ran}");
    }
}

#[test]
fn what_a_terminal_obeys_reaches_no_pipe() {
    let text = "\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[2J\u{9b}31mHel\u{202e}lo\n\tthere\u{8}";
    let (port, _) = model(vec![says(text), says(text)]);
    let desk = desk(port, "");
    let obeyed = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{8}'];
    for words in [&["-p", "Hi"][..], &["-p", "Hi", "--json"]] {
        let ran = chat(&desk, words, "");
        assert!(ran.out.contains("31mHel") && ran.out.contains("there"), "{ran}");
        assert!(!ran.out.contains(obeyed) && !ran.err.contains(obeyed), "{ran}");
    }
}

#[test]
fn a_pipe_that_no_one_closes_is_not_waited_for() {
    let (port, _) = model(vec![says("Hello.")]);
    let desk = desk(port, "");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_counterfoil"))
        .args(["chat", "-p", "Hello?"])
        .current_dir(desk.path())
        .env_clear()
        .env("HOME", desk.path().join("home"))
        .env("COUNTERFOIL_STATE", "state")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(open);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Hello.\n");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(err.contains("no data on standard input within 3 s"), "{err}");
}

#[test]
fn a_changed_policy_applies_to_the_rest_of_a_conversation() {
    const RELOADED: &str =
        "note: configuration reloaded: changes to the rules for calls are now in effect";
    const INVALID: &str =
        "warning: the changed configuration is invalid, so the previous one stays in effect";
    // In parallel, because the cases mostly wait.
    std::thread::scope(|scope| {
        for (more, blocked, notice) in [
            ("blocklist]\nblocked_commands = [\"uname\"]", true, RELOADED),
            ("permissions]\nrules = [{ tool = \"shell\", action = \"deny\" }]", true, RELOADED),
            ("blocklist]\nblocked_commands = 3", false, INVALID),
        ] {
            scope.spawn(move || policy_changed(more, blocked, notice));
        }
    });
}

/// Adds this to the configuration during the agent's first command, which takes long enough for
/// that, and checks whether the second is blocked and what the user is told.
fn policy_changed(more: &str, blocked: bool, notice: &str) {
    let command = |line: &str| calls("shell", &json!({ "command": line }));
    let (port, requests) = model(vec![command("sleep 2"), command("uname"), says("Done.")]);
    let desk = desk(port, "");
    let file = desk.path().join("chat.toml");
    std::fs::rename(desk.path().join("counterfoil.toml"), &file).unwrap();
    let text = format!("{}[tools.{more}\n", std::fs::read_to_string(&file).unwrap());
    std::thread::spawn(move || {
        requests.recv().unwrap();
        std::fs::write(&file, text).unwrap();
    });
    let ran = chat(&desk, &["--config", "chat.toml", "--yes", "-p", "Go on"], "");
    assert!(ran.err.contains(notice), "{ran}");
    assert_eq!(ran.err.contains("denied ("), blocked, "{ran}");
}

#[test]
fn no_temporary_folder_is_left_behind() {
    let shell = || calls("shell", &json!({ "command": "echo kept > $TMPDIR/a; cat $TMPDIR/a" }));
    for session in [&["--session", "s"][..], &[]] {
        let (port, _) = model(vec![shell(), says("It is there.")]);
        let desk = desk(port, "");
        let temporary = desk.path().join("temporary");
        std::fs::create_dir(&temporary).unwrap();
        let variables = [("COUNTERFOIL_STATE", "state"), ("TMPDIR", temporary.to_str().unwrap())];
        let words = [&["chat", "--yes", "--json", "-p", "Hi"], session].concat();
        let ran = desk.spawn(&variables, &words, "");
        assert!(ran.out.contains("\"shell_"), "{ran}");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{session:?} {ran}");
    }
}
