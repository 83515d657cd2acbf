//! Benchmarks the call rules on a long log: `cargo bench -p counterfoil-rules --bench call_rules`.

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall, Transcript};
use counterfoil_rules::{Settings, check};
use divan::Bencher;

fn main() {
    divan::main();
}

/// 40,000 calls, 200 MB of results.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn judge_a_long_log(bencher: Bencher<'_, '_>) {
    let filler = "a line of output that says nothing in particular\n".repeat(100);
    let mut log = Transcript::new("long", Format::OpenaiChat);
    for n in 0..40_000_u32 {
        let arguments = format!(r#"{{"path":"src/part_{n}/file_{n}.rs","order_id":"W{n:07}"}}"#);
        let call = ToolCall::new(format!("c{n}"), "read_file", arguments);
        let outcome = Outcome {
            call_id: format!("c{n}"),
            text: format!("{filler} W{:07}", n + 1),
            is_error: Some(n % 10 == 0),
            ..Outcome::default()
        };
        let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
        let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
        log.messages.extend([calls, results]);
    }
    bencher.bench_local(|| check(&log, &Settings::default()).findings.len());
}
