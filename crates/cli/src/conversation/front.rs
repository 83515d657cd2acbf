use std::future::Future;

use counterfoil_agent::{Due, Turned, Watch};

use super::begin::Begun;
use super::row::Row;

/// What the user sees and where the user speaks: lines, or a screen.
pub(crate) trait Front {
    /// Sees what happens in a turn.
    type Watching: Watch;

    /// What comes next.
    fn next(&mut self, begun: &Begun) -> impl Future<Output = anyhow::Result<Next>>;

    /// Waits for something, seen by the user, who may break it off: then it gives `None`.
    fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> impl Future<Output = anyhow::Result<Option<T>>>;

    /// Sees what happens from now on, until it is dropped.
    fn watch(&mut self, begun: &Begun) -> Self::Watching;

    /// Shows lines that stay.
    fn show(&mut self, rows: &[Row]) -> anyhow::Result<()>;

    /// Shows an answer, and what is doubtful about it.
    fn answer(&mut self, turned: &Turned) -> anyhow::Result<()>;

    /// Shows what stands behind the last answer.
    fn why(&mut self, rows: Vec<Row>) -> anyhow::Result<()>;
}

/// What comes next.
pub(crate) enum Next {
    /// The user says something; `None` when they leave.
    Said(Option<String>),
    /// A task is due.
    Due(Box<Due>),
}
