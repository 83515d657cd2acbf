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

/// Calls `apply` with the new options whenever a file changes, as long as the future is polled.
/// Unusable files change nothing.
pub(crate) async fn follow(place: Place, apply: impl Fn(&Options) -> anyhow::Result<()>) {
    let mut before = looks(&place);
    loop {
        tokio::time::sleep(EVERY).await;
        let now = looks(&place);
        if now == before {
            continue;
        }
        before = now;
        let told = match config::find(&place).and_then(|found| apply(&found.options)) {
            Ok(()) => {
                "note: configuration reloaded: changes to servers and to the rules for calls are \
                 now in effect"
                    .to_owned()
            }
            Err(error) => format!(
                "warning: the changed configuration is invalid, so the previous one stays in \
                 effect: {error:#}"
            ),
        };
        // Standard error may be closed; the change applies anyway.
        writeln!(io::stderr(), "{told}").ok();
    }
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
