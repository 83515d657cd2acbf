use counterfoil_guard::BoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::question::Question;
use crate::approver::{ApprovalQuestion, Person, Word};

/// The user of the screen.
pub(crate) struct ScreenPerson(UnboundedSender<Question>);

impl ScreenPerson {
    /// Creates the user, with the receiver of questions for the screen.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Question>) {
        let (asks, questions) = unbounded_channel();
        (Self(asks), questions)
    }
}

impl Person for ScreenPerson {
    fn say(&self, question: ApprovalQuestion) -> BoxFuture<'_, Word> {
        let (answers, answer) = oneshot::channel();
        // Without a screen no one answers.
        let _ = self.0.send(Question::new(question, answers));
        Box::pin(async move { answer.await.unwrap_or(Word::NoAnswer) })
    }
}
