//! Which sub-agent speaks, where an event does not say it.

use std::fs;
use std::path::{Path, PathBuf};

/// A sub-agent's log.
pub(crate) struct SubAgentLog {
    pub(crate) path: PathBuf,
    /// Its name, which is the sub-agent's.
    pub(crate) name: String,
}

/// What is written behind a sub-agent's last word.
const END: &[u8] = br#"{"$set":{"summary":"#;

/// How much of the end of a log is looked at.
const TAIL: u64 = 64 * 1024;

/// The one sub-agent of a folder of logs that has not ended; `None` where several go on.
pub(crate) fn who_speaks(folder: &Path) -> Option<SubAgentLog> {
    let logs = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut going_on = logs
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .filter(|path| !has_ended(path));
    let path = going_on.next()?;
    let name = path.file_stem()?.to_string_lossy().into_owned();
    going_on.next().is_none().then_some(SubAgentLog { path, name })
}

fn has_ended(log: &Path) -> bool {
    let Ok(bytes) = crate::memory::tail(log, TAIL) else { return false };
    memchr::memmem::find(&bytes, END).is_some()
}
