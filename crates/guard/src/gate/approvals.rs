use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use counterfoil_model::Digest;

use super::verdict::Question;
use crate::ports::Clock;

/// What people agreed to and what has not run yet.
///
/// An approval holds for exactly one tool with exactly these arguments in one session, once, and
/// not for long.
#[derive(Debug, Clone)]
pub struct Approvals {
    clock: Arc<dyn Clock>,
    lifetime: Duration,
    granted: Arc<Mutex<VecDeque<Granted>>>,
}

#[derive(Debug)]
struct Granted {
    session: String,
    digest: Digest,
    by: String,
    /// On the clock that never goes back.
    until: Duration,
}

/// Approvals that may wait at one time; beyond, the oldest is forgotten.
const MOST: usize = 4096;

impl Approvals {
    /// An approval that is not used within `lifetime` is worth nothing.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, lifetime: Duration) -> Self {
        Self { clock, lifetime, granted: Arc::default() }
    }

    /// Somebody agreed to what was asked.
    pub fn grant(&self, session: &str, question: &Question, by: &str) {
        let now = self.clock.monotonic();
        let approval = Granted {
            session: session.to_owned(),
            digest: question.digest,
            by: by.to_owned(),
            until: now.saturating_add(self.lifetime),
        };
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.retain(|old| old.until > now);
        if granted.len() >= MOST {
            granted.pop_front();
        }
        granted.push_back(approval);
    }

    /// Uses the approval for exactly this call up; says who gave it.
    pub(super) fn redeem(&self, session: &str, digest: Digest) -> Option<String> {
        let now = self.clock.monotonic();
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.retain(|old| old.until > now);
        let at = granted.iter().position(|one| one.digest == digest && one.session == session)?;
        granted.remove(at).map(|approval| approval.by)
    }
}
