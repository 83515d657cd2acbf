use std::io::{self, Write as _};

use counterfoil_agent::{Due, FireError, Turned};
use counterfoil_report::visible;

use super::begin::Begun;
use super::shown::{Shown, answer, begins};
use crate::signals::interrupted;
use crate::terminal::Paint;

/// What came of a firing.
pub(crate) enum Fired {
    /// The agent has an answer, which is shown.
    Answered(Box<Turned>),
    /// It may not run, or came to no answer: that is told.
    Failed,
    /// The user broke it off, and it is not run again.
    BrokenOff,
}

/// Runs a firing, and shows what comes of it.
pub(crate) async fn fire(begun: &mut Begun, due: &Due) -> anyhow::Result<Fired> {
    let Some(scheduler) = begun.scheduler.clone() else { return Ok(Fired::Failed) };
    let paint = Paint::for_errors();
    writeln!(io::stderr(), "{}", begins(due, paint))?;
    let mut shown = Shown::new(begun.agent.guard());
    let fired = tokio::select! {
        fired = scheduler.fire(&mut begun.agent, due, &mut shown) => Some(fired),
        () = interrupted() => None,
    };
    drop(shown);
    match fired {
        None => {
            scheduler.broken_off(due)?;
            let task = due.task.id;
            writeln!(io::stderr(), "task {task} was broken off, and is not run again")?;
            Ok(Fired::BrokenOff)
        }
        Some(Ok(turned)) => {
            answer(&turned)?;
            Ok(Fired::Answered(Box::new(turned)))
        }
        Some(Err(error @ (FireError::NotRun(_) | FireError::Turn(_)))) => {
            writeln!(io::stderr(), "{}: {}", paint.error("error"), visible(&error.to_string()))?;
            Ok(Fired::Failed)
        }
        Some(Err(error)) => Err(error.into()),
    }
}
