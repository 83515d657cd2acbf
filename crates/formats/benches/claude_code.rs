//! Benchmark: reading a Claude Code log compared with a bare parse of the same lines.
//! Run with `cargo bench -p counterfoil-formats`.

use std::hint::black_box;

use counterfoil_formats::{Options, read};
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// About 24 MB of realistic session lines: a call, its result (recorded twice), an answer.
fn log() -> String {
    let output = "src/lib.rs:12: let total = items.iter().sum::<u64>();\\n\\tok \\\"quoted\\\"\\n";
    let mut log = String::new();
    for turn in 0..1500 {
        let result = output.repeat(60);
        let envelope = format!(
            "\"parentUuid\":\"p{turn}\",\"isSidechain\":false,\"userType\":\"external\",\
             \"cwd\":\"/project\",\"sessionId\":\"s\",\"version\":\"2.0\",\"gitBranch\":\"main\",\
             \"timestamp\":\"2026-02-01T10:00:00.000Z\""
        );
        log.push_str(&format!(
            "{{{envelope},\"uuid\":\"a{turn}\",\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\
             \"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{turn}\",\
             \"name\":\"Bash\",\"input\":{{\"command\":\"grep -rn total src\"}}}}],\
             \"usage\":{{\"input_tokens\":1,\"output_tokens\":2}}}}}}\n\
             {{{envelope},\"uuid\":\"u{turn}\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\
             \"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{turn}\",\
             \"content\":\"{result}\"}}]}},\"toolUseResult\":{{\"stdout\":\"{result}\",\
             \"stderr\":\"\",\"interrupted\":false}}}}\n\
             {{{envelope},\"uuid\":\"b{turn}\",\"type\":\"assistant\",\"message\":{{\"id\":\"n\",\
             \"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\
             \"text\":\"The total is summed in `src/lib.rs`.\"}}]}}}}\n"
        ));
    }
    log
}

#[divan::bench(sample_count = 10)]
fn reader(bencher: divan::Bencher<'_, '_>) {
    let log = log();
    bencher.counter(BytesCount::of_str(&log)).bench(|| {
        let mut messages = 0;
        let read = read(log.as_bytes(), &Options::new("bench"), &mut |reading| {
            messages += reading.transcript.messages.len();
        });
        black_box((read.is_ok(), messages))
    });
}

#[divan::bench(sample_count = 10)]
fn bare_parse(bencher: divan::Bencher<'_, '_>) {
    let log = log();
    bencher.counter(BytesCount::of_str(&log)).bench(|| {
        let mut values = 0;
        for line in log.lines() {
            let value: Result<serde_json::Value, _> = serde_json::from_str(line);
            values += usize::from(black_box(value).is_ok());
        }
        values
    });
}
