//! One tool call, from the model's words to the answer. One step a file, in the order of the
//! sentence.

mod admit;
mod answer;
mod close;
mod execute;
mod judge;
mod open;
mod reject;

use countersign_model::ToolCall;

use crate::guard::Guard;
use crate::hidden::without_hidden;
use crate::session::{Session, Surroundings};

pub use answer::{Answer, CallError};

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
        around: Surroundings,
    ) -> Result<Answer, CallError> {
        let call = without_hidden(call);
        let held = session.hold(self.ledger());
        let scene = session.scene(&held, &around, self.workspace(), self.clock().wall());
        let admitted = match self.admit(session, call) {
            Ok(admitted) => admitted,
            Err(refused) => return self.refuse(session, *refused, &scene).await,
        };
        let cleared = match self.judge(&admitted, &scene).await {
            Ok(cleared) => cleared,
            Err(stopped) => return self.stop(session, &admitted, stopped, &scene).await,
        };
        let recording = match self.open(session, &admitted, &cleared, &around, &scene).await? {
            Ok(recording) => recording,
            Err(stopped) => return self.stop(session, &admitted, stopped, &scene).await,
        };
        let ended = self.execute(&admitted, &recording, &cleared, &scene).await;
        let closed = self.close(session, &admitted, recording, ended, &scene).await?;
        let shown = self.filter(&closed);
        self.answer(session, closed, shown).await
    }
}
