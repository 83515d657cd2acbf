//! Filters the output of test runs and builds:
//! `cargo bench -p counterfoil-tools --bench filter`. The goal is 100 MB/s.

use counterfoil_tools::{FilterCall, FilterPipeline, FilterSettings};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

const BYTES: usize = 8_000_000;

fn main() {
    divan::main();
}

fn repeated(lines: &[&str], last: &str) -> String {
    let mut text = String::with_capacity(BYTES + 200);
    for (number, line) in lines.iter().cycle().enumerate() {
        if text.len() >= BYTES {
            break;
        }
        text.push_str(&line.replace("{}", &number.to_string()));
        text.push('\n');
    }
    text + last
}

fn filtered(bencher: Bencher<'_, '_>, command: &str, text: &str) {
    let pipeline = FilterPipeline::new(&FilterSettings::default());
    let commands = [command.to_owned()];
    let call = FilterCall { commands: &commands, failed: false };
    bencher
        .counter(BytesCount::of_str(text))
        .bench_local(|| pipeline.apply(black_box(text), &call).left_out);
}

#[divan::bench]
fn cargo_tests_that_pass(bencher: Bencher<'_, '_>) {
    let lines = [
        "   Compiling crate-{} v1.0.0",
        "test parser::tests::keeps_spans_of_case_{} ... ok",
        "test reader::tests::reads_nothing_twice_{} ... ok",
    ];
    filtered(bencher, "cargo test", &repeated(&lines, "test result: ok. 9 passed; 0 failed\n"));
}

#[divan::bench]
fn a_build_of_which_everything_stays(bencher: Bencher<'_, '_>) {
    let lines = [
        "warning: unused variable: `number_{}`",
        "  --> crates/tools/src/filter/pipeline.rs:{}:9",
        "   |     let number = 3;",
    ];
    filtered(bencher, "cargo build", &repeated(&lines, "    Finished `dev` profile\n"));
}

#[divan::bench]
fn logs_full_of_errors(bencher: Bencher<'_, '_>) {
    let lines = [
        "2026-11-02T12:00:01.123Z INFO request {} served in 12 ms path=/api/v1/orders status=200",
        "2026-11-02T12:00:01.124Z ERROR request {} failed: connection to the database refused",
    ];
    filtered(bencher, "kubectl logs api", &repeated(&lines, ""));
}
