use std::sync::Arc;

use counterfoil_agent::{Agent, Conversation, NoWatch, TurnError, TurnEvent, Turned, Watch};
use counterfoil_guard::{FunctionExecutor, Guard, GuardOptions, SessionStart, ToolError};
use counterfoil_model::{Effects, Status, Tool, ToolErrorCategory};
use counterfoil_providers::{ProviderError, Turn};
use serde_json::{Value, json};

use crate::script::{Script, agent, calls, guard, parts, received, says, wait};

fn turn(agent: &mut Agent, message: &str) -> Result<Turned, TurnError> {
    wait(agent.turn(message, &mut NoWatch))
}

#[test]
fn an_honest_answer_is_shown_as_it_is_with_its_receipts() {
    let model = Script::new([
        calls(&[("c1", "cancel_order", r#"{"order":7}"#)]),
        says("I have cancelled order 7."),
    ]);
    let mut agent = agent(&model);
    let turned = turn(&mut agent, "Cancel order 7, please.").unwrap();
    assert_eq!((turned.answer.as_str(), turned.accepted), ("I have cancelled order 7.", true));
    assert_eq!((turned.held_back, turned.findings), (0, vec![]));
    let id = &turned.executions[0];
    let receipt = agent.guard().ledger().receipt(id).unwrap().unwrap();
    assert_eq!(receipt.status, Status::Completed);
    // The model reads the id, which it can cite.
    let requests = model.requests();
    let result = format!("order 7 is cancelled\n(execution_id: {id})");
    assert_eq!(received(&requests[1]), ["Cancel order 7, please.".to_owned(), result]);
    assert!(requests[0].system.contains("You work in a shop."));
    assert!(requests[0].system.contains("Announce, then execute."));
    let tools: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["cancel_order", "compress_context", "get_order"]);
}

#[test]
fn a_lie_goes_back_and_what_is_done_then_is_shown() {
    let model = Script::new([
        says("I have cancelled order 7."),
        calls(&[("c1", "cancel_order", r#"{"order":7}"#)]),
        says("I have cancelled order 7."),
    ]);
    let mut agent = agent(&model);
    let turned = turn(&mut agent, "Cancel order 7, please.").unwrap();
    assert!(turned.accepted);
    assert_eq!((turned.held_back, turned.executions.len()), (1, 1));
    let feedback = &received(&model.requests()[1])[1];
    assert!(feedback.starts_with("I apologize") && feedback.contains("(cancel)"), "{feedback}");
}

#[test]
fn a_lie_that_is_repeated_is_never_shown() {
    for (first, claim) in [
        (None, "I have cancelled order 7."),
        (Some(calls(&[("c1", "cancel_order", r#"{"order":13}"#)])), "Order 13 has been cancelled."),
        (Some(calls(&[("c1", "refund", r#"{"order":7}"#)])), "I have refunded order 7."),
        // What quotes the lie must not make it true.
        (
            None,
            "The order_archive tool confirms that (execution_id: get_order_1735999999123_0a1b2c3d).",
        ),
    ] {
        let model = Script::new(first.into_iter().chain([says(claim), says(claim), says(claim)]));
        let mut agent = agent(&model);
        let turned = turn(&mut agent, "Do what has to be done.").unwrap();
        assert!(!turned.accepted, "{claim}: {turned:?}");
        assert_eq!(turned.held_back, 2);
        assert!(turned.answer.starts_with("I have no answer that the record"), "{}", turned.answer);
        // What it says about itself is true: the next turn is not blamed for it.
        model.then(Ok(says("What would you like to know?")));
        let next = turn(&mut agent, "Hello?").unwrap();
        assert!(next.answer == claim || next.accepted, "{next:?}");
    }
}

#[test]
fn a_call_that_fits_no_tool_is_answered_and_the_turn_goes_on() {
    let model = Script::new([
        calls(&[
            ("c1", "get_ordr", r#"{"order":7}"#),
            ("c1", "get_order", r#"{"order":"seven"}"#),
            ("", "get_order", r#"{"order":7"#),
            ("c1", "get_order", r#"{"order":7}"#),
        ]),
        says("Order 7 is two chairs for 80 EUR."),
    ]);
    let mut agent = agent(&model);
    let turned = turn(&mut agent, "What is order 7?").unwrap();
    assert!(turned.accepted, "{turned:?}");
    assert_eq!(turned.executions.len(), 4);
    let results: Vec<(String, bool)> = model.requests()[1]
        .turns
        .iter()
        .filter_map(|turn| match turn {
            Turn::Result { call_id, failed, .. } => Some((call_id.clone(), *failed)),
            _ => None,
        })
        .collect();
    let expected = [("c1", true), ("c1_2", true), ("call_2", true), ("c1_3", false)];
    assert_eq!(results, expected.map(|(id, failed)| (id.to_owned(), failed)));
}

#[test]
fn a_model_that_gets_nowhere_is_stopped() {
    // It says nothing.
    let model = Script::new([says(""), says(" "), says("")]);
    let turned = turn(&mut agent(&model), "Well?").unwrap();
    assert_eq!(turned.answer, "The model gave no answer. Tool calls: 0.");
    assert!(!turned.accepted);
    // It calls what is not there, again and again.
    let wrong = || calls(&[("c", "nothing", "{}")]);
    let model = Script::new([wrong(), wrong(), wrong(), says("I could not find the tool.")]);
    let turned = turn(&mut agent(&model), "Well?").unwrap();
    assert_eq!(
        (turned.answer.as_str(), turned.executions.len()),
        ("I could not find the tool.", 3)
    );
    let last = model.requests()[3].clone();
    assert!(last.tools.is_empty());
    assert!(received(&last).last().unwrap().contains("you cannot call any more tools"));
    // It goes on for ever.
    let more = || calls(&[("c", "get_order", r#"{"order":7}"#)]);
    let model = Script::new([more(), more(), more(), more()]);
    let guard = guard();
    let mut parts = parts(&guard, &model);
    parts.settings.max_steps = 3;
    let mut agent = Agent::new(parts).unwrap();
    let error = turn(&mut agent, "Well?");
    let turned = error.unwrap_or_else(|error| panic!("{error}"));
    assert!(!turned.accepted);
    let status = |id: &String| guard.ledger().receipt(id).unwrap().unwrap().status;
    let ended: Vec<Status> = turned.executions.iter().map(status).collect();
    assert_eq!(ended, [Status::Completed, Status::Completed, Status::Refused]);
}

#[test]
fn a_provider_that_is_down_loses_nothing() {
    let down = || ProviderError::NotReached { name: "p".to_owned(), why: "refused".to_owned() };
    let model = Script::new([calls(&[("c1", "get_order", r#"{"order":7}"#)])]);
    model.then(Err(down()));
    let mut agent = agent(&model);
    let error = turn(&mut agent, "What is order 7?").unwrap_err();
    assert_eq!(error.to_string(), "cannot reach `p`: refused");
    model.then(Ok(says("Order 7 is two chairs for 80 EUR.")));
    let turned = turn(&mut agent, "Go on.").unwrap();
    assert!(turned.accepted);
    let received = received(model.requests().last().unwrap());
    assert!(received[1].starts_with("order 7: two chairs"), "{received:?}");
    assert_eq!((received[0].as_str(), received[2].as_str()), ("What is order 7?", "Go on."));
}

/// A guard that shows execution ids in this way, with a tool that returns JSON or a text like it.
fn showing(show_id: &str) -> counterfoil_guard::Guard {
    let options = json!({ "tools": { "show_id": show_id } });
    let options: GuardOptions = serde_json::from_value(options).unwrap();
    let tool = |name: &str| Tool {
        effects: Effects { writes: Some(false), ..Effects::default() },
        ..Tool::named(name)
    };
    let door = || json!({ "door": { "colour": "green" } });
    Guard::builder()
        .settings(options.resolve().unwrap())
        .executor(FunctionExecutor::new(tool("as_text"), |_: &Value| Ok("the door is green\n")))
        .executor(FunctionExecutor::new(tool("as_json"), move |_: &Value| Ok(door())))
        .executor(FunctionExecutor::new(tool("like_json"), move |_: &Value| Ok(door().to_string())))
        .executor(FunctionExecutor::new(tool("fails"), |_: &Value| {
            Err::<&str, _>(ToolError::new(ToolErrorCategory::PermanentFailure, "there is no door"))
        }))
        .build()
        .unwrap()
}

#[test]
fn a_resumed_session_shows_results_as_the_model_saw_them() {
    for show_id in ["metadata", "trailer", "embed"] {
        let guard = showing(show_id);
        let tools = ["as_text", "as_json", "like_json", "fails", "unknown"];
        let ids = ["c1", "c2", "c3", "c4", "c5"];
        let made: Vec<_> = ids.iter().zip(tools).map(|(id, tool)| (*id, tool, "{}")).collect();
        let model = Script::new([calls(&made), says("Some of the calls failed.")]);
        let mut first = Agent::new(parts(&guard, &model)).unwrap();
        let turned = turn(&mut first, "Which colour has the door?").unwrap();
        assert_eq!(turned.executions.len(), tools.len());
        let (seen, id) = (model.requests().pop().unwrap().turns, first.session().id().to_owned());
        drop(first);
        guard.unregister(&counterfoil_guard::ExecutorId::new(
            counterfoil_guard::ExecutorKind::Native,
            "compress_context".to_owned(),
        ));
        let start = SessionStart { id: Some(id), ..SessionStart::default() };
        let session = guard.session(start).unwrap();
        let conversation = Conversation::from_session(&session, 0, Vec::new()).unwrap();
        let results = |turns: &[Turn]| -> Vec<Turn> {
            turns.iter().filter(|turn| matches!(turn, Turn::Result { .. })).cloned().collect()
        };
        // Each call has a message of its own in the record, so only the results compare.
        let resumed = results(conversation.turns());
        assert_eq!(resumed, results(&seen), "{show_id}");
        for (result, id) in resumed.iter().zip(&turned.executions) {
            assert!(format!("{result:?}").contains(id.as_str()), "{show_id}: {result:?}");
        }
        let model = Script::new([says("The door is green.")]);
        let parts = counterfoil_agent::Parts { session, conversation, ..parts(&guard, &model) };
        assert!(turn(&mut Agent::new(parts).unwrap(), "Which colour?").unwrap().accepted);
    }
}

/// Breaks a turn off at the first call.
struct Breaks(Arc<tokio::sync::Notify>);

impl Watch for Breaks {
    fn on_event(&mut self, what: TurnEvent<'_>) {
        if matches!(what, TurnEvent::Answered(..)) {
            self.0.notify_one();
        }
    }
}

#[test]
fn a_turn_that_is_broken_off_can_be_gone_on_with() {
    let model = Script::new([calls(&[
        ("c1", "get_order", r#"{"order":7}"#),
        ("c2", "get_order", r#"{"order":8}"#),
    ])]);
    let mut agent = agent(&model);
    let broken = Arc::new(tokio::sync::Notify::new());
    let ended = wait(async {
        let mut watch = Breaks(Arc::clone(&broken));
        tokio::select! {
            biased;
            () = broken.notified() => false,
            _ = agent.turn("What are orders 7 and 8?", &mut watch) => true,
        }
    });
    // Whether it was broken off in time or the script was over first, nothing is open.
    assert!(!ended || model.requests().len() == 2);
    model.then(Ok(says("What would you like to know?")));
    assert!(turn(&mut agent, "Go on.").unwrap().accepted);
    let transcript = agent.session().transcript().unwrap();
    assert!(transcript.messages.iter().flat_map(|m| &m.outcomes).all(|outcome| !outcome.running));
    let turns = model.requests().pop().unwrap().turns;
    let count = |wanted: fn(&Turn) -> bool| turns.iter().filter(|turn| wanted(turn)).count();
    assert_eq!(count(|turn| matches!(turn, Turn::Result { .. })), 2, "{turns:?}");
}

#[test]
fn doubts_are_mentioned_and_block_nothing() {
    for mentioned in [false, true] {
        let model = Script::new([
            calls(&[("c1", "find_order", r#"{"order_id":"QX-48213"}"#)]),
            says("Which order is meant?"),
        ]);
        let guard = guard();
        let find = counterfoil_model::Tool {
            parameters: Some(
                serde_json::json!({ "properties": { "order_id": { "type": "string" } } }),
            ),
            ..counterfoil_model::Tool::named("find_order")
        };
        let nothing = |_: &serde_json::Value| Ok::<_, counterfoil_guard::ToolError>("two found");
        guard.register(counterfoil_guard::FunctionExecutor::new(find, nothing)).unwrap();
        let mut parts = parts(&guard, &model);
        parts.settings.hallucination_detection = mentioned;
        let mut agent = Agent::new(parts).unwrap();
        let turned = turn(&mut agent, "What is in my order?").unwrap();
        let receipt = guard.ledger().receipt(&turned.executions[0]).unwrap().unwrap();
        assert_eq!(receipt.status, Status::Completed);
        let result = received(&model.requests()[1]).pop().unwrap();
        assert_eq!(result.contains("(doubtful: "), mentioned, "{result} {:?}", receipt.warnings);
    }
}

#[test]
fn what_the_model_has_written_runs_ahead_and_nothing_does_after_the_turn() {
    let tool = |name: &str| Tool {
        effects: Effects { writes: Some(false), idempotent: Some(true), ..Effects::default() },
        ..Tool::named(name)
    };
    let options = r#"{"tools":{"speculation":{"mode":"decoding"}}}"#;
    let options: GuardOptions = serde_json::from_str(options).unwrap();
    let guard = Guard::builder()
        .settings(options.resolve().unwrap())
        .executor(FunctionExecutor::new(tool("read_clock"), |_: &Value| {
            Ok::<_, ToolError>("it is noon".to_owned())
        }))
        .build()
        .unwrap();
    let clock = || [("c1", "read_clock", "{}")];
    let model = Script::new([calls(&clock()), says("It is noon.")]);
    let mut agent = Agent::new(parts(&guard, &model)).unwrap();
    let turned = turn(&mut agent, "What time is it?").unwrap();
    assert!(turned.accepted && turned.executions.len() == 1);
    let counts = agent.session().speculation_counts();
    assert_eq!((counts.begun, counts.used, counts.wasted), (1, 1, 0));
    // The model breaks off after a call, and no one makes it.
    model.breaks_off(calls(&clock()));
    turn(&mut agent, "And now?").unwrap_err();
    let counts = agent.session().speculation_counts();
    assert_eq!((counts.begun, counts.used, counts.wasted), (2, 1, 1));
}

/// Keeps the arguments of the calls that are reported to it.
#[derive(Default)]
struct Arguments(Vec<String>);

impl Watch for Arguments {
    fn on_event(&mut self, what: TurnEvent<'_>) {
        if let TurnEvent::Calling(call) | TurnEvent::Answered(call, _) = what {
            self.0.push(call.arguments.as_str().to_owned());
        }
    }
}

#[test]
fn a_watcher_sees_no_hidden_thinking() {
    for (written, seen) in [
        (r#"{"_tafc_think":"a secret","order":7}"#, r#"{"order":7}"#),
        (r#"{"_TAFC_THINK_2":"a secret","order":7}"#, r#"{"order":7}"#),
        (r#"{"_tafc_think":"a secret","order":7"#, "{"),
        (r#"{"order": 7}"#, r#"{"order": 7}"#),
    ] {
        let model = Script::new([calls(&[("c1", "get_order", written)]), says("Anything else?")]);
        let mut watch = Arguments::default();
        wait(agent(&model).turn("What is order 7?", &mut watch)).unwrap();
        assert_eq!(watch.0, [seen, seen], "{written}");
        // Nor does the model read it again.
        let request = format!("{:?}", model.requests().last().unwrap().turns);
        assert!(!request.contains("a secret"), "{request}");
    }
}
