//! Identifies the sub-agent that is speaking, if an event does not say it.

use std::fs;
use std::path::{Path, PathBuf};

/// A sub-agent's log.
pub(crate) struct SubAgentLog {
    pub(crate) path: PathBuf,
    /// The name of the log, which is also the sub-agent's.
    pub(crate) name: String,
}

/// The marker that is written after a sub-agent's last message.
const END: &[u8] = br#"{"$set":{"summary":"#;

/// The number of bytes at the end of a log that are read.
const TAIL: u64 = 64 * 1024;

/// The only sub-agent in a folder of logs that has not ended; `None` if several are running.
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
