//! One tool call, from what the model wrote to the answer. Each step has its own file, in the order
//! of `Session::call`.

mod admit;
mod answer;
mod beside;
mod cached;
mod changed;
mod close;
mod error;
mod execute;
mod filter;
mod judge;
mod open;
mod performer;
mod reformat;
mod reject;
mod shown_results;

use counterfoil_ledger::Links;
use counterfoil_model::{ToolCall, ToolErrorCategory, take_hidden_out};

use crate::auditing::AuditContext;
use crate::executor::ToolErrorFeedback;
use crate::session::{Session, Surroundings};

pub(crate) use admit::{Refused, settled};
pub use answer::Answer;
pub use changed::CHANGED_BY_PERSON;
pub use error::CallError;
pub(crate) use judge::{Ruling, Stopped};
pub(crate) use performer::Performer;

impl Session {
    /// Takes one call of a session through the whole chain:
    /// `admit → judge → open → execute → close → filter → answer`.
    ///
    /// A call that may not run, or fails, is an [`Answer`] too: the answer says so, and the call
    /// has a receipt. Dropping the future gives the call up: whatever runs is stopped, and the
    /// receipt says `cancelled`.
    ///
    /// # Errors
    /// When the call cannot be recorded: either the call did not run, or its result is withheld.
    pub async fn call(
        &self,
        call: ToolCall,
        mut around: Surroundings,
    ) -> Result<Answer, CallError> {
        let guard = self.guard();
        let (call, only_thought) = take_hidden_out(call);
        let tools = guard.toolset();
        guard.list_tools(self, &tools).await.map_err(CallError::NotRecorded)?;
        if only_thought {
            return guard.skip(self, &call, &around).await;
        }
        let held = self.hold(guard, &around);
        let admitted = guard.admit(self, &tools, call, around.requested);
        around.claim_source = guard.claim_source(self, &admitted, &around);
        let scene = self.scene(&held, &around, guard.workspace(), guard.clock().wall());
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(refused) => {
                match guard.reformatted(self, &tools, &refused, around.requested).await {
                    Some(admitted) => admitted,
                    None => return guard.refuse(self, *refused, &scene).await,
                }
            }
        };
        let Ruling { admitted, outcome, consulted } =
            guard.judge(self, Performer::Guard(&tools), admitted, &scene).await;
        let context =
            AuditContext { claim_source: scene.claim_source, consulted, ..AuditContext::default() };
        let cleared = match outcome {
            Ok(cleared) => cleared,
            Err(stopped) => return guard.stop(self, &admitted, stopped, &scene, context).await,
        };
        let lookup = guard.look_up(self, &admitted, &around).await;
        let links = Links {
            cached_from: lookup.cached_from(),
            retry_of: around.retry_of.clone(),
            rollback_of: around.rollback_of.clone(),
            ..Links::default()
        };
        let recording =
            match guard.open(self, &admitted, cleared.permitted(), links, &scene).await? {
                Ok(recording) => recording,
                Err(stopped) => return guard.stop(self, &admitted, stopped, &scene, context).await,
            };
        let ended = match lookup.ended() {
            Some(ended) => ended,
            None => guard.execute(self, &recording, &cleared, &scene).await,
        };
        let closed = guard.close(self, &admitted, recording, ended, context).await?;
        guard.keep(self, lookup, &closed);
        guard.guess_next(self, &admitted, &around);
        let shown = guard.filter(&closed, around.verbatim);
        guard.answer(self, &admitted, closed, shown).await
    }

    /// Refuses a call of a tool that this caller was not offered, for the given reason: nothing
    /// runs, and the call has a receipt.
    ///
    /// # Errors
    /// When the call cannot be recorded.
    pub async fn refuse(
        &self,
        call: ToolCall,
        around: &Surroundings,
        reason: &str,
    ) -> Result<Answer, CallError> {
        let (call, _) = take_hidden_out(call);
        let (category, code) = (ToolErrorCategory::ToolNotFound, "not_offered");
        let feedback = ToolErrorFeedback::new(category, reason);
        let answer = feedback.format_for_llm();
        self.guard().leave_undone(self, &call, around, (category, code), answer).await
    }
}
