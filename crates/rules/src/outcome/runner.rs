//! "mypy is clean", beside another linter that complains: a claim that names what ran is about that.

use super::extract::OutcomeClaim;
use super::judge::LOOK_BACK;
use crate::facts::{Facts, Run, RunEnd};

/// What is checked, with words of the programs that check it.
const TOPICS: [(&str, &[&str]); 2] = [
    ("format", &["fmt", "format", "gofmt", "rustfmt", "prettier", "black", "shfmt", "scalafmt"]),
    ("typ", &["mypy", "tsc", "pyright", "ty", "dmypy", "sorbet", "phpstan", "psalm"]),
];

/// The latest run of the very check that a claim names, where one ran.
pub(super) fn named_run(
    facts: &Facts<'_>,
    said: &OutcomeClaim,
    count: usize,
) -> Option<(usize, RunEnd)> {
    let check = said.check.as_deref()?;
    let named = |run: &&Run<'_>| run.family == said.family && is_called(&run.names, check);
    (0..count).rev().take(LOOK_BACK).find_map(|at| {
        let (_, deed) = facts.deed(at)?;
        let run = deed.shell.as_ref()?.runs.iter().find(named)?;
        Some((at, run.end()))
    })
}

/// Whether a run goes by the name, or checks what the name says.
fn is_called(names: &str, check: &str) -> bool {
    // What programs of many kinds do.
    const COMMON: [&str; 8] = ["test", "tests", "check", "lint", "build", "run", "spec", "suite"];
    let apart = |c: char| !c.is_alphanumeric();
    let has = |wanted: &str| names.split(apart).any(|name| name == wanted);
    let topic = TOPICS.iter().find(|(stem, _)| check.starts_with(stem));
    let mut words = check.split(apart).filter(|word| word.len() > 2 && !COMMON.contains(word));
    match topic {
        Some((_, programs)) => programs.iter().any(|program| has(program)),
        None => words.next().is_some_and(has) && words.all(has),
    }
}
