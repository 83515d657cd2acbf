//! The events that a surface receives while calls run, and how it cancels them.

use std::time::Duration;

use counterfoil_guard::{
    CallEvent, FunctionExecutor, Guard, GuardSettings, OutputStream, SessionStart, ShellExecutor,
    Surroundings, ToolError, ToolEvent, TrustLevel,
};
use counterfoil_model::{Status, ToolCall, ToolErrorCategory};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

use crate::desk::{call, run, session, shop, tool, wait};

fn drained(events: &mut Receiver<CallEvent>) -> Vec<CallEvent> {
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

#[test]
fn every_listener_hears_of_every_call() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    // There is no subscriber yet.
    wait(run(&session, "get_order", r##"{"order_id":"#W1"}"##));
    let mut events = guard.events();
    let answers = ["get_order", "cancel_order", "no_such_tool"].map(|tool| {
        let call = ToolCall { id: "c7".to_owned(), ..call(tool, r##"{"order_id":"#W2"}"##) };
        let around = Surroundings { caller: Some("helper".to_owned()), ..Surroundings::default() };
        wait(session.call(call, around)).unwrap()
    });
    let received: Vec<Value> =
        drained(&mut events).iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    let mut expected = Vec::new();
    let event = |event: &str, tool: &str, at: usize| {
        json!({
            "event": event, "tool": tool, "execution_id": answers[at].execution_id,
            "session": "s", "call_id": "c7", "caller": "helper", "phase": "executor",
            "origin": { "kind": "builtin" },
        })
    };
    for (at, tool) in ["get_order", "cancel_order"].into_iter().enumerate() {
        expected.push(event("opened", tool, at));
        let mut closed = event("closed", tool, at);
        closed["status"] = json!("completed");
        expected.push(closed);
    }
    let mut rejected = event("rejected", "no_such_tool", 2);
    rejected["origin"] = json!({ "kind": "external" });
    rejected["status"] = json!("refused");
    rejected["codes"] = json!(answers[2].codes);
    expected.push(rejected);
    assert_eq!(received, expected);
}

/// A shell prints three lines, one with a secret; each is reported as progress.
#[test]
#[cfg(target_os = "linux")]
fn listeners_hear_what_a_command_prints_while_it_runs() {
    let settings = GuardSettings::default();
    let shell = ShellExecutor::new(settings.shell.clone());
    let guard = Guard::builder().settings(settings).executor(shell);
    let guard = guard.workspace(std::env::temp_dir()).build().unwrap();
    let start = SessionStart { trust: TrustLevel::Trusted, ..SessionStart::default() };
    let session = guard.session(start).unwrap();
    let mut events = guard.events();
    let token = concat!("ghp_Zx8Qw2Er5Ty7", "Ui9Op1As3Df6Gh4Jk0Lz2Xc");
    let command = format!("echo one; sleep 0.05; printf 'key {token}\\nend'; echo bad >&2");
    let arguments = json!({ "command": command }).to_string();
    let answer = wait(run(&session, "shell", &arguments));
    assert_eq!(answer.status, Status::Completed, "{}", answer.text);
    let mut printed = [String::new(), String::new()];
    for event in drained(&mut events) {
        if let ToolEvent::Output { stream, text } = event.what {
            printed[usize::from(stream == OutputStream::Stderr)].push_str(&text);
        }
    }
    assert!(printed[0].starts_with("one\nkey ") && printed[0].ends_with("\nend"), "{printed:?}");
    assert!(!printed[0].contains(token), "{printed:?}");
    assert_eq!(printed[1], "bad\n");
}

#[test]
fn a_call_that_is_given_up_is_reported_as_cancelled() {
    let guard = shop().executor(endless()).build().unwrap();
    let session = session(&guard, "s");
    let mut events = guard.events();
    wait(async {
        let running = session.call(call("wait", "{}"), Surroundings::default());
        assert!(tokio::time::timeout(Duration::from_millis(20), running).await.is_err());
    });
    let received: Vec<ToolEvent> =
        drained(&mut events).into_iter().map(|event| event.what).collect();
    assert_eq!(
        received,
        [
            ToolEvent::Opened,
            ToolEvent::Closed {
                status: Status::Cancelled,
                category: Some(ToolErrorCategory::Cancelled),
            }
        ]
    );
}

fn endless() -> FunctionExecutor {
    FunctionExecutor::waiting(tool("wait", json!({}), None), |_: Value| async {
        std::future::pending::<Result<String, ToolError>>().await
    })
}

/// Its answer says so. A call with another id, or of another session, continues.
#[test]
fn a_call_is_cancelled_by_its_id() {
    let guard = shop().executor(endless()).build().unwrap();
    let (ours, others) = (session(&guard, "s"), session(&guard, "t"));
    let waiting = |id: &str| ToolCall { id: id.to_owned(), ..call("wait", "{}") };
    wait(async {
        let first = ours.call(waiting("c1"), Surroundings::default());
        let second = ours.call(waiting("c2"), Surroundings::default());
        let third = others.call(waiting("c1"), Surroundings::default());
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert_eq!([ours.cancel("c3"), ours.cancel("")], [0, 0]);
            assert_eq!(ours.cancel("c1"), 1);
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert_eq!(ours.cancel("c1"), 0, "it has ended");
        };
        tokio::pin!(first, second, third);
        let (answer, ()) = tokio::join!(first, async {
            tokio::select! {
                () = cancel => {}
                _ = &mut second => panic!("it goes on"),
                _ = &mut third => panic!("it goes on"),
            }
        });
        let answer = answer.unwrap();
        assert_eq!(answer.status, Status::Cancelled);
        assert_eq!(answer.category, Some(ToolErrorCategory::Cancelled));
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!(receipt.status, Status::Cancelled);
    });
}

#[test]
fn a_listener_that_does_not_keep_up_misses_the_oldest() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let mut events = guard.events();
    for n in 0..600 {
        wait(run(&session, "get_order", &format!(r##"{{"order_id":"#W1{n}"}}"##)));
    }
    let missed = events.try_recv().unwrap_err();
    assert!(missed.to_string().contains("176"), "{missed}");
    assert_eq!(events.try_recv().unwrap().what, ToolEvent::Opened);
}
