use std::future::Future;

use counterfoil_agent::{Due, Turned, Watch};

use super::begin::Begun;
use super::row::Row;

/// The user interface of a conversation: lines, or a screen.
pub(crate) trait Front {
    /// Shows the progress of a turn.
    type Watching: Watch;

    /// Waits for the next event.
    fn next(&mut self, begun: &Begun) -> impl Future<Output = anyhow::Result<Next>>;

    /// Runs `work` while the user watches; returns `None` if the user interrupts it.
    fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> impl Future<Output = anyhow::Result<Option<T>>>;

    /// Shows progress until the returned value is dropped.
    fn watch(&mut self, begun: &Begun) -> Self::Watching;

    /// Shows lines permanently.
    fn show(&mut self, rows: &[Row]) -> anyhow::Result<()>;

    /// Shows an answer and its doubtful parts.
    fn answer(&mut self, turned: &Turned) -> anyhow::Result<()>;

    /// Shows the evidence for the last answer.
    fn why(&mut self, rows: Vec<Row>) -> anyhow::Result<()>;
}

/// The next event.
pub(crate) enum Next {
    /// The user's message; `None` when the user leaves.
    Message(Option<String>),
    /// A task is due.
    Due(Box<Due>),
}
