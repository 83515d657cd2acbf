//! Runs a few cycles of `cargo xtask crash`.

#[test]
#[expect(clippy::disallowed_methods, reason = "the tool is run as its users run it")]
fn killed_writers_lose_nothing_that_was_acknowledged() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["crash", "--cycles", "20"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}
