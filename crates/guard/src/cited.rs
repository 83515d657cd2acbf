use std::time::Duration;

use counterfoil_ledger::{ReadLedgerError, Receipt};
use counterfoil_model::{ExecutionId, Status};
use serde::{Deserialize, Serialize};

use crate::guard::Guard;
use crate::session::Session;

/// A cited execution that is valid.
#[derive(Debug, Clone)]
pub struct CitedExecution {
    /// Its receipt.
    pub receipt: Receipt,
    /// The recorded result; `None` if retention has dropped it.
    pub result: Option<Vec<u8>>,
}

/// Why a citation of an execution is invalid, with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotStanding {
    /// The reason.
    pub reason: CitationFault,
    /// A sentence that states the reason.
    pub message: String,
}

/// The reasons why a citation is invalid, in the order in which they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CitationFault {
    /// The text is not an execution id.
    MalformedId,
    /// No execution of this session has this id.
    ExecutionIdNotFound,
    /// The execution is older than everything that is still kept.
    ExecutionEvicted,
    /// The execution began too long ago.
    ExecutionExpired,
    /// The execution was of another tool.
    ToolNameMismatch,
    /// The execution did not complete: it failed, was denied or cancelled, or is still open.
    ExecutionIncomplete,
}

impl Session {
    /// Checks whether a citation of an execution of this session is valid. `window` is the maximum
    /// age of the execution; `None` allows the whole session. The settings have the host's default.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn cited(
        &self,
        execution_id: &str,
        tool: &str,
        window: Option<Duration>,
    ) -> Result<Result<CitedExecution, NotStanding>, ReadLedgerError> {
        let guard = self.guard();
        let fault = |reason, message| Ok(Err(NotStanding { reason, message }));
        let Some(id) = ExecutionId::parse(execution_id) else {
            return fault(
                CitationFault::MalformedId,
                format!("`{execution_id}` is not a valid execution id"),
            );
        };
        // An id of another session counts as unknown, so that nothing about that session leaks.
        let receipt = guard.ledger().receipt(execution_id)?;
        let Some(receipt) = receipt.filter(|receipt| receipt.session_id == self.id()) else {
            return Ok(Err(guard.not_found(&id)?));
        };
        if let Some(window) = window {
            let age = guard.age_of_result(self, &receipt)?;
            if age > window {
                return fault(
                    CitationFault::ExecutionExpired,
                    format!(
                        "`{execution_id}` began {} s ago, but the maximum age is {} s",
                        age.as_secs(),
                        window.as_secs()
                    ),
                );
            }
        }
        if receipt.tool != tool {
            return fault(
                CitationFault::ToolNameMismatch,
                format!("`{execution_id}` was a call to `{}`, not to `{tool}`", receipt.tool),
            );
        }
        if self.status_of(&receipt)? != Status::Completed {
            return fault(
                CitationFault::ExecutionIncomplete,
                format!("`{execution_id}` did not complete successfully"),
            );
        }
        let result = match &receipt.recorded_digest {
            Some(digest) => guard.ledger().result(digest)?,
            None => None,
        };
        Ok(Ok(CitedExecution { receipt, result }))
    }
}

impl Guard {
    /// Why no execution of the session has this id.
    fn not_found(&self, id: &ExecutionId<'_>) -> Result<NotStanding, ReadLedgerError> {
        let kept_since = self.ledger().kept_since()?;
        let evicted = kept_since.is_some_and(|since| id.millis < since);
        let (reason, message) = match evicted {
            true => (
                CitationFault::ExecutionEvicted,
                format!("the record of `{}` was deleted by the retention policy", id.id),
            ),
            false => (
                CitationFault::ExecutionIdNotFound,
                format!("no execution of this session has the id `{}`", id.id),
            ),
        };
        Ok(NotStanding { reason, message })
    }

    /// The age of a result. A cached result is as old as the execution that produced it.
    fn age_of_result(
        &self,
        session: &Session,
        receipt: &Receipt,
    ) -> Result<Duration, ReadLedgerError> {
        let age = self.age(session, receipt);
        let Some(original) = &receipt.links.cached_from else { return Ok(age) };
        let original = self.ledger().receipt(original)?;
        Ok(original.map_or(age, |original| age.max(self.age(session, &original))))
    }

    /// The age of an execution: the larger of the ages by the wall clock and by the monotonic
    /// clock, so that a wall clock that jumps back does not make it younger.
    fn age(&self, session: &Session, receipt: &Receipt) -> Duration {
        let wall = self.clock().wall().saturating_sub(receipt.started_at);
        let wall = Duration::from_millis(u64::try_from(wall).unwrap_or(0));
        let here = session.running().begun(&receipt.execution_id);
        let monotonic = here.map(|begun| self.clock().monotonic().saturating_sub(begun));
        monotonic.map_or(wall, |monotonic| monotonic.max(wall))
    }
}
