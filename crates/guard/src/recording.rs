use std::time::Duration;

use counterfoil_ledger::{AppendError, Closed, Draft, Opened};
use counterfoil_model::{
    BackgroundRun, Confinement, Digest, SideEffect, Status, ToolErrorCategory, canonical_bytes,
};
use counterfoil_tools::{CallName, Progress, ToolEvent};
use serde_json::Value;

use crate::guard::Guard;
use crate::session::Session;

/// An execution whose intent is recorded in the ledger and whose end is not yet.
///
/// INVARIANT: it is closed exactly once. Dropping it gives the execution up, which closes it as
/// cancelled.
pub(crate) struct Recording {
    guard: Guard,
    session: Session,
    opened: Opened,
    /// When it began, on the monotonic clock.
    since: Duration,
    /// How long it had been running before this process learned of it, by the wall clock.
    before: Duration,
    closed: bool,
}

/// How an execution ended, with its result.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    pub(crate) status: Option<Status>,
    pub(crate) category: Option<ToolErrorCategory>,
    pub(crate) text: String,
    pub(crate) structured: Option<Value>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) truncated: bool,
    pub(crate) kept_whole: bool,
    pub(crate) attempts: u32,
    pub(crate) side_effects: Vec<SideEffect>,
    pub(crate) confinement: Option<Confinement>,
    pub(crate) background: Option<BackgroundRun>,
    /// The digest of the result as the tool gave it, if that is neither the JSON nor the text.
    pub(crate) raw_digest: Option<Digest>,
}

/// What the ledger has about an execution.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) opened: Opened,
    pub(crate) closed: Closed,
    /// The result text, redacted.
    pub(crate) text: String,
    /// The result as JSON, redacted.
    pub(crate) structured: Option<Value>,
}

impl Recording {
    /// Records the intent, in one step with the quota. It must precede any effect.
    ///
    /// Dropping the future before the write is acknowledged also gives the execution up: the ledger
    /// writes in order, so the end is recorded after the intent.
    pub(crate) async fn open(
        guard: &Guard,
        session: &Session,
        opened: Opened,
        quota: Option<u64>,
    ) -> Result<Self, AppendError> {
        let since = guard.clock().monotonic();
        let (guard, session) = (guard.clone(), session.clone());
        let mut recording =
            Self { guard, session, opened, since, before: Duration::ZERO, closed: false };
        // Two calls in the same millisecond may draw the same id, with a chance of one in four
        // billion.
        let mut attempts = 0;
        let event = loop {
            let Self { guard, session, opened, .. } = &recording;
            match guard.ledger().open_execution(session.id(), opened.clone(), quota).await {
                Ok(event) => break event,
                Err(AppendError::RepeatedExecutionId { .. }) if attempts < 8 => {
                    attempts += 1;
                    if let Ok(id) = guard.execution_id(&opened.tool, opened.started_at) {
                        recording.opened.execution_id = id;
                    }
                }
                Err(error) => {
                    // Nothing was opened, so there is nothing to close.
                    recording.closed = true;
                    return Err(error);
                }
            }
        };
        recording.session.running().begin(&recording.opened.execution_id, since);
        recording.session.note(event, Vec::new());
        recording.tell(|| ToolEvent::Opened);
        Ok(recording)
    }

    /// Resumes an execution that was left open, in this process or another one; `now` is the
    /// wall-clock time.
    pub(crate) fn found(guard: &Guard, session: &Session, opened: Opened, now: i64) -> Self {
        let ran = || u64::try_from(now.saturating_sub(opened.started_at)).unwrap_or(0);
        let (since, before) = match session.running().begun(&opened.execution_id) {
            Some(since) => (since, Duration::ZERO),
            None => (guard.clock().monotonic(), Duration::from_millis(ran())),
        };
        let (guard, session) = (guard.clone(), session.clone());
        Self { guard, session, since, before, opened, closed: false }
    }

    /// Leaves it open, so that its end can be recorded later, here or in another process. Returns
    /// its id.
    pub(crate) fn left_open(mut self) -> String {
        self.closed = true;
        if !self.opened.call_id.is_empty() {
            self.session.running().hand_over(self.opened.clone());
        }
        self.opened.execution_id.clone()
    }

    pub(crate) fn execution_id(&self) -> &str {
        &self.opened.execution_id
    }

    /// How long it has been running.
    pub(crate) fn elapsed(&self) -> Duration {
        self.before + self.guard.clock().monotonic().saturating_sub(self.since)
    }

    /// Redacts the result and records how the execution ended.
    pub(crate) async fn close(mut self, ending: Ending) -> Result<Recorded, AppendError> {
        // From here on it does not count as given up, because whatever it did has happened.
        self.closed = true;
        let redactor = self.guard.redactor();
        let raw_digest = match (ending.raw_digest, &ending.structured) {
            (Some(digest), _) => digest,
            (None, Some(value)) => Digest::of_json(value),
            (None, None) => Digest::of_bytes(ending.text.as_bytes()),
        };
        let structured = ending.structured.as_ref().map(|value| redactor.redact_value(value));
        let text = redactor.redact(&ending.text).into_owned();
        let recorded = match &structured {
            Some(value) => canonical_bytes(value),
            None => text.clone().into_bytes(),
        };
        let recorded_digest = Digest::of_bytes(&recorded);
        let closed = self.closed_with(ending, raw_digest, recorded_digest);
        let stored = vec![recorded];
        let draft = Draft::Closed(closed.clone());
        let session = self.session.clone();
        let event = self.guard.ledger().append(session.id(), draft, stored.clone()).await?;
        session.note(event, stored);
        self.tell(|| ToolEvent::Closed { status: closed.status, category: closed.category });
        Ok(Recorded { opened: self.opened.clone(), closed, text, structured })
    }

    /// The model's id of the call; empty if it gave none.
    pub(crate) fn call_id(&self) -> &str {
        &self.opened.call_id
    }

    /// Lets the executor of the call report its progress.
    pub(crate) fn progress(&self) -> Progress {
        let call = CallName::new(self.session.id(), &self.opened);
        Progress::new(self.guard.sender().clone(), call)
    }

    fn tell(&self, what: impl FnOnce() -> ToolEvent) {
        self.guard.tell(&self.session, &self.opened, what);
    }

    fn closed_with(&self, ending: Ending, raw_digest: Digest, recorded_digest: Digest) -> Closed {
        Closed {
            execution_id: self.opened.execution_id.clone(),
            status: ending.status.unwrap_or(Status::Completed),
            category: ending.category,
            exit_code: ending.exit_code,
            truncated: ending.truncated,
            kept_whole: ending.kept_whole,
            // A cached result took no attempt.
            attempts: match self.opened.links.cached_from {
                Some(_) => 0,
                None => ending.attempts.max(1),
            },
            ended_at: self.guard.clock().wall(),
            duration_us: u64::try_from(self.elapsed().as_micros()).unwrap_or(u64::MAX),
            raw_digest,
            recorded_digest,
            side_effects: ending.side_effects,
            confinement: ending.confinement,
            background: ending.background,
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        let text = "the call was abandoned before it ended";
        let digest = Digest::of_bytes(text.as_bytes());
        let ending = Ending {
            status: Some(Status::Cancelled),
            category: Some(ToolErrorCategory::Cancelled),
            ..Ending::default()
        };
        let closed = self.closed_with(ending, digest, digest);
        let stored = vec![text.as_bytes().to_vec()];
        // No caller is left to wait for the write. It is under way once `append` returns, and the
        // session reads it back from the ledger.
        drop(self.guard.ledger().append(self.session.id(), Draft::Closed(closed.clone()), stored));
        self.guard.audit_given_up(&self.session, &self.opened, &closed);
        self.tell(|| ToolEvent::Closed { status: closed.status, category: closed.category });
    }
}
