//! What the shell keeps for each session: a temporary folder, and commands in the background.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_model::ToolErrorCategory;
use tempfile::TempDir;

use super::background::Background;
use crate::ToolError;

/// The maximum number of commands per session in the background.
const MOST_RUNS: usize = 16;

/// State by session id. Dropping it ends every command and removes every folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Sessions(Arc<Mutex<BTreeMap<String, Kept>>>);

#[derive(Debug, Default)]
struct Kept {
    temporary: Option<TempDir>,
    runs: BTreeMap<String, Arc<Background>>,
    started: u64,
}

impl Sessions {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The temporary folder of a session, which no other session uses and which is removed at its
    /// end.
    pub(super) fn temporary(&self, session: &str, base: &Path) -> io::Result<PathBuf> {
        let mut sessions = self.kept();
        let kept = sessions.entry(session.to_owned()).or_default();
        if let Some(folder) = &kept.temporary
            && folder.path().is_dir()
        {
            return Ok(folder.path().to_owned());
        }
        // Unpredictable, and accessible to its owner only.
        let folder = tempfile::Builder::new().prefix("counterfoil-").tempdir_in(base)?;
        let path = folder.path().canonicalize()?;
        kept.temporary = Some(folder);
        Ok(path)
    }

    /// Starts a command in the background, and returns its name in the session.
    pub(super) fn start(
        &self,
        session: &str,
        start: impl FnOnce() -> Result<Background, ToolError>,
    ) -> Result<String, ToolError> {
        let mut sessions = self.kept();
        let kept = sessions.entry(session.to_owned()).or_default();
        let running = kept.runs.values().filter(|run| run.look().2.is_none()).count();
        if running >= MOST_RUNS {
            let message = format!("{MOST_RUNS} commands are already running in the background");
            return Err(ToolError::new(ToolErrorCategory::PolicyBlocked, message));
        }
        let run = start()?;
        kept.started += 1;
        let name = format!("run-{}", kept.started);
        kept.runs.insert(name.clone(), Arc::new(run));
        Ok(name)
    }

    /// The command of this name, which must belong to this session.
    pub(super) fn run(&self, session: &str, name: &str) -> Result<Arc<Background>, ToolError> {
        let sessions = self.kept();
        let run = sessions.get(session).and_then(|kept| kept.runs.get(name));
        run.cloned().ok_or_else(|| {
            let message = format!("this session has no background run `{name}`");
            ToolError::new(ToolErrorCategory::InvalidParameters, message)
        })
    }

    /// Ends everything that belongs to a session.
    pub(super) fn end(&self, session: &str) {
        let kept = self.kept().remove(session);
        // Outside the lock, because removing a folder may take time.
        drop(kept);
    }
}
