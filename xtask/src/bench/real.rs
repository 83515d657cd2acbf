//! Verifies answers of real agents against everything recorded before them.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use counterfoil_model::Role;
use counterfoil_rules::{Indexed, Settings};

use crate::corpus::rows;

/// The names of the sets of real sessions.
const SETS: [&str; 3] = ["tau1", "workbench", "coding"];
/// The length of the answers to verify, in bytes: about 2 kB.
const LENGTHS: std::ops::RangeInclusive<usize> = 1_500..=2_500;
/// The number of times each is verified; the fastest counts.
const ROUNDS: usize = 9;

/// Prints the time to verify the answers of each set in a folder, with indexed records.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(super) fn measure(data: &Path, settings: &Settings) -> Result<()> {
    for set in SETS {
        let path = data.join(format!("{set}.jsonl.gz"));
        let rows = rows::read(&path)?;
        let mut times: Vec<Duration> = Vec::new();
        for mut session in rows.into_iter().map(|row| row.transcript) {
            let answers = session.messages.iter().enumerate();
            let answers = answers.filter(|(_, m)| m.role == Role::Assistant);
            let long: Vec<usize> = answers
                .filter(|(_, m)| LENGTHS.contains(&m.text.len()))
                .map(|(at, _)| at)
                .collect();
            // From the last to the first, because each step truncates the session after the answer.
            for at in long.into_iter().rev() {
                session.messages.truncate(at + 1);
                let indexed = Indexed::new(&session);
                let verify = || {
                    let begin = Instant::now();
                    black_box(indexed.check_from(settings, at));
                    begin.elapsed()
                };
                verify();
                times.extend((0..ROUNDS).map(|_| verify()).min());
            }
        }
        times.sort_unstable();
        let share =
            |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        println!(
            "{:4} answers of {set:<10} median {:.1?}, nine of ten below {:.1?}, slowest {:.1?}",
            times.len(),
            share(50),
            share(90),
            times.last().copied().unwrap_or_default(),
        );
    }
    Ok(())
}
