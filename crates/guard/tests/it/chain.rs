//! `admit → judge → open → execute → close → filter → answer`, and what each call leaves in the
//! records.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use counterfoil_guard::{
    Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture, CitationFault, FullText,
    FunctionExecutor, Guard, GuardSettings, PersonsDecision, SessionStart, ShowId, StateFolder,
    Surroundings, ToolError, ToolOutput,
};
use counterfoil_ledger::{
    AppendError, AuditFiles, Draft, Durability, LedgerSettings, LedgerUrl, Reading, TrustLevel,
};
use counterfoil_model::{PermitBasis, Role, Status, ToolErrorCategory};
use serde_json::{Value, json};

use crate::desk::{NOW, StillClock, call, cancel, run, session, shop, tool, wait};
use crate::server::Server;

/// Checks status, category and codes of one call.
#[track_caller]
fn check(tool: &str, arguments: &str, status: Status, category: Option<ToolErrorCategory>) {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let answer = wait(run(&session, tool, arguments));
    assert_eq!((answer.status, answer.category), (status, category), "{}", answer.text);
    let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
    assert_eq!((receipt.status, receipt.category), (status, category));
    assert_eq!(receipt.session_id, "s");
}

#[test]
fn every_call_has_a_receipt() {
    use Status::{Completed, Failed, Refused};
    use ToolErrorCategory::{InvalidParameters, PermanentFailure, ToolNotFound, TypeMismatch};
    check("get_order", r##"{"order_id":"#W1"}"##, Completed, None);
    check("get_order", r##"{"order_id":"#W9"}"##, Failed, Some(PermanentFailure));
    check("get_orders_of", "{}", Refused, Some(ToolNotFound));
    check("get_order", "{}", Refused, Some(InvalidParameters));
    check("get_order", r#"{"order_id":7}"#, Refused, Some(TypeMismatch));
    check("get_order", "{", Refused, Some(InvalidParameters));
    check("break_off", "{}", Failed, Some(PermanentFailure));
}

#[test]
fn a_tool_that_breaks_off_takes_nothing_with_it() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let answer = wait(run(&session, "break_off", "{}"));
    assert!(answer.text.contains("the tool stopped unexpectedly: oh no"), "{}", answer.text);
    let again = wait(run(&session, "get_order", r##"{"order_id":"#W1"}"##));
    assert_eq!(again.status, Status::Completed);
}

#[test]
fn a_call_that_is_given_up_leaves_a_cancelled_receipt() {
    let endless = FunctionExecutor::waiting(tool("wait", json!({}), None), |_: Value| async {
        std::future::pending::<Result<String, ToolError>>().await
    });
    let guard = shop().executor(endless).build().unwrap();
    let session = session(&guard, "s");
    wait(async {
        let running = session.call(call("wait", "{}"), Surroundings::default());
        let given_up = tokio::time::timeout(Duration::from_millis(20), running).await;
        assert!(given_up.is_err());
    });
    let events = guard.ledger().events("s").unwrap();
    let kinds: Vec<_> = events.iter().map(|event| &event.draft).collect();
    let [Draft::Began { .. }, Draft::Opened(opened), Draft::Closed(closed)] = kinds.as_slice()
    else {
        panic!("{kinds:?}")
    };
    assert_eq!(closed.execution_id, opened.execution_id);
    assert_eq!(closed.status, Status::Cancelled);
    let receipt = guard.ledger().receipt(&opened.execution_id).unwrap().unwrap();
    assert_eq!(receipt.status, Status::Cancelled);
}

#[test]
fn a_call_that_is_given_up_while_its_intent_is_written_is_cancelled_too() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut settings = GuardSettings::default();
    // Intents are written in groups, at an interval that is longer than this test waits.
    settings.ledger.durability = Durability::Batch;
    settings.ledger.group_interval = Duration::from_millis(300);
    let state = StateFolder::at(folder.path());
    let guard = shop().state(state).settings(settings).build().unwrap();
    let session = session(&guard, "s");
    wait(async {
        let arguments = r##"{"order_id":"#W1"}"##;
        let opening = session.call(call("get_order", arguments), Surroundings::default());
        // Polled once, so that the write is under way, then dropped.
        let mut opening = Box::pin(opening);
        std::future::poll_fn(|context| {
            assert!(opening.as_mut().poll(context).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        drop(opening);
        session.end().await.unwrap();
    });
    let events = guard.ledger().events("s").unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.draft.name()).collect();
    assert_eq!(kinds, ["began", "opened", "closed", "ended"]);
}

#[test]
fn a_tool_that_never_returns_is_given_up() {
    let endless = FunctionExecutor::waiting(tool("wait", json!({}), None), |_: Value| async {
        std::future::pending::<Result<String, ToolError>>().await
    });
    let settings =
        GuardSettings { longest_call: Duration::from_millis(20), ..GuardSettings::default() };
    let guard = shop().executor(endless).settings(settings).build().unwrap();
    let session = session(&guard, "s");
    let answer = wait(run(&session, "wait", "{}"));
    assert_eq!(answer.status, Status::Timeout);
    assert_eq!(answer.category, Some(ToolErrorCategory::Timeout));
}

/// A tool that counts how often it really ran, and fails so that it would be retried.
fn flaky(runs: &Arc<AtomicUsize>, failures: usize, idempotent: bool) -> FunctionExecutor {
    let mut definition = tool("flaky", json!({}), Some(false));
    definition.effects.idempotent = Some(idempotent);
    let runs = Arc::clone(runs);
    FunctionExecutor::new(definition, move |_: &Value| {
        if runs.fetch_add(1, Ordering::SeqCst) < failures {
            return Err(ToolError::new(ToolErrorCategory::ServerError, "try again"));
        }
        Ok("fine")
    })
}

#[test]
fn what_may_help_is_tried_again_and_counted_in_the_receipt() {
    for (failures, idempotent, runs, status) in [
        (0, true, 1, Status::Completed),
        (1, true, 2, Status::Completed),
        (1, false, 1, Status::Failed),
    ] {
        let ran = Arc::new(AtomicUsize::new(0));
        let mut settings = GuardSettings { quota: Some(1), ..GuardSettings::default() };
        settings.retry.base = Duration::ZERO;
        let guard =
            shop().executor(flaky(&ran, failures, idempotent)).settings(settings).build().unwrap();
        let session = session(&guard, "s");
        let answer = wait(run(&session, "flaky", "{}"));
        assert_eq!((answer.status, ran.load(Ordering::SeqCst)), (status, runs));
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!(receipt.attempts, u32::try_from(runs).unwrap());
    }
}

#[test]
fn a_batch_cannot_overshoot_the_quota() {
    let settings = GuardSettings { quota: Some(5), ..GuardSettings::default() };
    let guard = shop().settings(settings).build().unwrap();
    let session = session(&guard, "s");
    let answers = wait(async {
        let calls = (0..20).map(|n| {
            let session = session.clone();
            tokio::spawn(async move {
                run(&session, "get_order", &format!("{{\"order_id\":\"#W{}\"}}", 100 + n)).await
            })
        });
        let mut answers = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            answers.push(call.await.unwrap());
        }
        answers
    });
    let ran = answers.iter().filter(|answer| answer.status == Status::Completed).count();
    let blocked: Vec<_> =
        answers.iter().filter(|answer| answer.codes == ["quota_blocked"]).collect();
    assert_eq!((ran, blocked.len()), (5, 15));
    assert!(
        blocked.iter().all(|answer| answer.text.contains("quota") || answer.text.contains('5'))
    );
    assert_eq!(guard.ledger().calls_made("s").unwrap(), 5);
}

struct Somebody(bool);

impl Approver for Somebody {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply> {
        assert_eq!((request.session, request.call_id, request.questions.len()), ("s", "", 1));
        let declined = || ApprovalReply::Declined {
            by: "maria".to_owned(),
            reason: Some("not before noon".to_owned()),
        };
        let agreed = || ApprovalReply::Agreed(Approval::by("maria").because("the user wants it"));
        Box::pin(async move { if self.0 { agreed() } else { declined() } })
    }
}

#[test]
fn the_receipt_names_who_agreed() {
    let asking = || cancel().asking("it cannot be undone");
    let maria = PermitBasis::Approval {
        who: "maria".to_owned(),
        reason: Some("the user wants it".to_owned()),
        uses: None,
    };
    for (approver, status, permit) in [
        (None, Status::Denied, None),
        (Some(false), Status::Denied, None),
        (Some(true), Status::Completed, Some(maria)),
    ] {
        let mut builder = Guard::builder().clock(StillClock::at(NOW)).executor(asking());
        if let Some(agrees) = approver {
            builder = builder.approver(Arc::new(Somebody(agrees)));
        }
        let guard = builder.build().unwrap();
        let session = session(&guard, "s");
        let answer = wait(run(&session, "cancel_order", r##"{"order_id":"#W1"}"##));
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!((answer.status, receipt.permit), (status, permit));
        if approver.is_none() {
            assert_eq!(answer.category, Some(ToolErrorCategory::ConfirmationRequired));
            assert!(answer.questions[0].why.contains("it cannot be undone"));
        } else if status == Status::Denied {
            assert_eq!(answer.codes, ["approval_declined"]);
            assert!(answer.text.contains("maria did not approve this call: not before noon"));
        }
    }
}

#[test]
fn an_approval_holds_for_one_call_with_these_arguments_once() {
    let guard = Guard::builder()
        .clock(StillClock::at(NOW))
        .executor(cancel().asking("it cannot be undone"))
        .build()
        .unwrap();
    let session = session(&guard, "s");
    let ask = |id: &str| wait(run(&session, "cancel_order", &format!("{{\"order_id\":\"{id}\"}}")));
    let question = ask("#W1").questions.remove(0);
    guard.approvals().grant("s", &question, Approval::by("maria"));
    assert_eq!(ask("#W2").status, Status::Denied, "other arguments");
    assert_eq!(ask("#W1").status, Status::Completed);
    assert_eq!(ask("#W1").status, Status::Denied, "used up");
    guard.approvals().grant("s", &question, Approval::by("maria").for_session());
    assert_eq!([ask("#W1").status, ask("#W1").status], [Status::Completed; 2], "for the session");
}

/// The ledger is on disk, so that another process honours the approval; only one of many calls uses
/// it up.
#[test]
fn an_approval_that_was_given_ahead_is_in_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let state = StateFolder::at(folder.path());
    let clock = StillClock::at(NOW);
    let guard = || {
        let guard = Guard::builder().clock(clock.clone()).state(state.clone());
        guard.executor(cancel().asking("it cannot be undone")).build().unwrap()
    };
    let ask = |guard: &Guard, session: &str, id: &str| {
        let session = self::session(guard, session);
        wait(run(&session, "cancel_order", &format!("{{\"order_id\":\"{id}\"}}")))
    };
    let first = ask(&guard(), "s", "#W1");
    assert_eq!(first.status, Status::Denied);
    let receipt = guard().ledger().receipt(&first.execution_id).unwrap().unwrap();
    let approve = |approval: Approval| {
        let guard = guard();
        let digest = receipt.arguments_digest;
        wait(guard.approve("s", "cancel_order", digest, approval)).unwrap();
    };
    approve(Approval::by("ada").because("the customer called"));
    let guard = guard();
    assert_eq!(ask(&guard, "s", "#W2").status, Status::Denied, "other arguments");
    assert_eq!(ask(&guard, "t", "#W1").status, Status::Denied, "another session");
    let done = ask(&guard, "s", "#W1");
    let permit = guard.ledger().receipt(&done.execution_id).unwrap().unwrap().permit;
    let Some(PermitBasis::Approval { who, reason, uses: Some(_) }) = permit else {
        panic!("{permit:?}")
    };
    assert_eq!((who.as_str(), reason.as_deref()), ("ada", Some("the customer called")));
    assert_eq!(ask(&guard, "s", "#W1").status, Status::Denied, "used up");
    approve(Approval::by("ada"));
    clock.pass(Duration::from_secs(601));
    assert_eq!(ask(&guard, "s", "#W1").status, Status::Denied, "too old");
    approve(Approval::by("ada").for_session());
    clock.pass(Duration::from_secs(601));
    assert_eq!([0, 1].map(|_| ask(&guard, "s", "#W1").status), [Status::Completed; 2]);
}

#[test]
fn a_refusal_holds_until_somebody_agrees() {
    let guard = Guard::builder().executor(cancel().asking("it cannot be undone")).build().unwrap();
    let session = self::session(&guard, "s");
    let ask = || wait(run(&session, "cancel_order", "{\"order_id\":\"#W1\"}"));
    let first = ask();
    let receipt = guard.ledger().receipt(&first.execution_id).unwrap().unwrap();
    assert!(receipt.waits_for_approval());
    let digest = receipt.arguments_digest;
    let approve = |approval| wait(guard.approve("s", "cancel_order", digest, approval)).unwrap();
    let decline = || {
        let (by, why) = ("ada".to_owned(), Some("it was shipped".to_owned()));
        wait(guard.decline("s", "cancel_order", digest, by, why)).unwrap();
    };
    // Earlier approvals are void, in the ledger and in this process.
    approve(Approval::by("bob").for_session());
    let question = &first.questions[0];
    for approval in [Approval::by("bob"), Approval::by("bob").for_session()] {
        guard.approvals().grant("s", question, approval);
    }
    decline();
    let refused = ask();
    assert_eq!(refused.status, Status::Denied);
    let message = "ada did not approve this call: it was shipped";
    assert!(refused.text.contains(message), "{}", refused.text);
    let receipt = guard.ledger().receipt(&refused.execution_id).unwrap().unwrap();
    assert_eq!(receipt.codes, ["approval_declined"]);
    assert!(!receipt.waits_for_approval());
    let other = wait(run(&session, "cancel_order", "{\"order_id\":\"#W2\"}"));
    assert!(!other.text.contains(message), "other arguments are another call");
    approve(Approval::by("bob"));
    assert_eq!(ask().status, Status::Completed);
    assert!(ask().text.contains("approval first"), "used up, and not refused");
}

/// When several people decide on a call at the same time, in any process, only one succeeds.
#[test]
fn a_call_is_decided_on_once() {
    let server = shared();
    let shared = server.as_ref().map(|server| LedgerUrl::new(server.schema("decisions")));
    for url in std::iter::once(None).chain(shared.map(Some)) {
        let folder = tempfile::tempdir().unwrap();
        let guard = || {
            let ledger = LedgerSettings { url: url.clone(), ..LedgerSettings::default() };
            let guard = Guard::builder().state(StateFolder::at(folder.path()));
            let guard = guard.settings(GuardSettings { ledger, ..GuardSettings::default() });
            guard.executor(cancel().asking("it cannot be undone")).build().unwrap()
        };
        decided_on_once(&guard(), &guard());
    }
}

#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
fn shared() -> Option<Server> {
    match Server::start(&["fsync=off"]) {
        Ok(server) => Some(server),
        Err(why) => {
            eprintln!("SKIPPED: a decision was not tried on PostgreSQL: {why}");
            None
        }
    }
}

fn decided_on_once(first: &Guard, second: &Guard) {
    let session = self::session(first, "s");
    let ask = || wait(run(&session, "cancel_order", "{\"order_id\":\"#W1\"}"));
    let denied = ask();
    let receipt = second.ledger().receipt(&denied.execution_id).unwrap().unwrap();
    let agree = || PersonsDecision::Agree(Approval::by("ada"));
    let refuse = || PersonsDecision::Refuse { by: "bob".to_owned(), reason: None };
    let decided = |guard: &Guard, decision| wait(guard.decide(&receipt, decision, receipt.seq));
    assert_eq!(decided(first, agree()), Ok(()));
    for decision in [agree(), refuse()] {
        assert_eq!(decided(second, decision), Err(AppendError::DecidedMeanwhile));
    }
    assert_eq!(ask().status, Status::Completed);
    assert_eq!(decided(second, agree()), Err(AppendError::DecidedMeanwhile), "it was used up");
    assert_eq!(ask().status, Status::Denied);
    // A person who knows of the decision may revoke it. Other calls are not affected.
    let seen = second.ledger().events("s").unwrap().last().unwrap().session_seq;
    assert_eq!(wait(second.decide(&receipt, refuse(), seen)), Ok(()));
    assert!(ask().text.contains("bob did not approve"));
    let other = wait(run(&session, "cancel_order", "{\"order_id\":\"#W2\"}"));
    let other = second.ledger().receipt(&other.execution_id).unwrap().unwrap();
    assert_eq!(wait(second.decide(&other, agree(), other.seq)), Ok(()));
}

/// A program gets the recorded result; a model may get less of it, and notes.
#[test]
fn a_program_reads_the_result_as_it_is_recorded() {
    let long = "x".repeat(200_000);
    let text = long.clone();
    let log = FunctionExecutor::new(tool("log", json!({}), None), move |_: &Value| {
        Ok::<_, ToolError>(text.clone())
    });
    let settings = GuardSettings { show_id: ShowId::Trailer, ..GuardSettings::default() };
    let guard = shop().executor(log).settings(settings).build().unwrap();
    let session = session(&guard, "s");
    let read = |verbatim: bool| {
        let around = Surroundings { verbatim, ..Surroundings::default() };
        wait(session.call(call("log", "{}"), around)).unwrap()
    };
    let (program, model) = (read(true), read(false));
    assert!(program.text == long && !program.truncated);
    assert!(model.truncated && model.text.contains(&model.execution_id), "{}", model.text.len());
}

/// INVARIANT: receipt and audit log agree on whether the tool cut its output. If the record is
/// complete, it can be used to show what is missing.
#[test]
fn receipt_and_audit_log_agree_on_what_was_cut() {
    let full = |cut: bool| Some(FullText { text: "one\ntwo\n".to_owned(), cut });
    for (truncated, full, expected) in [
        (false, None, (false, false)),
        (true, None, (true, false)),
        (true, full(false), (true, true)),
        (true, full(true), (true, false)),
        (false, full(false), (false, false)),
    ] {
        let output = ToolOutput { truncated, full, ..ToolOutput::from("one\n") };
        let log = FunctionExecutor::new(tool("log", json!({}), None), move |_: &Value| {
            Ok::<_, ToolError>(output.clone())
        });
        let folder = tempfile::TempDir::new().unwrap();
        let state = StateFolder::at(folder.path());
        let guard = shop().state(state.clone()).executor(log).build().unwrap();
        let session = session(&guard, "s");
        let answer = wait(run(&session, "log", "{}"));
        let receipt = answer.receipt(&guard).unwrap().unwrap();
        assert_eq!((receipt.truncated, receipt.kept_whole), expected);
        let mut audited = Vec::new();
        let files = AuditFiles::open(&state.audit()).unwrap();
        let read = files.lines(&mut |line| {
            audited.push(line.unwrap().entry.truncated);
            Reading::GoOn
        });
        read.unwrap();
        assert_eq!(audited, [receipt.truncated]);
        let transcript = session.transcript().unwrap();
        let mut outcomes = transcript.messages.iter().flat_map(|message| &message.outcomes);
        let partial = receipt.truncated && !receipt.kept_whole;
        assert_eq!(outcomes.next().map(|outcome| outcome.truncated), Some(partial));
    }
}

#[test]
fn hidden_thinking_is_stripped_at_admission_and_recorded_nowhere() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let arguments = r##"{"_tafc_think":"the boss is wrong","order_id":"#W1"}"##;
    let answer = wait(run(&session, "get_order", arguments));
    assert_eq!(answer.status, Status::Completed);
    let refused = r##"{"_tafc_think":"the boss is wrong","order":"#W1"}"##;
    assert_eq!(wait(run(&session, "get_order", refused)).status, Status::Refused);
    let loud = r##"{"_TAFC_THINK":"the boss is wrong","order_id":"#W1"}"##;
    assert_eq!(wait(run(&session, "get_order", loud)).status, Status::Completed);
    let events = guard.ledger().events("s").unwrap();
    let all = serde_json::to_string(&events).unwrap();
    assert!(!all.contains("boss") && !all.to_lowercase().contains("_tafc_think"), "{all}");
    assert!(all.contains("#W1"));
}

#[test]
fn secrets_are_redacted_before_anything_is_stored() {
    let secret = ["sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"].concat();
    let key = secret.clone();
    let leaky = FunctionExecutor::new(
        tool("leak", json!({ "token": { "type": "string" } }), Some(false)),
        move |_: &Value| Ok(json!({ "key": key, "note": "kept" })),
    );
    let guard = shop().executor(leaky).build().unwrap();
    let session = session(&guard, "s");
    let arguments = json!({ "token": secret }).to_string();
    let answer = wait(run(&session, "leak", &arguments));
    wait(session.verify(&format!("The key is {secret}."))).unwrap();
    let mut all = serde_json::to_string(&guard.ledger().events("s").unwrap()).unwrap();
    all += &session.transcript().map(|t| format!("{t:?}")).unwrap();
    all += &format!("{answer:?}");
    assert!(!all.contains(&secret), "{all}");
    assert!(all.contains("kept"));
}

#[test]
fn the_id_is_shown_where_the_surface_wants_it() {
    for (show_id, expected) in [
        (ShowId::Metadata, "order #W1 has been cancelled".to_owned()),
        (ShowId::Trailer, "order #W1 has been cancelled\n(execution_id: ID)".to_owned()),
        (
            ShowId::Embed,
            json!({
                "execution_id": "ID",
                "tool_name": "cancel_order",
                "result": "order #W1 has been cancelled",
                "executed_at": "2025-01-04T14:13:19.123Z",
            })
            .to_string(),
        ),
    ] {
        let settings = GuardSettings { show_id, ..GuardSettings::default() };
        let guard = shop().settings(settings).build().unwrap();
        let session = session(&guard, "s");
        let answer = wait(run(&session, "cancel_order", r##"{"order_id":"#W1"}"##));
        assert_eq!(answer.text.replace(&answer.execution_id, "ID"), expected);
        let again = session.shown_results().unwrap();
        assert_eq!(again.get(&answer.execution_id), Some(&answer.text), "after a resumption");
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        let result = guard.ledger().result(&receipt.recorded_digest.unwrap()).unwrap().unwrap();
        assert_eq!(result, b"order #W1 has been cancelled", "the recorded result is the raw one");
    }
}

#[test]
fn hosts_that_execute_tools_themselves_get_receipts_too() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let arguments = json!({ "host": "example.org" }).into();
    let track = || session.track("ping", &arguments, Surroundings::default());
    let (completed, failed, dropped) = wait(async {
        let completed = track().await.unwrap().complete(json!({ "up": true })).await.unwrap();
        let failing = track().await.unwrap();
        let failed = failing.fail(ToolErrorCategory::NetworkError, "no route").await.unwrap();
        let dropped = track().await.unwrap().execution_id().to_owned();
        (completed.execution_id, failed.execution_id, dropped)
    });
    for (id, status) in
        [(&completed, Status::Completed), (&failed, Status::Failed), (&dropped, Status::Cancelled)]
    {
        let receipt = guard.ledger().receipt(id).unwrap().unwrap();
        assert_eq!((receipt.status, receipt.permit), (status, Some(PermitBasis::Host)));
    }
}

#[test]
fn a_cited_execution_is_accepted_or_there_is_one_reason() {
    let clock = StillClock::at(NOW);
    let guard = shop().clock(clock.clone()).build().unwrap();
    let (ours, other) = (session(&guard, "ours"), session(&guard, "other"));
    let (good, bad, foreign) = wait(async {
        (
            run(&ours, "get_order", r##"{"order_id":"#W1"}"##).await.execution_id,
            run(&ours, "get_order", r##"{"order_id":"#W9"}"##).await.execution_id,
            run(&other, "get_order", r##"{"order_id":"#W1"}"##).await.execution_id,
        )
    });
    let window = Some(Duration::from_secs(300));
    let cited = |id: &str, tool: &str| {
        ours.cited(id, tool, window).unwrap().map(|_| ()).map_err(|not| not.reason)
    };
    use CitationFault::{
        ExecutionExpired, ExecutionIdNotFound, ExecutionIncomplete, MalformedId, ToolNameMismatch,
    };
    assert_eq!(cited(&good, "get_order"), Ok(()));
    assert_eq!(cited(&good, "cancel_order"), Err(ToolNameMismatch));
    assert_eq!(cited(&bad, "get_order"), Err(ExecutionIncomplete));
    assert_eq!(cited(&foreign, "get_order"), Err(ExecutionIdNotFound));
    assert_eq!(cited("get_order_1735999999123_deadbeef", "get_order"), Err(ExecutionIdNotFound));
    assert_eq!(cited("W1", "get_order"), Err(MalformedId));
    // A wall clock that jumps back does not make anything younger.
    clock.pass_monotonic(Duration::from_secs(301));
    clock.set_wall(NOW - 1_000_000);
    assert_eq!(cited(&good, "get_order"), Err(ExecutionExpired));
    clock.pass(Duration::from_secs(0));
    assert!(ours.cited(&good, "get_order", None).unwrap().is_ok());
}

#[test]
fn trust_of_a_turn_is_never_more_than_the_sessions() {
    let guard = shop().build().unwrap();
    let start = SessionStart {
        id: Some("s".to_owned()),
        trust: TrustLevel::Provisional,
        ..SessionStart::default()
    };
    let session = guard.session(start).unwrap();
    for (requested, recorded) in [
        (None, TrustLevel::Provisional),
        (Some(TrustLevel::Trusted), TrustLevel::Provisional),
        (Some(TrustLevel::Untrusted), TrustLevel::Untrusted),
    ] {
        let around = Surroundings { trust: requested, ..Surroundings::default() };
        let answer =
            wait(session.call(call("get_order", r##"{"order_id":"#W1"}"##), around)).unwrap();
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!(receipt.trust, recorded);
    }
}

/// INVARIANT: a model that keeps making invalid calls is told to stop, until the user sends a
/// message or a call succeeds.
#[test]
fn corrections_of_a_turn_are_bounded() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let wrong = || wait(run(&session, "get_order", r#"{"order_id": 7}"#)).text;
    let stops = |text: &str| text.contains("make no further calls of this kind");
    for _ in 0..3 {
        assert!(!stops(&wrong()));
    }
    assert!(stops(&wrong()));
    wait(session.hear(Role::User, "go on")).unwrap();
    assert!(!stops(&wrong()));
    wait(run(&session, "get_order", r##"{"order_id": "#W1"}"##));
    for _ in 0..3 {
        assert!(!stops(&wrong()));
    }
    assert!(stops(&wrong()));
}
