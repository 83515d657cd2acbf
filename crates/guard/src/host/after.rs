use counterfoil_ledger::Opened;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::Value;

use super::hosted_call::HostedCall;
use super::repetition;
use crate::auditing::AuditContext;
use crate::call::CallError;
use crate::guard::Guard;
use crate::recording::{Ending, Recording};
use crate::session::{Session, Surroundings};
use crate::shown_id::ShowId;

/// How a call that a host executed ended.
#[derive(Debug, Clone, PartialEq)]
pub struct HostEnded {
    /// The status.
    pub status: Status,
    /// Why the call did not complete.
    pub category: Option<ToolErrorCategory>,
    /// The result, as the host provided it.
    pub result: Value,
    /// The exit code, if there is one.
    pub exit_code: Option<i32>,
    /// Whether the host cut the result.
    pub truncated: bool,
}

impl Session {
    /// Records how a call that a host executed ended: closes the receipt that [`Session::before`]
    /// opened, possibly in another process, or writes a complete one if there is none. Returns what
    /// the model should be told: that it repeats itself, and the execution id if the settings show
    /// it.
    ///
    /// # Errors
    /// When the end cannot be recorded.
    pub async fn after(
        &self,
        hosted: &HostedCall,
        around: &Surroundings,
        ended: HostEnded,
    ) -> Result<Option<String>, CallError> {
        let guard = self.guard();
        let (mut recording, now) = (None, guard.clock().wall());
        if !hosted.call.id.is_empty() {
            let open = guard.left_open(self, &hosted.call.id)?;
            recording = open.map(|opened| Recording::found(guard, self, opened, now));
        }
        // A background command that keeps running stays open.
        let running = ended.status == Status::Open;
        let recording = match recording {
            Some(recording) => recording,
            None => {
                let HostedCall { call, tool, arguments, .. } = hosted;
                let held = self.hold(guard, around);
                let scene = self.scene(&held, around, guard.workspace(), now);
                let mut opened = guard
                    .intent(call, &tool.name, arguments, &scene)
                    .map_err(CallError::NoRandomness)?;
                opened.origin = tool.origin.clone();
                opened.permit = self.host_basis();
                // The call has already run, so no quota can stop it.
                guard.open_without_quota(self, opened).await?
            }
        };
        if running {
            recording.left_open();
            return Ok(None);
        }
        let (text, structured) = match ended.result {
            Value::String(text) => (text, None),
            value => (value.to_string(), Some(value)),
        };
        let ending = Ending {
            status: Some(ended.status),
            category: ended.category,
            text,
            structured,
            exit_code: ended.exit_code,
            truncated: ended.truncated,
            ..Ending::default()
        };
        let recorded = guard.finish(self, recording, ending, AuditContext::default()).await?;
        let nudge = repetition::after(guard, self, hosted, around, &recorded.closed);
        let id = guard.id_beside(&recorded.opened.execution_id);
        let notes: Vec<String> = nudge.into_iter().chain(id).collect();
        Ok((!notes.is_empty()).then(|| notes.join("\n")))
    }

    /// Closes the receipt of a call that the host did not make after all, because a person denied
    /// it. Does nothing if the call has no open receipt.
    ///
    /// # Errors
    /// When the end cannot be recorded.
    pub async fn not_made(&self, call_id: &str) -> Result<(), CallError> {
        let guard = self.guard();
        if call_id.is_empty() {
            return Ok(());
        }
        let Some(opened) = guard.left_open(self, call_id)? else { return Ok(()) };
        let recording = Recording::found(guard, self, opened, guard.clock().wall());
        let ending = Ending {
            status: Some(Status::Cancelled),
            category: Some(ToolErrorCategory::Cancelled),
            text: "the host did not make the call".to_owned(),
            ..Ending::default()
        };
        let context = AuditContext { not_made: true, ..AuditContext::default() };
        guard.finish(self, recording, ending, context).await.map(drop)
    }
}

impl Guard {
    /// The execution id as the model sees it next to a result that the host shows itself. `None` if
    /// the settings do not show it.
    #[must_use]
    pub fn id_beside(&self, execution_id: &str) -> Option<String> {
        let shown = self.settings().show_id != ShowId::Metadata;
        shown.then(|| format!("(execution_id: {execution_id})"))
    }

    /// The open call with this id. If another process opened it, it is only in the ledger.
    fn left_open(&self, session: &Session, call_id: &str) -> Result<Option<Opened>, CallError> {
        let handed_over = session.running().handed_over(call_id);
        match handed_over {
            Some(opened) => Ok(Some(opened)),
            None => self.ledger().open_call(session.id(), call_id).map_err(CallError::Unreadable),
        }
    }
}
