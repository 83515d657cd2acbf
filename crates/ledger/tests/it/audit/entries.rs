//! The content of a line.

use counterfoil_ledger::{AuditEntry, AuditResult, Egress, ExitCode, Phase, TrustLevel};
use counterfoil_model::{Digest, ToolErrorCategory};
use serde_json::{Value, json};

use super::Shelf;

fn full() -> AuditEntry {
    AuditEntry {
        tool: "shell".to_owned(),
        call: json!({ "command": "cargo test" }).into(),
        result: AuditResult::Error {
            message: "3 tests failed".to_owned(),
            category: ToolErrorCategory::PermanentFailure,
        },
        trust: TrustLevel::Trusted,
        approved_by: Some("ada".to_owned()),
        exit_code: ExitCode::Code(101),
        truncated: true,
        egress: Vec::new(),
        claim_source: Some("file".to_owned()),
        phase: Phase::Verifier,
        session_id: Some("s1".to_owned()),
        caller_id: Some("tester".to_owned()),
        policy_match: Some("allow cargo".to_owned()),
        adversarial_policy_decision: Some("ALLOW".to_owned()),
        warnings: Vec::new(),
        execution_id: Some("shell_1793620800000_9f3a01bc".to_owned()),
        correlation_id: Some("trace-7".to_owned()),
        speculative: false,
        cached_from: None,
        server: None,
    }
}

fn egress(blocked: Option<&str>) -> Egress {
    Egress {
        host: "example.com:443".to_owned(),
        address: blocked.is_none().then_some([192, 0, 2, 1].into()),
        method: "GET".to_owned(),
        status: blocked.is_none().then_some(200),
        bytes: 12,
        blocked: blocked.map(str::to_owned),
    }
}

/// The format published as version 1. Such lines must be readable for ever.
#[test]
fn the_form_of_version_1() {
    let shelf = Shelf::new();
    let log = shelf.open();
    log.append(&full()).unwrap();
    log.append(&AuditEntry::new("fetch", json!({}), AuditResult::Success)).unwrap();
    let golden = include_str!("../../fixtures/audit-1.jsonl");
    assert_eq!(std::fs::read_to_string(shelf.path()).unwrap(), golden);
}

#[test]
fn what_is_written_is_read() {
    let blocked = AuditEntry {
        exit_code: ExitCode::Missing("blocked before it started".to_owned()),
        result: AuditResult::Blocked {
            reason: "sudo is never run".to_owned(),
            category: ToolErrorCategory::PolicyBlocked,
        },
        ..full()
    };
    let rollback = AuditResult::Rollback {
        restored: 2,
        deleted: 1,
        category: ToolErrorCategory::PermanentFailure,
    };
    let entries = [
        full(),
        blocked,
        AuditEntry::new("t", json!(null), AuditResult::Success),
        AuditEntry::new("t", json!([1, "x"]), AuditResult::Timeout),
        AuditEntry::new("t", json!({"a": {"b": 1.5}}), rollback),
        AuditEntry { speculative: true, ..full() },
        AuditEntry { cached_from: Some("shell_1793620800000_00000001".to_owned()), ..full() },
        AuditEntry { server: Some("shop".to_owned()), ..full() },
        AuditEntry { egress: vec![egress(None), egress(Some("denied"))], ..full() },
    ];
    let shelf = Shelf::new();
    let log = shelf.open();
    entries.iter().for_each(|entry| log.append(entry).unwrap());
    let lines = shelf.lines();
    let shown: String = lines.iter().map(|l| l.as_ref().unwrap().json().unwrap() + "\n").collect();
    assert_eq!(shown, std::fs::read_to_string(shelf.path()).unwrap());
    let read: Vec<AuditEntry> = lines.into_iter().map(|line| line.unwrap().entry).collect();
    assert_eq!(read, entries);
}

/// Every failure has a category, in the types and in the file.
#[test]
fn every_failed_call_has_its_category() {
    let shelf = Shelf::filled(40);
    for line in std::fs::read_to_string(shelf.path()).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["result"] != "success", line["error_category"].is_string(), "{line}");
    }
    for line in shelf.lines() {
        let result = line.unwrap().entry.result;
        assert_eq!(result.category().is_some(), result != AuditResult::Success);
    }
}

#[test]
fn no_secret_and_no_thinking_is_written() {
    let token = format!("{}{}", "ghp_", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let entry = AuditEntry {
        result: AuditResult::Error {
            message: format!("401 for {token}"),
            category: ToolErrorCategory::PermanentFailure,
        },
        exit_code: ExitCode::Missing(format!("no login with {token}")),
        approved_by: Some(token.clone()),
        policy_match: Some(token.clone()),
        correlation_id: Some(token.clone()),
        ..AuditEntry::new(
            "http",
            json!({
                "_tafc_think": "the user seems upset",
                "_tafc_think_step_2": { "more": "upset" },
                "_TAFC_Think_3": "upset",
                "deep": [{ "_tafc_think": "upset", "password": "hunter2" }],
                "header": format!("Authorization: Bearer {token}"),
            }),
            AuditResult::Success,
        )
    };
    let raw = AuditEntry::new(
        "http",
        json!("{\"_tafc_think\": \"upset\", \"broken"),
        AuditResult::Error {
            message: "not JSON".to_owned(),
            category: ToolErrorCategory::InvalidParameters,
        },
    );
    let shelf = Shelf::new();
    let log = shelf.open();
    log.append(&entry).unwrap();
    log.append(&raw).unwrap();
    let text = std::fs::read_to_string(shelf.path()).unwrap();
    for gone in [token.as_str(), "upset", "_tafc_think", "hunter2"] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
    let calls: Vec<Value> =
        shelf.lines().into_iter().map(|l| l.unwrap().entry.call.value().clone()).collect();
    let expected = [
        json!({
            "deep": [{ "password": "[REDACTED:password]" }],
            "header": "Authorization: Bearer [REDACTED:auth_token]",
        }),
        json!({ "left_out": "hidden thinking" }),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn long_calls_are_cut_and_their_digest_kept() {
    let long = "word ".repeat(10_000);
    let many: Vec<String> = (0..500).map(|n| format!("{n} {}", "x y ".repeat(1000))).collect();
    let shelf = Shelf::new();
    let log = shelf.open();
    log.append(&AuditEntry::new("t", json!({ "text": long }), AuditResult::Success)).unwrap();
    log.append(&AuditEntry::new("t", json!({ "many": many }), AuditResult::Success)).unwrap();
    let calls: Vec<Value> =
        shelf.lines().into_iter().map(|l| l.unwrap().entry.call.value().clone()).collect();
    let kept = &long[..16 * 1024];
    let digest = Digest::of_bytes(long.as_bytes());
    let expected = [
        json!({ "text": format!("{kept}… (33616 more bytes, SHA-256 {digest})") }),
        json!({ "left_out": "too long", "digest": Digest::of_json(&json!({ "many": many })) }),
    ];
    assert_eq!(calls, expected);
    assert!(shelf.verify(None).sound());
}
