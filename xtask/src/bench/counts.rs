//! Counts the instructions for verification with valgrind. Times vary by a fifth between runs;
//! instruction counts vary by a thousandth.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The benches to count, by name; the first is the baseline.
const COUNTED: [&str; 4] = ["bare_parse", "verify_indexed", "verify", "verify_with_calls"];
/// The number of runs in the shorter of two counts. The longer has ten times as many; the
/// difference excludes the cost of starting.
const RUNS: u64 = 10;

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn counts() -> Result<()> {
    let binary = bench()?;
    let mut floor = None;
    for name in COUNTED {
        let more = collected(&binary, name, 10 * RUNS)? - collected(&binary, name, RUNS)?;
        let each = more / (9 * RUNS);
        let floor = *floor.get_or_insert(each);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let parses = each as f64 / floor as f64;
        println!("{name:<18} {each:>9} instructions = {parses:.2} bare parses of the results");
    }
    Ok(())
}

/// Builds the benches and returns the binary.
#[expect(clippy::disallowed_methods, reason = "a developer tool builds what it counts")]
fn bench() -> Result<PathBuf> {
    let cargo = Command::new("cargo")
        .args(["bench", "-p", "counterfoil-rules", "--bench", "verification", "--locked"])
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cargo does not run")?;
    ensure!(cargo.status.success(), "the benches cannot be built");
    let built = String::from_utf8_lossy(&cargo.stdout);
    let messages = built.lines().filter_map(|line| serde_json::from_str(line).ok());
    let of_bench = |message: serde_json::Value| {
        let is_ours = message.pointer("/target/name")?.as_str() == Some("verification");
        is_ours.then(|| message.get("executable")?.as_str().map(PathBuf::from))?
    };
    messages.filter_map(of_bench).next_back().context("cargo names no executable of the benches")
}

/// Returns the instructions of a number of runs of one bench, including its start.
#[expect(clippy::disallowed_methods, reason = "a developer tool runs what it counts")]
fn collected(binary: &Path, name: &str, runs: u64) -> Result<u64> {
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(binary)
        .args(["--bench", "--exact", &format!("verification::{name}")])
        .args(["--sample-size", "1", "--sample-count"])
        .arg(runs.to_string())
        .output()
        .context("valgrind is not installed: Debian's package is `valgrind`")?;
    let stderr = String::from_utf8_lossy(&valgrind.stderr);
    let count = stderr.lines().find_map(|line| line.split_once("Collected :"));
    let (_, count) = count.with_context(|| format!("valgrind counts nothing: {stderr}"))?;
    Ok(count.trim().parse()?)
}
