//! Benchmark: building a case from a 10 MB session that is already read, and reading that session.

use std::fmt::Write as _;
use std::sync::LazyLock;

use counterfoil_judge::{Ask, Case};
use counterfoil_model::{Format, Message, Outcome, Role, ToolCall, Transcript};
use counterfoil_record::Record;

static SESSION: LazyLock<Transcript> = LazyLock::new(|| {
    let mut transcript = Transcript::new("t", Format::OpenaiChat);
    for at in 0..3_000 {
        let mut text = String::new();
        for row in 0..60 {
            let _ = writeln!(
                text,
                "row {row} of part {at}: value {} and some more words",
                at * 977 + row
            );
        }
        let id = at.to_string();
        let call = ToolCall::new(&id, "Bash", format!("{{\"command\": \"cat part{at}.txt\"}}"));
        let outcome = Outcome { call_id: id, text, ..Outcome::default() };
        let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
        let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
        transcript.messages.extend([calls, results]);
    }
    let answer = "All parts are read. Part 41 has the value 40057, and `part2999.txt` has 60 rows.";
    transcript.messages.push(Message::text(Role::Assistant, answer));
    transcript
});

fn main() {
    divan::main();
}

#[divan::bench]
fn case(bencher: divan::Bencher<'_, '_>) {
    let record = Record::new(&SESSION);
    let facts = record.up_to(SESSION.messages.len() - 1);
    bencher.bench(|| Case::new(facts, &Ask::default()).map(|case| case.text()));
}

#[divan::bench(sample_count = 10)]
fn record() -> usize {
    Record::new(&SESSION).lines().len()
}
