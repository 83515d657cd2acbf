//! A process that lasts follows its configuration files.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::config::{self, Files, Options, Place};

/// How often the files are looked at.
const EVERY: Duration = Duration::from_millis(250);

/// A file by its place, its time and its length; the last two where it is there.
type Looks = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// Gives what the files say to `apply` as soon as it changes, for as long as it is waited for.
/// Files that cannot be used change nothing.
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
                "note: the configuration changed: what it says of servers and of what calls may do \
                 is in force now"
                    .to_owned()
            }
            Err(error) => format!(
                "warning: the configuration changed and cannot be used, so what is in force stays \
                 as it was: {error:#}"
            ),
        };
        // Nobody may read standard error any more; what is in force is so all the same.
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
