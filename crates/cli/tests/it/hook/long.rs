//! A session that lasts for days.

use super::stage::Stage;

/// The size in bytes: read and judged within seconds by an unoptimised build on a busy machine.
const LONG: u64 = 4 << 20;

#[test]
fn a_stop_reads_a_long_transcript_in_its_time() {
    let mut stage = Stage::with(&[("counterfoil.toml", "[hooks]\ntime_limit_ms = 60000\n")]);
    // Its tools do not call the hook, so only the transcript records them.
    stage.hooked = false;
    stage.user("Fix it.");
    stage.bash("cargo test", "test result: ok. 42 passed; 0 failed; 0 ignored\n");
    let source = "    let total = first + second; // what was asked for\n".repeat(1000);
    while std::fs::metadata(stage.transcript()).unwrap().len() < LONG {
        stage.bash("cat src/lib.rs", &source);
    }
    stage.edit("src/lib.rs");
    stage.bash_fails("cargo test", "test result: FAILED. 41 passed; 1 failed; 0 ignored\n");
    let reason = stage.stops("All tests pass.").reason();
    assert!(reason.contains("the latest test run failed"), "{reason}");
    stage.hears(&reason);
    stage.bash("cargo test", "test result: ok. 42 passed; 0 failed; 0 ignored\n");
    stage.stops("Now they have run: all 42 tests pass.").passes();
}
