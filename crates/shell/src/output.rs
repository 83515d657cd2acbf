use crate::activity::{ActivityKind, Git};

mod build;
mod counts;
mod git;
mod line;
mod lint;
mod run_summary;
mod status_text;
mod tally;
mod tests_compiled;
mod tests_script;

pub use build::stopped_elsewhere;
pub use git::commit_of;
pub use line::strip_ansi;
pub use run_summary::{OutputVerdict, RunSummary};
pub use status_text::exit_code_in_text;

use line::lines;
use tally::Tally;

/// Whether the output contains lines that only a run of this kind prints, which shows that it
/// started.
#[must_use]
pub fn shows_run(output: &str, kind: ActivityKind) -> bool {
    match kind {
        ActivityKind::Push => lines(output).any(|line| git::is_of_remote(&line.text)),
        ActivityKind::VersionControl(Git::PullRequest) => {
            lines(output).any(|line| git::is_of_pull_request(&line.text))
        }
        ActivityKind::Test => {
            let ran = summary(output, kind);
            [ran.passed, ran.failed].into_iter().flatten().any(|tests| tests > 0)
        }
        _ => false,
    }
}

/// Reads the result lines of known runners in one pass.
///
/// Which lines count depends on `kind`: `error:` decides in the output of a compiler, but means
/// nothing in the log of a test run.
#[must_use]
pub fn summary(output: &str, kind: ActivityKind) -> RunSummary {
    let mut tally = Tally::default();
    for line in lines(output) {
        if line.text.is_empty() {
            continue;
        }
        tally.at(line.range);
        let text = line.text.as_ref();
        match kind {
            ActivityKind::Test => {
                let _ = tests_compiled::read(text, &mut tally)
                    || tests_script::read(text, &mut tally)
                    || build::stops(text, &mut tally);
                build::breaks(text, &mut tally);
            }
            ActivityKind::Build => {
                let _ = build::stops(text, &mut tally) || build::read(text, &mut tally);
            }
            ActivityKind::Lint | ActivityKind::Format => {
                let _ = build::stops(text, &mut tally)
                    || lint::read(text, &mut tally)
                    || build::read(text, &mut tally);
            }
            ActivityKind::Commit => {
                let _ = git::commit(text, &mut tally) || build::stops(text, &mut tally);
                lint::hooks(text, &mut tally);
            }
            ActivityKind::Push => {
                let _ = git::push(text, &mut tally) || build::stops(text, &mut tally);
            }
            ActivityKind::VersionControl(_) => {
                git::other(text, &mut tally);
            }
            ActivityKind::Install
            | ActivityKind::Fetch
            | ActivityKind::Deploy
            | ActivityKind::Publish => {
                let _ = build::stops(text, &mut tally) || build::transfer(text, &mut tally);
            }
            ActivityKind::Run => {
                let _ = build::stops(text, &mut tally);
                build::breaks(text, &mut tally);
            }
            ActivityKind::Read => {}
        }
    }
    tally.finish(kind)
}
