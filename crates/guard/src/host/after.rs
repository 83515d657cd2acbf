use counterfoil_ledger::Opened;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::Value;

use super::before::HostedCall;
use super::repetition;
use crate::auditing::Said;
use crate::call::CallError;
use crate::guard::Guard;
use crate::recording::{Ending, Recording};
use crate::session::{Session, Surroundings};
use crate::shown_id::ShowId;

/// How a call ended that a host executed.
#[derive(Debug, Clone, PartialEq)]
pub struct HostEnded {
    /// How.
    pub status: Status,
    /// Why it did not complete.
    pub category: Option<ToolErrorCategory>,
    /// The result as the host gave it.
    pub result: Value,
    /// The exit code, where there is one.
    pub exit_code: Option<i32>,
    /// The host cut the result.
    pub truncated: bool,
}

impl Guard {
    /// Records how a call ended that a host executed: closes the receipt that [`Guard::before`]
    /// opened, maybe in another process, or writes a whole one where there is none. Gives what the
    /// model should know: that it repeats itself, and the id of the execution where the settings
    /// show it.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn after(
        &self,
        session: &Session,
        hosted: &HostedCall,
        around: &Surroundings,
        ended: HostEnded,
    ) -> Result<Option<String>, CallError> {
        let (mut recording, now) = (None, self.clock().wall());
        if !hosted.call.id.is_empty() {
            let open = self.left_open(session, &hosted.call.id)?;
            recording = open.map(|opened| Recording::found(self, session, opened, now));
        }
        // A background command that goes on is open, and stays so.
        let running = ended.status == Status::Open;
        let recording = match recording {
            Some(recording) => recording,
            None => {
                let HostedCall { call, tool, arguments } = hosted;
                let held = session.hold(self, around);
                let scene = session.scene(&held, around, self.workspace(), now);
                let mut opened = self
                    .intent(call, &tool.name, arguments, hosted.digest(), &scene)
                    .map_err(CallError::NoRandomness)?;
                opened.origin = tool.origin.clone();
                opened.permit = session.host_basis();
                // It has run: no quota can stop it any more.
                self.open_unasked(session, opened).await?
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
        let recorded = self.finish(session, recording, ending, Said::default()).await?;
        let nudge = repetition::after(self, session, hosted, around, &recorded.closed);
        let id = self.id_beside(&recorded.opened.execution_id);
        let told: Vec<String> = nudge.into_iter().chain(id).collect();
        Ok((!told.is_empty()).then(|| told.join("\n")))
    }

    /// The id of an execution as the model is told it of a result that the host shows itself: it can
    /// only stand beside that. `None` where the settings do not show it.
    #[must_use]
    pub fn id_beside(&self, execution_id: &str) -> Option<String> {
        let shown = self.settings().show_id != ShowId::Metadata;
        shown.then(|| format!("(execution_id: {execution_id})"))
    }

    /// Closes the receipt of a call that the host did not make after all, because somebody did not
    /// let it; nothing where no receipt of it is open.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn not_made(&self, session: &Session, call_id: &str) -> Result<(), CallError> {
        if call_id.is_empty() {
            return Ok(());
        }
        let Some(opened) = self.left_open(session, call_id)? else { return Ok(()) };
        let recording = Recording::found(self, session, opened, self.clock().wall());
        let ending = Ending {
            status: Some(Status::Cancelled),
            category: Some(ToolErrorCategory::Cancelled),
            text: "not made: the host did not let it".to_owned(),
            ..Ending::default()
        };
        self.finish(session, recording, ending, Said::default()).await.map(drop)
    }

    /// The call of this id whose end is not recorded. One that another process opened stands in the
    /// ledger only.
    fn left_open(&self, session: &Session, call_id: &str) -> Result<Option<Opened>, CallError> {
        match session.handed_over(call_id) {
            Some(opened) => Ok(Some(opened)),
            None => self.ledger().open_call(session.id(), call_id).map_err(CallError::Unreadable),
        }
    }
}
