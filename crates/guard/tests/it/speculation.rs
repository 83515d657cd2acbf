//! Read-only calls that start before they are known to be needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use counterfoil_guard::{
    CallStats, DynExecutor, ErasedToolExecutor, FunctionExecutor, Guard, GuardOptions, Guess,
    Session, StateFolder, Surroundings, ToolError,
};
use counterfoil_ledger::{AuditEntry, AuditFiles, AuditStats, Draft, Reading, Receipt, TrustLevel};
use counterfoil_model::{Effects, Origin, Status, Tool};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::desk::{NOW, StillClock, call, run, session, tool, wait};

/// A read-only tool that counts its calls and takes this many milliseconds.
fn look_up(count: &Arc<AtomicUsize>, millis: u64) -> FunctionExecutor {
    reading("look_up", Origin::Builtin, count, millis)
}

fn reading(name: &str, origin: Origin, count: &Arc<AtomicUsize>, millis: u64) -> FunctionExecutor {
    let plain = tool(name, json!({ "id": { "type": "string" } }), Some(false));
    let effects = Effects { idempotent: Some(true), ..plain.effects };
    let count = Arc::clone(count);
    FunctionExecutor::waiting(Tool { effects, origin, ..plain }, move |arguments: Value| {
        let count = Arc::clone(&count);
        async move {
            sleep(Duration::from_millis(millis)).await;
            count.fetch_add(1, Ordering::SeqCst);
            let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
            Ok::<_, ToolError>(format!("{id} is red"))
        }
    })
}

/// A tool that writes.
fn paint() -> FunctionExecutor {
    let tool = tool("paint", json!({ "id": { "type": "string" } }), Some(true));
    FunctionExecutor::new(tool, |_: &Value| Ok::<_, ToolError>("painted".to_owned()))
}

struct Desk {
    guard: Guard,
    session: Session,
    clock: Arc<StillClock>,
    count: Arc<AtomicUsize>,
}

impl Desk {
    fn with(options: &str, executor: impl FnOnce(&Arc<AtomicUsize>) -> FunctionExecutor) -> Self {
        Self::with_dyn(options, |count| Arc::new(executor(count)))
    }

    fn with_dyn(
        options: &str,
        executor: impl FnOnce(&Arc<AtomicUsize>) -> Arc<dyn ErasedToolExecutor>,
    ) -> Self {
        let options = format!(r#"{{"tools":{{{options}}}}}"#);
        let options: GuardOptions = serde_json::from_str(&options).unwrap();
        let (clock, count) = (StillClock::at(NOW), Arc::new(AtomicUsize::new(0)));
        let guard = Guard::builder()
            .clock(clock.clone())
            .settings(options.resolve().unwrap())
            .executor(DynExecutor::new(executor(&count)))
            .executor(paint())
            .build()
            .unwrap();
        let session = session(&guard, "s");
        Self { guard, session, clock, count }
    }

    fn ahead(&self, name: &str, arguments: &str) {
        let around = Surroundings::default();
        self.session.speculate(call(name, arguments), &around, Guess::Decoded);
    }

    /// Gives speculative calls time to run.
    async fn settle(&self) {
        sleep(Duration::from_millis(60)).await;
    }

    fn looked_up(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    fn receipts(&self) -> Vec<Receipt> {
        let events = self.guard.ledger().events("s").unwrap();
        let opened = events.iter().filter_map(|event| match &event.draft {
            Draft::Opened(opened) => Some(opened.execution_id.clone()),
            _ => None,
        });
        opened.map(|id| self.guard.ledger().receipt(&id).unwrap().unwrap()).collect()
    }
}

const DECODING: &str = r#""speculation":{"mode":"decoding"}"#;
const BALL: &str = r#"{"id":"ball"}"#;

#[test]
fn only_what_is_harmless_and_needs_no_approval_runs_ahead() {
    let mcp = || Origin::Mcp { server: "s".to_owned() };
    let plain = |count: &Arc<AtomicUsize>| look_up(count, 0);
    let asking = |count: &Arc<AtomicUsize>| look_up(count, 0).asking("it costs money");
    let denied = r#","permissions":{"rules":[{"tool":"look_up","action":"deny"}]}"#;
    let ask_rule = r#","permissions":{"rules":[{"tool":"look_up","action":"ask"}]}"#;
    let both = r#""speculation":{"mode":"both"}"#;
    let pattern = r#""speculation":{"mode":"pattern"}"#;
    wait(async {
        for (desk, name, arguments, runs) in [
            (Desk::with(DECODING, plain), "look_up", BALL, true),
            (Desk::with(both, plain), "look_up", BALL, true),
            (Desk::with("", plain), "look_up", BALL, false),
            (Desk::with(pattern, plain), "look_up", BALL, false),
            (Desk::with(DECODING, plain), "paint", BALL, false),
            (Desk::with(DECODING, plain), "look_up", "{}", false),
            (Desk::with(DECODING, plain), "lookup", "{}", false),
            // The tool requires confirmation, in all circumstances.
            (Desk::with(DECODING, asking), "look_up", BALL, false),
            (
                Desk::with_dyn(DECODING, |count| {
                    Arc::new(DynExecutor::new(Arc::new(look_up(count, 0).asking("it costs"))))
                }),
                "look_up",
                BALL,
                false,
            ),
            (Desk::with(&format!("{DECODING}{denied}"), plain), "look_up", BALL, false),
            (Desk::with(&format!("{DECODING}{ask_rule}"), plain), "look_up", BALL, false),
            // What a third party declares about its tool does not count.
            (
                Desk::with(DECODING, |count| reading("look_up", mcp(), count, 0)),
                "look_up",
                BALL,
                false,
            ),
        ] {
            desk.ahead(name, arguments);
            desk.settle().await;
            assert_eq!(desk.looked_up(), usize::from(runs), "{name} {arguments}");
            assert_eq!(desk.receipts().len(), usize::from(runs), "{name} {arguments}");
        }
        let desk = Desk::with(DECODING, plain);
        let around = Surroundings { trust: Some(TrustLevel::Untrusted), ..Surroundings::default() };
        desk.session.speculate(call("look_up", BALL), &around, Guess::Decoded);
        desk.settle().await;
        assert_eq!(desk.looked_up(), 0, "a stranger is in play");
    });
}

#[test]
fn a_call_takes_what_ran_ahead_of_it_and_only_the_call_counts() {
    wait(async {
        let options = format!(r#"{DECODING},"max_tool_calls_per_session":1"#);
        let desk = Desk::with(&options, |count| look_up(count, 20));
        desk.ahead("look_up", BALL);
        desk.settle().await;
        let calls = |desk: &Desk| {
            let transcript = desk.session.transcript().unwrap();
            transcript.messages.iter().map(|message| message.calls.len()).sum::<usize>()
        };
        assert_eq!((desk.looked_up(), calls(&desk)), (1, 0), "nobody has made the call");
        let answer = run(&desk.session, "look_up", BALL).await;
        assert_eq!((answer.status, desk.looked_up()), (Status::Completed, 1), "{}", answer.text);
        assert!(answer.text.contains("ball is red"), "{}", answer.text);
        assert_eq!(calls(&desk), 1);
        let receipts = desk.receipts();
        let [ahead, own] = receipts.as_slice() else { panic!("{receipts:?}") };
        assert!(ahead.links.speculative && !own.links.speculative);
        assert_eq!(own.links.cached_from.as_ref(), Some(&ahead.execution_id));
        let recorded = desk.session.transcript().unwrap().receipts.unwrap();
        let ids: Vec<&str> = recorded.iter().map(|receipt| receipt.id.as_str()).collect();
        assert_eq!(ids, [own.execution_id.as_str()], "what ran ahead supports nothing");
        let mut stats = CallStats::default();
        desk.guard.ledger().events("s").unwrap().iter().for_each(|event| stats.add(event));
        assert_eq!((stats.calls, stats.ran_ahead), (1, 1));
        // The quota counts calls, and this is the second one.
        let second = run(&desk.session, "look_up", r#"{"id":"cap"}"#).await;
        assert_eq!(second.codes, ["quota_blocked"]);
        let counts = desk.session.speculation_counts();
        assert_eq!((counts.begun, counts.used, counts.wasted), (1, 1, 0));
    });
}

#[test]
fn what_is_old_or_written_over_is_read_again() {
    wait(async {
        for (why, age, paints) in [("too old", 31, false), ("written over", 0, true)] {
            let desk = Desk::with(DECODING, |count| look_up(count, 0));
            desk.ahead("look_up", BALL);
            desk.settle().await;
            desk.clock.pass_monotonic(Duration::from_secs(age));
            if paints {
                run(&desk.session, "paint", BALL).await;
            }
            let answer = run(&desk.session, "look_up", BALL).await;
            assert_eq!((answer.status, desk.looked_up()), (Status::Completed, 2), "{why}");
            let counts = desk.session.speculation_counts();
            assert_eq!((counts.begun, counts.used, counts.wasted), (1, 0, 1), "{why}");
        }
    });
}

#[test]
fn few_run_at_once_and_the_end_of_the_turn_ends_them() {
    wait(async {
        let desk = Desk::with(DECODING, |count| look_up(count, 5_000));
        for number in 0..6 {
            desk.ahead("look_up", &format!(r#"{{"id":"ball {number}"}}"#));
        }
        desk.ahead("look_up", r#"{"id":"ball 0"}"#);
        desk.settle().await;
        assert_eq!(desk.session.speculation_counts().begun, 4);
        // Those of a helper are its own.
        desk.session.end_speculation(Some("helper"));
        assert_eq!(desk.session.speculation_counts().wasted, 0);
        desk.session.end_speculation(None);
        desk.settle().await;
        let statuses: Vec<Status> = desk.receipts().iter().map(|one| one.status).collect();
        assert_eq!((statuses, desk.looked_up()), (vec![Status::Cancelled; 4], 0));
        let counts = desk.session.speculation_counts();
        assert_eq!((counts.used, counts.wasted), (0, 4));
    });
}

#[test]
fn repeated_wrong_guesses_pause_speculation() {
    wait(async {
        let options = r#""speculation":{"mode":"decoding","max_wasted":3,"pause_secs":60}"#;
        let desk = Desk::with(options, |count| look_up(count, 0));
        let begun = |number: usize| {
            desk.ahead("look_up", &format!(r#"{{"id":"ball {number}"}}"#));
            desk.session.end_speculation(None);
            desk.session.speculation_counts().begun
        };
        assert_eq!([begun(1), begun(2), begun(3), begun(4), begun(5)], [1, 2, 3, 3, 3]);
        desk.clock.pass_monotonic(Duration::from_secs(61));
        assert_eq!(begun(6), 4);
    });
}

#[test]
fn what_followed_before_runs_ahead_of_its_call() {
    wait(async {
        let desk = Desk::with(r#""speculation":{"mode":"pattern"}"#, |count| look_up(count, 0));
        for id in ["ball one", "ball two"] {
            let arguments = json!({ "id": id }).to_string();
            run(&desk.session, "paint", &arguments).await;
            run(&desk.session, "look_up", &arguments).await;
        }
        assert_eq!(desk.looked_up(), 2);
        run(&desk.session, "paint", r#"{"id":"ball three"}"#).await;
        desk.settle().await;
        assert_eq!(desk.looked_up(), 3, "it ran ahead");
        let answer = run(&desk.session, "look_up", r#"{"id":"ball three"}"#).await;
        assert!(answer.text.contains("ball three is red"), "{}", answer.text);
        assert_eq!(desk.looked_up(), 3, "and not again");
    });
}

#[test]
fn a_call_that_waits_for_what_runs_ahead_is_cancelled_with_it() {
    wait(async {
        let desk = Desk::with(DECODING, |count| look_up(count, 5_000));
        desk.ahead("look_up", BALL);
        desk.settle().await;
        let own = desk.session.clone();
        let mut made = call("look_up", BALL);
        made.id = "c1".to_owned();
        let waits = tokio::spawn(async move { own.call(made, Surroundings::default()).await });
        desk.settle().await;
        assert_eq!(desk.session.cancel("c1"), 1);
        let answer = waits.await.unwrap().unwrap();
        assert_eq!((answer.status, desk.looked_up()), (Status::Cancelled, 0));
        desk.settle().await;
        let statuses: Vec<Status> = desk.receipts().iter().map(|one| one.status).collect();
        assert_eq!(statuses, [Status::Cancelled; 2]);
    });
}

/// INVARIANT: receipts and audit log both record speculative calls and the origin of results, and
/// agree on the counts.
#[test]
fn the_audit_log_tells_what_ran_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let state = StateFolder::at(folder.path());
    let count = Arc::new(AtomicUsize::new(0));
    let options = format!(r#"{{"tools":{{{DECODING}}}}}"#);
    let options: GuardOptions = serde_json::from_str(&options).unwrap();
    let guard = Guard::builder()
        .state(state.clone())
        .settings(options.resolve().unwrap())
        .executor(look_up(&count, 0))
        .build()
        .unwrap();
    let session = session(&guard, "s");
    wait(async {
        session.speculate(call("look_up", BALL), &Surroundings::default(), Guess::Decoded);
        sleep(Duration::from_millis(60)).await;
        run(&session, "look_up", BALL).await;
    });
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let (mut lines, mut audited) = (Vec::new(), AuditStats::default());
    let read = AuditFiles::open(&state.audit()).unwrap().lines(&mut |line| {
        let line = line.unwrap();
        audited.add(&line);
        lines.push(line.entry);
        Reading::GoOn
    });
    read.unwrap();
    let ids: Vec<_> = lines.iter().map(|line| line.execution_id.clone().unwrap()).collect();
    for (id, line) in ids.iter().zip(&lines) {
        let links = guard.ledger().receipt(id).unwrap().unwrap().links;
        let recorded = (line.speculative, line.cached_from.clone());
        assert_eq!(recorded, (links.speculative, links.cached_from));
    }
    let marks = |line: &AuditEntry| (line.speculative, line.cached_from.clone());
    let expected = [(true, None), (false, Some(ids[0].clone()))];
    assert_eq!(lines.iter().map(marks).collect::<Vec<_>>(), expected);
    let mut stats = CallStats::default();
    guard.ledger().events("s").unwrap().iter().for_each(|event| stats.add(event));
    assert_eq!((audited.calls, audited.ran_ahead), (stats.calls, stats.ran_ahead));
    assert_eq!((stats.calls, stats.ran_ahead), (1, 1));
}
