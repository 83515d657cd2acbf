use std::sync::{Arc, Mutex};

use counterfoil_admission::Fixation;
use counterfoil_ledger::{AppendError, Draft};
use counterfoil_tools::ToolResultCache;

use super::{Conduct, Record, Session, SessionStart, Shared};
use crate::guard::Guard;
use crate::repeated::{recall, remembered};
use crate::speculation::SpeculationEngine;

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginSessionError {
    /// The session's record could not be read.
    #[error("the record of the session cannot be read: {0}")]
    Unreadable(#[from] counterfoil_ledger::ReadLedgerError),
    /// The beginning of the session could not be recorded.
    #[error("the start of the session cannot be recorded: {0}")]
    NotRecorded(#[from] AppendError),
    /// No id could be made.
    #[error(transparent)]
    NoRandomness(#[from] counterfoil_ledger::RandomnessError),
    /// The id is not valid for a session.
    #[error("`{0}` is not a valid session id")]
    BadId(String),
}

impl Guard {
    /// Begins a session, or continues an earlier one.
    ///
    /// # Errors
    /// When the ledger's record of the session cannot be read.
    pub fn session(&self, start: SessionStart) -> Result<Session, BeginSessionError> {
        let id = self.session_id(&start)?;
        Session::begin(self, id, start)
    }

    /// Begins or continues a session whose calls a host executes. Earlier records are read only
    /// when needed, so the cost does not depend on the length of the session.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn host_session(&self, start: SessionStart) -> Result<Session, BeginSessionError> {
        let id = self.session_id(&start)?;
        Session::hosted(self, id, start)
    }

    /// The id for a new session.
    fn session_id(&self, start: &SessionStart) -> Result<String, BeginSessionError> {
        match &start.id {
            None => Ok(self.new_session_id()?),
            Some(id) if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) => {
                Err(BeginSessionError::BadId(id.clone()))
            }
            Some(id) => Ok(id.clone()),
        }
    }

    fn new_session_id(&self) -> Result<String, counterfoil_ledger::RandomnessError> {
        let mut unique = [0; 8];
        self.randomness().fill(&mut unique)?;
        let millis = self.clock().wall();
        Ok(format!("session-{millis:013}-{:016x}", u64::from_be_bytes(unique)))
    }
}

impl Session {
    fn begin(guard: &Guard, id: String, start: SessionStart) -> Result<Self, BeginSessionError> {
        let (ledger, tools) = (guard.ledger(), guard.toolset());
        let mut record = Record::new(&id, Some(&tools));
        let mut fixation = Fixation::new(guard.settings().fixation.clone());
        // A session with a new id has no history.
        if start.id.is_some() {
            record.catch_up(&id, ledger)?;
            record.calls.made = ledger.calls_made(&id)?;
        }
        // The session's history in other processes counts, too.
        if record.calls.made > 0 {
            (fixation, _) = remembered(ledger, &id, None, &guard.settings().fixation)?;
            if guard.policy().settings.utility.enabled() {
                recall(guard, &id, &mut record.calls)?;
            }
        }
        if record.tools() != Some(tools.digest) {
            let (model, parent) = (start.model.clone(), start.parent.clone());
            let at = guard.clock().wall();
            let draft = Draft::Began { tools: tools.digest, model, parent, at };
            let event = ledger.append(&id, draft, vec![tools.list.clone()]).wait()?;
            record.note(event, vec![tools.list.clone()]);
        }
        record.listed = Some(tools.digest);
        Ok(Self::with(guard, id, start, record, Conduct::knowing(fixation)))
    }

    /// A session whose calls a host executes. Its history is read lazily; only what the gates need
    /// is read now: how many calls were made and, if they depend on it, which tools completed. The
    /// host's tools are not fully known, so no list of them is recorded.
    fn hosted(guard: &Guard, id: String, start: SessionStart) -> Result<Self, BeginSessionError> {
        let (ledger, policy) = (guard.ledger(), guard.policy());
        let mut record = Record::new(&id, None);
        if policy.settings.dependencies.is_enabled() || policy.settings.trust.taints() {
            record.catch_up(&id, ledger)?;
        }
        record.calls.made = ledger.calls_made(&id)?;
        let conduct = Conduct::new(Fixation::new(guard.settings().fixation.clone()));
        Ok(Self::with(guard, id, start, record, conduct))
    }

    fn with(
        guard: &Guard,
        id: String,
        start: SessionStart,
        record: Record,
        conduct: Conduct,
    ) -> Self {
        let settings = guard.settings();
        let environment = Arc::new(start.environment.clone());
        let cache = ToolResultCache::new(settings.result_cache);
        let speculation = SpeculationEngine::new(settings.speculation);
        let (record, conduct) = (Mutex::new(record), Mutex::new(conduct));
        let running = Mutex::default();
        let shared =
            Shared { id, start, environment, cache, speculation, record, conduct, running };
        Self { guard: guard.clone(), shared: Arc::new(shared) }
    }
}
