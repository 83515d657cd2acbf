use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_ledger::{Clock, Lasts, Ledger};
use counterfoil_model::{Digest, PermitBasis};

use super::verdict::Question;
use crate::ports::Approval;

/// The approvals that people have given: in this process, and in advance in the ledger.
///
/// An approval is valid for exactly one tool with exactly these arguments in one session. It
/// expires and can be used only once, unless the person approved the call for the whole session.
#[derive(Debug, Clone)]
pub struct Approvals {
    clock: Arc<dyn Clock>,
    lifetime: Duration,
    granted: Arc<Mutex<VecDeque<Granted>>>,
    ledger: Option<Ledger>,
}

#[derive(Debug)]
struct Granted {
    session: String,
    digest: Digest,
    approval: Approval,
    /// When it expires, on the monotonic clock.
    until: Duration,
}

/// The person who agreed to a call that is about to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub(crate) by: String,
    pub(crate) reason: Option<String>,
    /// The position of the ledger's approval that the call uses up.
    pub(crate) uses: Option<u64>,
}

impl Agreed {
    /// The basis of the permit, for the receipt.
    pub(crate) fn basis(&self) -> PermitBasis {
        let Self { by, reason, uses } = self.clone();
        PermitBasis::Approval { who: by, reason, uses }
    }
}

/// The maximum number of pending approvals. When it is reached, the oldest is dropped.
const MOST: usize = 4096;

impl Approvals {
    /// An approval for one call expires after `lifetime`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, lifetime: Duration) -> Self {
        Self { clock, lifetime, granted: Arc::default(), ledger: None }
    }

    /// Adds the approvals that were given in advance and are in this ledger.
    pub(crate) fn and_of(self, ledger: Ledger) -> Self {
        Self { ledger: Some(ledger), ..self }
    }

    /// How long an approval for one call is valid.
    pub(crate) fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Adds an approval of what was asked.
    pub fn grant(&self, session: &str, question: &Question, approval: Approval) {
        let now = self.clock.monotonic();
        let until = match approval.lasts {
            Lasts::Once => now.saturating_add(self.lifetime),
            Lasts::Session => Duration::MAX,
        };
        let granted =
            Granted { session: session.to_owned(), digest: question.digest, approval, until };
        let mut all = self.granted();
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(granted);
    }

    /// Returns the approval for exactly this call. One that is valid for a single call is used up.
    pub(crate) fn redeem(&self, session: &str, digest: Digest) -> Option<Agreed> {
        self.redeem_here(session, digest).or_else(|| self.given_ahead(session, digest))
    }

    fn redeem_here(&self, session: &str, digest: Digest) -> Option<Agreed> {
        let is_it = |one: &Granted| one.digest == digest && one.session == session;
        if !self.granted().iter().any(is_it) {
            return None;
        }
        // A refusal from any process in the meantime revokes earlier approvals.
        let is_refused = self.is_refused(session, digest);
        let mut granted = self.granted();
        if is_refused {
            granted.retain(|one| !is_it(one));
        }
        let at = granted.iter().position(is_it)?;
        let approval = match granted.get(at)?.approval.lasts {
            Lasts::Once => granted.remove(at)?.approval,
            Lasts::Session => granted.get(at)?.approval.clone(),
        };
        Some(Agreed { by: approval.by, reason: approval.reason, uses: None })
    }

    /// Returns the approvals that are still valid.
    fn granted(&self) -> MutexGuard<'_, VecDeque<Granted>> {
        let now = self.clock.monotonic();
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.retain(|old| old.until > now);
        granted
    }

    /// Whether someone refused this call and no one has agreed to it since. If the ledger cannot be
    /// read, the call counts as refused.
    pub(crate) fn is_refused(&self, session: &str, digest: Digest) -> bool {
        self.ledger.as_ref().is_some_and(|ledger| {
            let found = ledger.standing_refusal(session, digest);
            found
                .inspect_err(|error| tracing::error!("cannot read recorded refusals: {error}"))
                .map_or(true, |refusal| refusal.is_some())
        })
    }

    /// Returns an approval from the ledger. The event that opens the call uses it up.
    fn given_ahead(&self, session: &str, digest: Digest) -> Option<Agreed> {
        let ledger = self.ledger.as_ref()?;
        let found = ledger.standing_approval(session, digest, self.clock.wall());
        // An approval that cannot be read does not count.
        let (at, approved) = found
            .inspect_err(|error| tracing::error!("cannot read recorded approvals: {error}"))
            .ok()??;
        let uses = (approved.lasts == Lasts::Once).then_some(at);
        Some(Agreed { by: approved.by, reason: approved.reason, uses })
    }
}
