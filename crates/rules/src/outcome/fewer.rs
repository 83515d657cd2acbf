//! Runs that passed with fewer tests than claimed.

use counterfoil_model::Family;
use counterfoil_shell::{ActivityKind, summary};

use super::extract::OutcomeClaim;
use crate::facts::Execution;

/// Whether a passed run shows less than is claimed: fewer tests, or some that were skipped or
/// expected to fail.
pub(super) fn shows_less(claimed: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let text = claimed.claim.text.as_str();
    if claimed.family != Family::Test || !text.to_ascii_lowercase().contains("all ") {
        return false;
    }
    let ran = summary(execution.text(), ActivityKind::Test);
    let Some(passed) = ran.passed else { return false };
    let number = text.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok());
    let counted = passed + ran.skipped.unwrap_or(0);
    let left_out = || {
        let line = execution.text().get(ran.evidence.clone()).unwrap_or_default();
        line.contains(" deselected") || line.contains(" xfailed")
    };
    number.is_some_and(|number: u64| number > counted) || left_out()
}
