//! One tool call, from the model's words to the answer. One step a file, in the order of the
//! sentence.

mod admit;
mod answer;
mod beside;
mod cached;
mod changed;
mod close;
mod execute;
mod filter;
mod judge;
mod open;
mod performer;
mod reformat;
mod reject;

use counterfoil_ledger::Links;
use counterfoil_model::ToolCall;
use counterfoil_redact::take_hidden_out;

use crate::auditing::Said;
use crate::guard::Guard;
use crate::session::{Session, Surroundings};

pub(crate) use admit::{Refused, settled};
pub use answer::{Answer, CallError};
pub use changed::CHANGED_BY_PERSON;
pub(crate) use judge::{Ruling, Stopped};
pub(crate) use performer::Performer;

impl Guard {
    /// Takes one call of a session through the whole chain:
    /// `admit → judge → open → execute → close → filter → answer`.
    ///
    /// A call that may not run, or fails, is an [`Answer`] too: it says so, and a receipt stands
    /// behind it. Dropping the future gives the call up: what runs is stopped, and the receipt
    /// says `cancelled`.
    ///
    /// # Errors
    /// When the record cannot be kept: the call did not run, or its result does not leave.
    pub async fn call(
        &self,
        session: &Session,
        call: ToolCall,
        mut around: Surroundings,
    ) -> Result<Answer, CallError> {
        let (call, only_thought) = take_hidden_out(call);
        let tools = self.toolset();
        self.list_tools(session, &tools).await?;
        let held = session.hold(self, &around);
        let admitted = self.admit(session, &tools, call, around.requested);
        if around.claim_source.is_none() {
            let arguments = match &admitted {
                Ok(admitted) => Some(admitted.arguments()),
                Err(refused) => refused.report.arguments.as_deref(),
            };
            around.claim_source = self.claim_source(session, arguments, &around);
        }
        let scene = session.scene(&held, &around, self.workspace(), self.clock().wall());
        if only_thought {
            return self.skip(session, &admitted, &scene).await;
        }
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(refused) => {
                let again = self.reformatted(session, &tools, &refused, around.requested).await;
                match again {
                    Some(admitted) => admitted,
                    None => return self.refuse(session, *refused, &scene).await,
                }
            }
        };
        let Ruling { admitted, outcome, consulted } =
            self.judge(session, Performer::Guard(&tools), admitted, &scene).await;
        let said = Said { claim_source: scene.claim_source, consulted, ..Said::default() };
        let cleared = match outcome {
            Ok(cleared) => cleared,
            Err(stopped) => return self.stop(session, &admitted, stopped, &scene, said).await,
        };
        let lookup = self.look_up(session, &admitted, &around).await;
        let links = Links {
            cached_from: lookup.cached_from(),
            retry_of: around.retry_of.clone(),
            rollback_of: around.rollback_of.clone(),
            ..Links::default()
        };
        let recording = match self.open(session, &admitted, cleared.basis(), links, &scene).await? {
            Ok(recording) => recording,
            Err(stopped) => return self.stop(session, &admitted, stopped, &scene, said).await,
        };
        let ended = match lookup.ended() {
            Some(ended) => ended,
            None => self.execute(session, &recording, &cleared, &scene).await,
        };
        let closed = self.close(session, &admitted, recording, ended, said).await?;
        self.keep(session, lookup, &closed);
        self.guess_next(session, &admitted, &around);
        let shown = self.filter(&admitted, &closed, around.verbatim);
        self.answer(session, &admitted, closed, shown).await
    }
}
