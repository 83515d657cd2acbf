//! What a surface hears of calls while they run.

use std::time::Duration;

use counterfoil_guard::{FunctionExecutor, Surroundings, ToolError, ToolEvent};
use counterfoil_model::Status;
use serde_json::{Value, json};

use crate::desk::{call, run, session, shop, tool, wait};

#[test]
fn every_call_is_told_to_whoever_listens() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    // Nobody listens yet.
    wait(run(&guard, &session, "get_order", r##"{"order_id":"#W1"}"##));
    let mut events = guard.events();
    let answers = ["get_order", "cancel_order", "no_such_tool"]
        .map(|tool| wait(run(&guard, &session, tool, r##"{"order_id":"#W2"}"##)));
    let told: Vec<ToolEvent> = std::iter::from_fn(|| events.try_recv().ok()).collect();
    let mut expected = Vec::new();
    for (tool, answer) in ["get_order", "cancel_order"].into_iter().zip(&answers) {
        let execution_id = answer.execution_id.clone();
        let (session, tool) = ("s".to_owned(), tool.to_owned());
        expected.push(ToolEvent::Opened { execution_id: execution_id.clone(), session, tool });
        expected.push(ToolEvent::Closed { execution_id, status: Status::Completed });
    }
    expected.push(ToolEvent::Rejected {
        execution_id: answers[2].execution_id.clone(),
        session: "s".to_owned(),
        tool: "no_such_tool".to_owned(),
        status: Status::Refused,
        codes: answers[2].codes.clone(),
    });
    assert_eq!(told, expected);
    assert_eq!(
        serde_json::to_value(&told[1]).unwrap(),
        json!({ "event": "closed", "execution_id": answers[0].execution_id, "status": "completed" })
    );
}

#[test]
fn a_call_that_is_given_up_is_told_as_cancelled() {
    let endless = FunctionExecutor::waiting(tool("wait", json!({}), None), |_: Value| async {
        std::future::pending::<Result<String, ToolError>>().await
    });
    let guard = shop().executor(endless).build().unwrap();
    let session = session(&guard, "s");
    let mut events = guard.events();
    wait(async {
        let running = guard.call(&session, call("wait", "{}"), Surroundings::default());
        assert!(tokio::time::timeout(Duration::from_millis(20), running).await.is_err());
    });
    let opened = events.try_recv().unwrap();
    assert!(matches!(&opened, ToolEvent::Opened { tool, .. } if tool == "wait"), "{opened:?}");
    let closed = events.try_recv().unwrap();
    let cancelled = matches!(closed, ToolEvent::Closed { status: Status::Cancelled, .. });
    assert!(cancelled, "{closed:?}");
}

#[test]
fn a_listener_that_does_not_keep_up_misses_the_oldest() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let mut events = guard.events();
    for n in 0..600 {
        wait(run(&guard, &session, "get_order", &format!(r##"{{"order_id":"#W1{n}"}}"##)));
    }
    let missed = events.try_recv().unwrap_err();
    assert!(missed.to_string().contains("176"), "{missed}");
    assert!(matches!(events.try_recv().unwrap(), ToolEvent::Opened { .. }));
}
