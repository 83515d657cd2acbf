use counterfoil_agent::{Due, FireError, Turned};
use counterfoil_report::visible;

use super::begin::Begun;
use super::front::Front;
use super::row::Row;
use super::seen::{begins, wrong};

/// The result of a firing.
pub(crate) enum Fired {
    /// The agent has answered, and the answer was shown.
    Answered(Box<Turned>),
    /// It may not run, or yielded no answer; that was shown.
    Failed,
    /// The user interrupted it, and it is not run again.
    BrokenOff,
}

/// Runs a firing and shows its result.
pub(crate) async fn fire(
    begun: &mut Begun,
    front: &mut impl Front,
    due: &Due,
) -> anyhow::Result<Fired> {
    let Some(scheduler) = begun.scheduler.clone() else { return Ok(Fired::Failed) };
    front.show(&begins(due))?;
    front.show(&begun.apply_changes().await)?;
    let mut watching = front.watch(begun);
    let fired = front.during(scheduler.fire(&mut begun.agent, due, &mut watching)).await?;
    drop(watching);
    match fired {
        None => {
            scheduler.broken_off(due)?;
            let id = due.task.id;
            let text = format!("this run of task {id} was interrupted and will not be repeated");
            front.show(&[Row::plain(text)])?;
            Ok(Fired::BrokenOff)
        }
        Some(Ok(turned)) => {
            front.answer(&turned)?;
            Ok(Fired::Answered(Box::new(turned)))
        }
        Some(Err(error @ (FireError::NotRun(_) | FireError::Turn(_)))) => {
            front.show(&[wrong(&visible(&error.to_string()))])?;
            Ok(Fired::Failed)
        }
        Some(Err(error)) => Err(error.into()),
    }
}
