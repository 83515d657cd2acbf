//! Numbers are approved, recorded and run exactly as they were written.
#![expect(clippy::disallowed_methods, reason = "the audit log is a file")]

use std::sync::{Arc, Mutex};

use counterfoil_guard::{
    Admitted, Approval, Asking, ByApproval, ByPolicy, ExecutorId, ExecutorKind, FunctionExecutor,
    Guard, HostedCall, Judged, Permit, Scene, StateFolder, Surroundings, ToolError, ToolExecutor,
    ToolOutput,
};
use counterfoil_model::{Effects, Origin, Status, Tool};
use serde_json::Value;

use crate::desk::{NOW, StillClock, call, run, session, wait};

/// Different numbers that are the same double.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("1234567890123456789", "1234567890123456700"),
    ("9007199254740993", "9007199254740992"),
    ("-9223372036854775808", "-9223372036854775807"),
    ("18446744073709551615", "18446744073709551614"),
    ("18446744073709551616", "18446744073709551617"),
    (
        "115792089237316195423570985008687907853269984665640564039457584007913129639935",
        "115792089237316195423570985008687907853269984665640564039457584007913129639936",
    ),
    ("0.1000000000000000000001", "0.1"),
    ("100.00000000000000001", "100"),
    ("1e-400", "0"),
];

/// A tool that requires confirmation and keeps what it was given.
struct Pays(Arc<Mutex<Vec<String>>>);

impl Pays {
    fn pay(&self, call: &Admitted) -> Option<ToolOutput> {
        self.0.lock().unwrap().push(call.exact_arguments().to_string());
        Some(ToolOutput::from("paid".to_owned()))
    }
}

impl ToolExecutor for Pays {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Native, "pay")
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        vec![Tool::named("pay")]
    }

    fn owns(&self, tool: &str) -> bool {
        tool == "pay"
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        _: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        Ok(self.pay(permit.call()))
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        _: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        Ok(self.pay(permit.call()))
    }

    fn requires_confirmation(&self, _: &Admitted, _: &Scene<'_>) -> Option<String> {
        Some("it is money".to_owned())
    }

    fn is_tool_retryable(&self, _: &str) -> bool {
        false
    }

    fn is_tool_speculatable(&self, _: &str) -> bool {
        false
    }
}

#[test]
fn an_approval_is_of_one_number_and_not_of_its_neighbours() {
    for (number, other) in NEIGHBOURS {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(folder.path());
        let ran = Arc::new(Mutex::new(Vec::new()));
        let guard = || {
            let guard = Guard::builder().clock(StillClock::at(NOW)).state(state.clone());
            guard.executor(Pays(Arc::clone(&ran))).build().unwrap()
        };
        let pay = |guard: &Guard, number: &str| {
            let session = session(guard, "s");
            wait(run(&session, "pay", &format!("{{\"to\": [{{\"id\": {number}}}]}}")))
        };
        let first = pay(&guard(), number);
        assert_eq!(first.status, Status::Denied);
        let shown = format!("{{\"to\":[{{\"id\":{number}}}]}}");
        assert_eq!(first.questions[0].call, format!("pay {shown}"), "what is asked");
        // Another process approves it, like `approve` and the dashboard do.
        let theirs = guard();
        let receipt = theirs.ledger().receipt(&first.execution_id).unwrap().unwrap();
        assert_eq!(receipt.arguments.to_string(), shown, "what is approved");
        let approval = Approval::by("ada");
        wait(theirs.approve("s", "pay", receipt.arguments_digest, approval)).unwrap();
        drop(theirs);
        let guard = guard();
        assert_eq!(pay(&guard, other).status, Status::Denied, "{other} after {number}");
        let done = pay(&guard, number);
        assert_eq!(done.status, Status::Completed, "{number}");
        assert_eq!(*ran.lock().unwrap(), std::slice::from_ref(&shown), "what runs");
        let exported = guard.ledger().export(&done.execution_id).unwrap().unwrap();
        assert_eq!(exported.verify(&guard.ledger().public_key()), Ok(()));
        assert_eq!(exported.receipt.arguments.to_string(), shown, "what is recorded");
        let body = &exported.events[0].body;
        assert!(body.contains(&shown) && body.ends_with(",\"version\":2}"), "{body}");
        let audit = std::fs::read_to_string(state.audit()).unwrap();
        assert!(audit.lines().last().unwrap().contains(&shown), "{audit}");
        let transcript = session(&guard, "s").transcript().unwrap();
        let calls = transcript.messages.iter().flat_map(|message| &message.calls);
        let last = calls.last().unwrap().arguments.as_str();
        assert!(last.contains(number), "{last}");
    }
}

#[test]
fn one_number_is_one_call_however_it_is_written() {
    for ways in [
        ["1", "1.0", "1e0"],
        ["1234567890123456789", "1234567890123456789.0", "12345678901234567890e-1"],
        ["0.1000000000000000000001", "0.10000000000000000000010", "1000000000000000000001e-22"],
        ["123456789012345678901", "1.23456789012345678901E+20", "123456789012345678901.000"],
    ] {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let guard = Guard::builder().executor(Pays(Arc::clone(&ran))).build().unwrap();
        let session = session(&guard, "s");
        let digests = ways.map(|number| {
            let answer = wait(run(&session, "pay", &format!("{{\"id\": {number}}}")));
            guard.ledger().receipt(&answer.execution_id).unwrap().unwrap().arguments_digest
        });
        assert_eq!(digests, [digests[0]; 3], "{ways:?}");
    }
}

#[test]
fn results_are_cached_by_every_digit_and_functions_take_what_they_can_hold() {
    let effects = Effects { writes: Some(false), idempotent: Some(true), ..Effects::default() };
    let tool = Tool { effects, origin: Origin::Builtin, ..Tool::named("look") };
    let look = FunctionExecutor::new(tool, |arguments: &Value| {
        Ok::<_, ToolError>(format!("{}", arguments["id"]))
    });
    let guard = Guard::builder().executor(look).build().unwrap();
    let session = session(&guard, "s");
    let look = |number: &str| wait(run(&session, "look", &format!("{{\"id\":{number}}}")));
    for number in ["1234567890123456789", "1234567890123456700", "9007199254740993", "1.5"] {
        let first = look(number);
        assert_eq!((first.text.as_str(), first.status), (number, Status::Completed));
        let receipt = guard.ledger().receipt(&look(number).execution_id).unwrap().unwrap();
        assert_eq!(receipt.links.cached_from, Some(first.execution_id));
    }
    // A Rust function gets plain JSON values, which cannot hold such a number: it must not get a
    // different one.
    for number in ["123456789012345678901", "0.1000000000000000000001", "1e-400"] {
        let refused = look(number);
        assert_eq!(refused.status, Status::Failed, "{number}");
        assert!(
            refused.text.contains(&format!("the number {number} at `/id`")),
            "{}",
            refused.text
        );
    }
}

#[test]
fn hosts_get_the_arguments_they_sent() {
    for (number, other) in NEIGHBOURS {
        let guard = Guard::builder().build().unwrap();
        let session = guard.host_session(counterfoil_guard::SessionStart::default()).unwrap();
        let before = |number: &str| {
            let mut call = call("pay", &format!("{{\"id\":{number}}}"));
            call.id = format!("call_{number}");
            let hosted = HostedCall::of_unknown(call, Origin::External);
            let around = Surroundings::default();
            let before = wait(session.before(&hosted, &around, Asking::Unattended)).unwrap();
            assert!(matches!(before.judged, Judged::Allowed { .. }), "{before:?}");
            guard.ledger().receipt(&before.execution_id.unwrap()).unwrap().unwrap()
        };
        let (one, two) = (before(number), before(other));
        assert_eq!(one.arguments.to_string(), format!("{{\"id\":{number}}}"));
        assert_ne!(one.arguments_digest, two.arguments_digest);
    }
}
