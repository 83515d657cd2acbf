//! Reloads the configuration in long-running processes.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::config::{self, Files, Options, Place};

/// The interval between checks of the files.
const EVERY: Duration = Duration::from_millis(250);

/// A file's path, and its modification time and length if it exists.
type Looks = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// Calls `apply` with the new options whenever a file changes, and `tell` with the result, as long
/// as the future is polled. Unusable files change nothing.
pub(crate) async fn follow<T>(
    place: Place,
    apply: impl Fn(Options) -> anyhow::Result<T>,
    tell: impl Fn(anyhow::Result<T>),
) {
    let mut before = looks(&place);
    loop {
        tokio::time::sleep(EVERY).await;
        let now = looks(&place);
        if now == before {
            continue;
        }
        before = now;
        tell(config::find(&place).and_then(|found| apply(found.options)));
    }
}

/// Prints the outcome of a reload to standard error.
pub(crate) fn announce(outcome: anyhow::Result<()>) {
    let line = match outcome {
        Ok(()) => {
            "note: configuration reloaded: changes to servers and to the rules for calls are now \
             in effect; other changes need a restart"
                .to_owned()
        }
        Err(error) => format!("warning: {}", invalid(&error)),
    };
    // Standard error may be closed; the change applies anyway.
    writeln!(io::stderr(), "{line}").ok();
}

/// Says that nothing was reloaded, and why.
pub(crate) fn invalid(error: &anyhow::Error) -> String {
    format!("the changed configuration is invalid, so the previous one stays in effect: {error:#}")
}

fn looks(place: &Place) -> Looks {
    let project = (place.files == Files::Found).then(config::project_file).flatten();
    let files = config::user_file(place).into_iter().chain(project);
    let look = |path: PathBuf| {
        let file = fs::metadata(&path).ok();
        let look = file.and_then(|file| Some((file.modified().ok()?, file.len())));
        (path, look)
    };
    files.map(look).collect()
}
