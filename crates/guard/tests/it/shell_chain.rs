//! Shell commands through the whole chain, and their receipts.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use counterfoil_guard::{
    Answer, Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture, Draft, Guard,
    GuardSettings, Session, SessionStart, ShellExecutor, Surroundings, TrustLevel,
};
use counterfoil_model::{PermitBasis, SideEffect};
use counterfoil_model::{
    Status,
    ToolErrorCategory::{self, ConfirmationRequired, PermanentFailure, PolicyBlocked, Timeout},
};
use serde_json::json;
use tempfile::TempDir;

use crate::desk::{call, wait};

/// Always agrees.
struct Yes;

impl Approver for Yes {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply> {
        Box::pin(async { ApprovalReply::Agreed(Approval::by("maria")) })
    }
}

struct Bench {
    folder: TempDir,
    guard: Guard,
    session: Session,
}

fn bench(trust: TrustLevel, approver: Option<Arc<dyn Approver>>) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let settings = GuardSettings::default();
    let shell = ShellExecutor::new(settings.shell.clone());
    let guard = Guard::builder().settings(settings).executor(shell).workspace(folder.path());
    let guard = match approver {
        Some(approver) => guard.approver(approver),
        None => guard,
    };
    let guard = guard.build().unwrap();
    let session = guard.session(SessionStart { trust, ..SessionStart::default() }).unwrap();
    Bench { folder, guard, session }
}

impl Bench {
    fn run(&self, command: &str) -> Answer {
        self.call("shell", json!({ "command": command, "timeout_secs": 1 }))
    }

    fn call(&self, tool: &str, arguments: serde_json::Value) -> Answer {
        let call = call(tool, &arguments.to_string());
        wait(self.session.call(call, Surroundings::default())).unwrap()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }
}

/// INVARIANT: doubts appear in the answer, the receipt and the audit log, and block nothing; the
/// reason for a failure is in the audit log, too.
#[test]
fn doubts_and_reasons_stand_wherever_the_call_does() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = GuardSettings::default();
    let guard = crate::desk::shop()
        .state(counterfoil_guard::StateFolder::at(state.path()))
        .executor(ShellExecutor::new(settings.shell.clone()))
        .settings(settings)
        .workspace(folder.path())
        .build()
        .unwrap();
    let start = SessionStart { trust: TrustLevel::Trusted, ..SessionStart::default() };
    let session = guard.session(start).unwrap();
    let run = |tool: &str, arguments: serde_json::Value| {
        let call = call(tool, &arguments.to_string());
        wait(session.call(call, Surroundings::default())).unwrap()
    };
    let doubtful = run("get_order", json!({ "order_id": "<order_id>" }));
    let codes: Vec<&str> = doubtful.warnings.iter().map(|issue| issue.code.0).collect();
    assert_eq!(codes, ["PLACEHOLDER_VALUE"], "{doubtful:#?}");
    let receipt = doubtful.receipt(&guard).unwrap().unwrap();
    let failed = run("shell", json!({ "command": "cat nothing-here" }));
    let codes: Vec<&str> = failed.warnings.iter().map(|issue| issue.code.0).collect();
    assert_eq!(codes, ["UNGROUNDED_PATH"], "{failed:#?}");
    assert_eq!(failed.envelope.map(|envelope| envelope.exit_code), Some(1));
    let mut log = String::new();
    File::open(state.path().join("audit.jsonl")).unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("ended with exit code 1: "), "{log}");
    assert_eq!(receipt.warnings, ["PLACEHOLDER_VALUE"]);
    for code in ["PLACEHOLDER_VALUE", "UNGROUNDED_PATH"] {
        assert!(log.contains(&format!(r#""warnings":["{code}"]"#)), "{log}");
    }
}

#[test]
fn a_command_has_a_receipt_with_its_exit_code_category_and_effects() {
    let bench = bench(TrustLevel::Trusted, None);
    let cases: [(&str, Status, Option<ToolErrorCategory>, Option<i32>, &[&str]); 7] = [
        ("echo made > file", Status::Completed, None, Some(0), &["file"]),
        ("cat file", Status::Completed, None, Some(0), &[]),
        ("cat missing", Status::Failed, Some(PermanentFailure), Some(1), &[]),
        ("echo more >> file; exit 3", Status::Failed, Some(PermanentFailure), Some(3), &["file"]),
        ("no_such_command_here", Status::Failed, Some(PermanentFailure), Some(127), &[]),
        ("./file", Status::Failed, Some(PolicyBlocked), Some(126), &[]),
        ("sleep 1000", Status::Timeout, Some(Timeout), Some(137), &[]),
    ];
    for (command, status, category, exit_code, wrote) in cases {
        let answer = bench.run(command);
        assert_eq!((answer.status, answer.category), (status, category), "{command}");
        assert_eq!(answer.exit_code, exit_code, "{command}");
        assert_eq!(answer.text.contains("[tool_error]"), category.is_some(), "{}", answer.text);
        let receipt = bench.guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!((receipt.status, receipt.category), (status, category), "{command}");
        assert_eq!(receipt.exit_code, exit_code, "{command}");
        let wrote: Vec<SideEffect> =
            wrote.iter().map(|name| SideEffect::Wrote(bench.path().join(name))).collect();
        assert_eq!(receipt.side_effects, wrote, "{command}");
        assert_eq!(receipt.confinement.unwrap().profile, "off", "{command}");
    }
}

#[test]
fn no_trust_lets_a_blocked_command_through() {
    for trust in [TrustLevel::Untrusted, TrustLevel::Provisional, TrustLevel::Trusted] {
        let bench = bench(trust, Some(Arc::new(Yes)));
        for tool in ["shell", "bash"] {
            let answer = bench.call(tool, json!({ "command": "touch ran; sudo true" }));
            assert_eq!((answer.status, answer.category), (Status::Denied, Some(PolicyBlocked)));
            assert_eq!(answer.codes, ["blocked_command"]);
        }
        assert!(!bench.path().join("ran").exists());
    }
}

#[test]
fn what_nothing_confines_needs_approval_unless_the_turn_is_trusted() {
    let cases = [
        // Trust, whether a person can agree, command, whether it runs, who agreed.
        (TrustLevel::Trusted, false, "touch x", true, None),
        (TrustLevel::Provisional, false, "ls", true, None),
        (TrustLevel::Provisional, false, "touch x", false, None),
        (TrustLevel::Provisional, true, "touch x", true, Some("maria")),
        (TrustLevel::Untrusted, false, "ls", true, None),
        (TrustLevel::Untrusted, false, "touch x", false, None),
        (TrustLevel::Untrusted, true, "touch x", true, Some("maria")),
    ];
    for (trust, somebody, command, runs, who) in cases {
        let bench = bench(trust, somebody.then(|| Arc::new(Yes) as Arc<dyn Approver>));
        let answer = bench.run(command);
        let receipt = bench.guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        let (status, category) = match runs {
            true => (Status::Completed, None),
            false => (Status::Denied, Some(ConfirmationRequired)),
        };
        assert_eq!((receipt.status, receipt.category), (status, category), "{trust:?} {command}");
        let agreed = match receipt.permit {
            Some(PermitBasis::Approval { who, .. }) => Some(who),
            _ => None,
        };
        assert_eq!(agreed.as_deref(), who, "{trust:?} {command}");
        assert_eq!(bench.path().join("x").exists(), runs && command == "touch x");
    }
}

#[test]
fn a_dropped_call_leaves_a_cancelled_receipt_and_no_orphan() {
    let bench = bench(TrustLevel::Trusted, None);
    assert_eq!(bench.run("mkfifo pipe").status, Status::Completed);
    let path = bench.path().join("pipe");
    let ((up, is_up), (gone, is_gone)) = (channel(), channel());
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(File::open(path).unwrap());
        let mut line = String::new();
        pipe.read_line(&mut line).unwrap();
        up.send(line).unwrap();
        pipe.read_to_end(&mut Vec::new()).unwrap();
        gone.send(()).unwrap();
    });
    let command = "sh -c 'sleep 1000 & echo up; sleep 1000' > pipe & sleep 1000";
    let patience = Duration::from_secs(60);
    wait(async {
        let call = call("shell", &json!({ "command": command }).to_string());
        let running = bench.session.call(call, Surroundings::default());
        let started = tokio::task::spawn_blocking(move || is_up.recv_timeout(patience).unwrap());
        tokio::select! {
            answer = running => panic!("it ended: {answer:?}"),
            line = started => assert_eq!(line.unwrap(), "up\n"),
        }
    });
    is_gone.recv_timeout(patience).unwrap();
    let events = bench.guard.ledger().events(bench.session.id()).unwrap();
    let Some(Draft::Closed(closed)) = events.last().map(|event| &event.draft) else {
        panic!("{events:?}")
    };
    assert_eq!(closed.status, Status::Cancelled);
}
