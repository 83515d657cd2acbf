use std::sync::Arc;

use counterfoil_agent::{Agent, CompressionStrategy, KeptSummaries, NoWatch, Store};
use counterfoil_guard::SystemClock;
use counterfoil_model::{PermitBasis, Status, ToolErrorCategory};
use counterfoil_providers::ProviderError;

use crate::script::{Script, after, calls, guard, parts, says, wait};

fn memory() -> Arc<Store> {
    Arc::new(Store::in_memory().unwrap())
}

fn two_turns(model: &Arc<Script>, store: &Arc<Store>) -> Agent {
    let guard = guard();
    let mut parts = parts(&guard, model);
    let kept = KeptSummaries::new(Arc::clone(store), Arc::new(SystemClock::default()));
    parts.summaries = Some(Arc::new(kept));
    Agent::new(parts).unwrap()
}

const DONE: &[(&str, &str, &str)] = &[("c1", "cancel_order", r#"{"order":7}"#)];

#[test]
fn who_wants_it_is_distinguished_and_receipts_outlive_it() {
    for strategy in [
        CompressionStrategy::Manual,
        CompressionStrategy::Autonomous,
        CompressionStrategy::Triggered,
    ] {
        let tokens = if strategy == CompressionStrategy::Triggered { 95_000 } else { 10 };
        let model = Script::new([calls(DONE), after(tokens, says("I have cancelled order 7."))]);
        let store = memory();
        let mut agent = two_turns(&model, &store);
        let first = wait(agent.turn("Cancel order 7.", &mut NoWatch)).unwrap();
        match strategy {
            CompressionStrategy::Manual => {
                model.then(Ok(says("Order 7 was cancelled.")));
                let answer = wait(agent.compact()).unwrap();
                assert_eq!(answer.status, Status::Completed, "{}", answer.text);
            }
            CompressionStrategy::Autonomous => {
                model.then(Ok(calls(&[("c2", "compress_context", "{}")])));
                model.then(Ok(says("Order 7 was cancelled.")));
            }
            CompressionStrategy::Triggered => model.then(Ok(says("Order 7 was cancelled."))),
        }
        // Claims about what is no longer in the context are checked against the record.
        model.then(Ok(says("I have cancelled order 7.")));
        let second = wait(agent.turn("Is order 7 cancelled?", &mut NoWatch)).unwrap();
        assert!(second.accepted, "{strategy}: {second:?}");
        model.then(Ok(says("I have mailed the invoice to the customer.")));
        model.then(Ok(says("I have mailed the invoice to the customer.")));
        let third = wait(agent.turn("Mail the invoice.", &mut NoWatch)).unwrap();
        assert!(!third.accepted, "{strategy}");
        let summaries = store.summaries(agent.session().id()).unwrap();
        assert_eq!(summaries.len(), 1, "{strategy}");
        assert_eq!((summaries[0].strategy, summaries[0].until), (strategy, 1));
        let last = model.requests().last().unwrap().clone();
        assert!(
            last.system.contains("# Knowledge") && last.system.contains("Order 7 was cancelled.")
        );
        let receipts = agent.guard().ledger().recent(Some(agent.session().id()), 10).unwrap();
        assert!(receipts.contains(&first.executions[0]), "{strategy}");
        let compressed = receipts.iter().find(|id| id.starts_with("compress_context_")).unwrap();
        let receipt = agent.guard().ledger().receipt(compressed).unwrap().unwrap();
        assert!(matches!(receipt.permit, Some(PermitBasis::Policy { .. })), "{receipt:?}");
    }
}

#[test]
fn knowledge_grows_and_is_never_replaced() {
    let model = Script::new([says("Hello."), says("One."), says("Hello again."), says("Two.")]);
    let mut agent = two_turns(&model, &memory());
    for message in ["Hi", "Hi again"] {
        wait(agent.turn(message, &mut NoWatch)).unwrap();
        wait(agent.compact()).unwrap();
    }
    assert_eq!(agent.conversation().knowledge(), ["One.", "Two."]);
    assert!(agent.conversation().turns().is_empty());
    // There is nothing left.
    let answer = wait(agent.compact()).unwrap();
    assert_eq!(answer.status, Status::Failed);
    assert!(answer.text.contains("there is nothing to compress"), "{}", answer.text);
}

#[test]
fn the_model_that_compresses_reads_no_secrets_and_no_hidden_thinking() {
    let arguments = r#"{"order":7,"_tafc_think":"he sounds angry","_TAFC_THINK_2":{"a":"mood"},
        "note":"use ghp_0123456789abcdefghijklmnopqrstuvwxyzAB","password":"kQ9vT2xLw7Rz"}"#;
    let model = Script::new([calls(&[("c1", "cancel_order", arguments)]), says("Done so far.")]);
    let mut agent = two_turns(&model, &memory());
    wait(agent.turn("Cancel order 7 with api_key=sk-ant-api03-0123456789abcdefgh.", &mut NoWatch))
        .unwrap();
    model.then(Ok(says("In short.")));
    wait(agent.compact()).unwrap();
    let request = format!("{:?}", model.requests().last().unwrap().turns);
    assert!(request.contains("Call c1 of cancel_order: {"), "{request}");
    for secret in ["angry", "mood", "tafc", "TAFC", "ghp_", "kQ9vT2xLw7Rz", "sk-ant-api03-0"] {
        assert!(!request.contains(secret), "{secret}: {request}");
    }
}

#[test]
fn what_cannot_be_compressed_stays_as_it_was() {
    use ToolErrorCategory::{NetworkError, PermanentFailure, RateLimited, ServerError};
    let (name, why) = ("p".to_owned(), "refused".to_owned());
    let status = |status: u16| {
        Err(ProviderError::Status { name: name.clone(), status, why: why.clone(), after: None })
    };
    let down = Err(ProviderError::NotReached { name: name.clone(), why: why.clone() });
    let broken = Err(ProviderError::Broken { name: name.clone(), why: why.clone() });
    for (reply, broken, why, category) in [
        (down, false, "cannot reach `p`", NetworkError),
        (broken, false, "`p` gave no valid response", ServerError),
        (status(500), false, "status 500", ServerError),
        (status(504), false, "status 504", ServerError),
        (status(429), false, "status 429", RateLimited),
        (status(400), false, "status 400", PermanentFailure),
        (Ok(says("  ")), false, "the model gave no summary", PermanentFailure),
        (Ok(says("Short.")), true, "cannot save the summary", PermanentFailure),
    ] {
        let model = Script::new([calls(DONE), says("I have cancelled order 7.")]);
        model.then(reply);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let store = Arc::new(Store::open(&path).unwrap());
        if broken {
            let other = rusqlite::Connection::open(&path).unwrap();
            other.execute_batch("DROP TABLE summaries").unwrap();
        }
        let mut agent = two_turns(&model, &store);
        wait(agent.turn("Cancel order 7.", &mut NoWatch)).unwrap();
        let before = agent.conversation();
        let answer = wait(agent.compact()).unwrap();
        assert_eq!(answer.status, Status::Failed);
        assert!(answer.text.contains(why), "{}", answer.text);
        let plain = answer.plain();
        assert!(plain.contains(why) && !plain.contains("tool_error"), "{plain}");
        assert_eq!(answer.category, Some(category), "{why}");
        assert_eq!(agent.conversation().turns(), before.turns());
        assert!(agent.conversation().knowledge().is_empty());
    }
}
