//! A page of a long session is no slower than one of a short session.

use std::time::{Duration, Instant};

use counterfoil_ledger::{Closed, Draft, Links, Opened, Phase, Requested, TrustLevel};
use counterfoil_model::{Digest, ExecutionId, Origin, PermitBasis, Status};
use serde_json::json;

use super::desk::Desk;
use crate::test;

const RECEIPTS: u32 = 10_000;
const MOST_BYTES: usize = 200_000;
/// The limit for a release build; a debug build may take three times as long.
const MOST_TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 300 } else { 100 });

/// Text that becomes longest when escaped.
fn hostile(length: usize) -> String {
    "\"".repeat(length)
}

fn opened(number: u32) -> Opened {
    let arguments = json!({ "path": format!("notes/{number}.md"), "text": hostile(2_000) });
    Opened {
        execution_id: ExecutionId::format(
            "read_file",
            1_735_000_000_000 + u64::from(number),
            number,
        ),
        tool: "read_file".to_owned(),
        origin: Origin::Builtin,
        emitted_tool: None,
        call_id: format!("call_{number}"),
        caller_id: None,
        phase: Phase::Executor,
        requested: Requested::ByModel,
        model: None,
        emitted_digest: Digest::of_bytes(b"{}"),
        arguments_digest: Digest::of_json(&arguments),
        arguments: arguments.into(),
        permit: PermitBasis::Policy { rules: Vec::new() },
        trust: TrustLevel::Provisional,
        started_at: 1_735_999_999_123,
        trace: None,
        links: Links::default(),
        warnings: Vec::new(),
        emitted_arguments: None,
        rules: Vec::new(),
        id_shown: false,
    }
}

fn closed(opened: &Opened, result: &[u8]) -> Closed {
    Closed {
        execution_id: opened.execution_id.clone(),
        status: Status::Completed,
        category: None,
        exit_code: Some(0),
        truncated: false,
        kept_whole: false,
        attempts: 1,
        ended_at: 1_735_999_999_163,
        duration_us: 39_500,
        raw_digest: Digest::of_bytes(result),
        recorded_digest: Digest::of_bytes(result),
        side_effects: Vec::new(),
        confinement: None,
        background: None,
    }
}

#[test]
fn ten_thousand_receipts_of_hostile_text() {
    test(async {
        let desk = Desk::new().await;
        let ledger = desk.guard.ledger();
        for number in 0..RECEIPTS {
            let begun = opened(number);
            let result = format!("{number}{}", hostile(3_000)).into_bytes();
            let end = Draft::Closed(closed(&begun, &result));
            ledger.open_execution("long", begun, None).await.unwrap();
            ledger.append("long", end, vec![result]).await.unwrap();
        }
        desk.followed().await;
        let first = desk.get("/sessions/long").await;
        let other = first.text.split("rel=\"prev\" href=\"").nth(1).unwrap();
        let other = other.split('"').next().unwrap().to_owned();
        for path in ["/sessions/long", &other, "/", "/sessions", "/coverage"] {
            let mut best = Duration::MAX;
            for _ in 0..5 {
                let began = Instant::now();
                let response = desk.get(path).await;
                best = best.min(began.elapsed());
                assert_eq!(response.status, 200);
                assert!(response.text.len() <= MOST_BYTES, "{path}: {} bytes", response.text.len());
            }
            assert!(best <= MOST_TIME, "{path}: {best:?}");
        }
    });
}
