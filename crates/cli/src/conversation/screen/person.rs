use counterfoil_guard::BoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::question::Question;
use crate::approver::{Asked, Person, Word};

/// Whoever looks at the screen.
pub(crate) struct ScreenPerson(UnboundedSender<Question>);

impl ScreenPerson {
    /// With what the screen is to ask.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Question>) {
        let (asks, asked) = unbounded_channel();
        (Self(asks), asked)
    }
}

impl Person for ScreenPerson {
    fn say(&self, asked: Asked) -> BoxFuture<'_, Word> {
        let (answers, answer) = oneshot::channel();
        // Where there is no screen, nobody answers.
        let _ = self.0.send(Question::new(asked, answers));
        Box::pin(async move { answer.await.unwrap_or(Word::Nobody) })
    }
}
