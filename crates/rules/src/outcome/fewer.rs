//! Runs that passed with fewer tests than claimed.

use counterfoil_model::Family;
use counterfoil_shell::{ActivityKind, summary};

use super::extract::OutcomeClaim;
use crate::facts::Execution;

/// Whether a passed run shows less than is claimed: fewer tests, or some that were skipped or
/// expected to fail.
pub(super) fn shows_less(said: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let text = said.claim.text.as_str();
    if said.family != Family::Test || !text.to_ascii_lowercase().contains("all ") {
        return false;
    }
    let ran = summary(execution.text(), ActivityKind::Test);
    let Some(passed) = ran.passed else { return false };
    let claimed = text.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok());
    let counted = passed + ran.skipped.unwrap_or(0);
    let left_out = || {
        let line = execution.text().get(ran.evidence.clone()).unwrap_or_default();
        line.contains(" deselected") || line.contains(" xfailed")
    };
    claimed.is_some_and(|claimed: u64| claimed > counted) || left_out()
}
