//! What was written: whether all of it is on record, and whether a file may be among it.

use counterfoil_model::Object;

use super::objects::mentions;
use crate::facts::Facts;

/// So many executions are looked at. Of longer records nothing is said to be whole.
pub(super) const LOOK_BACK: usize = 400;

/// `makemigrations`: whether a command that may do anything printed one of these files as a line of
/// its own, as generators do of what they wrote.
pub(super) fn prints(facts: &Facts<'_>, turn: usize, files: &[&Object]) -> bool {
    facts.deeds_before(turn).take(LOOK_BACK).any(|(execution, deed)| {
        let opaque = deed.shell.as_ref().is_some_and(|work| work.opaque && !work.only_looks());
        let alone = |line: &str| line.split_whitespace().count() <= 2;
        let names = |line: &str| alone(line) && files.iter().any(|file| mentions(line, file));
        opaque && deed.status().succeeded() && execution.text().lines().any(names)
    })
}
