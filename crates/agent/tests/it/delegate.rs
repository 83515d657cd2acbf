use std::sync::Arc;

use counterfoil_agent::{Agent, Model, NoWatch, SubAgents};
use counterfoil_model::Status;

use crate::script::{Script, calls, guard, parts, says, wait};

/// An agent with helpers, of one model.
fn agent(model: &Arc<Script>) -> Agent {
    let guard = guard();
    let parts = parts(&guard, model);
    let helpers = Arc::clone(model) as Arc<dyn Model>;
    let helpers = SubAgents::new(&parts.session, helpers, &parts.settings, "Help.");
    guard.register(helpers.tool()).unwrap();
    Agent::new(parts).unwrap()
}

const TASK: &[(&str, &str, &str)] = &[("c1", "task", r#"{"prompt":"Cancel order 7."}"#)];

#[test]
fn a_helper_works_with_receipts_that_name_it() {
    let model = Script::new([
        calls(TASK),
        calls(&[("c1", "cancel_order", r#"{"order":7}"#)]),
        says("I have cancelled order 7."),
        says("Order 7 has been cancelled."),
    ]);
    let mut agent = agent(&model);
    let turned = wait(agent.turn("Cancel order 7, please.", &mut NoWatch)).unwrap();
    assert!(turned.accepted, "{turned:?}");
    let ledger = agent.guard().ledger();
    let ids = ledger.recent(Some(agent.session().id()), 10).unwrap();
    let receipts: Vec<_> = ids.iter().map(|id| ledger.receipt(id).unwrap().unwrap()).collect();
    let found: Vec<(&str, Option<&str>)> = receipts
        .iter()
        .map(|receipt| (receipt.tool.as_str(), receipt.caller_id.as_deref()))
        .collect();
    assert!(found.contains(&("cancel_order", Some("task-1"))), "{found:?}");
    assert!(found.contains(&("task", None)), "{found:?}");
    let requests = model.requests();
    let names = |at: usize| -> Vec<String> {
        requests[at].tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert!(names(0).contains(&"task".to_owned()));
    // It has no helpers of its own, and knows its prompt only.
    assert_eq!(names(1), ["cancel_order", "get_order"]);
    assert_eq!(requests[1].turns.len(), 1);
    assert_eq!(
        requests[3].turns.len(),
        3,
        "what the helper did is its own: {:?}",
        requests[3].turns
    );
}

#[test]
fn a_helper_that_lies_gives_no_report() {
    let lie = || says("I have cancelled order 7.");
    let model = Script::new([calls(TASK), lie(), lie(), says("The helper gave no report.")]);
    let mut agent = agent(&model);
    let turned = wait(agent.turn("Cancel order 7, please.", &mut NoWatch)).unwrap();
    let receipt = agent.guard().ledger().receipt(&turned.executions[0]).unwrap().unwrap();
    assert_eq!(receipt.status, Status::Failed);
    let last = model.requests().pop().unwrap();
    let received = crate::script::received(&last);
    assert!(
        received[1].contains("no answer that the record of this session supports"),
        "{received:?}"
    );
}

#[test]
fn a_helper_hides_no_lie_of_its_agent() {
    let lie = || says("I ran the tests, and all 42 tests pass.");
    let nothing = || says("Which tests are meant?");
    for (tasks, replies) in [
        (r#"{"prompt":"Run the tests."}"#, vec![nothing(), lie(), lie()]),
        // Refused: nothing ran.
        (r#"{"prompt":""}"#, vec![lie(), lie()]),
    ] {
        let model = Script::new([calls(&[("c1", "task", tasks)])].into_iter().chain(replies));
        let turned = wait(agent(&model).turn("Run the tests.", &mut NoWatch)).unwrap();
        assert!(!turned.accepted, "{tasks}: {turned:?}");
    }
}

#[test]
fn a_helper_has_neither_helpers_nor_the_conversation_of_its_agent() {
    let model = Script::new([
        calls(TASK),
        calls(&[("c1", "task", r#"{"prompt":"Go deeper."}"#), ("c2", "compress_context", "{}")]),
        says("Which order is meant?"),
        says("The helper asks which order is meant."),
    ]);
    let mut agent = agent(&model);
    let turned = wait(agent.turn("Cancel order 7, please.", &mut NoWatch)).unwrap();
    assert_eq!(turned.executions.len(), 1);
    let ledger = agent.guard().ledger();
    let receipts = ledger.recent(Some(agent.session().id()), 10).unwrap();
    let receipts = receipts.iter().map(|id| ledger.receipt(id).unwrap().unwrap());
    let refused: Vec<String> = receipts
        .filter(|receipt| receipt.status == Status::Refused)
        .map(|receipt| format!("{} {:?}", receipt.tool, receipt.caller_id))
        .collect();
    let task = "Some(\"task-1\")";
    assert_eq!(refused, [format!("compress_context {task}"), format!("task {task}")]);
    assert!(agent.conversation().knowledge().is_empty());
    let received = crate::script::received(&model.requests()[2]);
    assert!(received[1].contains("cannot use the tool `task`"), "{received:?}");
    assert!(received[2].contains("cannot use the tool `compress_context`"), "{received:?}");
}
