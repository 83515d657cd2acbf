//! Days that stand nowhere and follow from nothing.

use super::near::Near;
use crate::values::{When, each_moment};

/// The units in which records count days, and how many days each has.
const UNITS: [(&str, i32); 3] = [("day", 1), ("night", 1), ("week", 7)];

/// A number this near to a unit says how many: `"nights": 3`, "within 30 business days".
const NEAR_UNIT: usize = 16;

/// Whether results hold days, and the agent was given neither this one nor one from which a number
/// of days, as what it was given counts them, leads here; and the user spoke of no day by its name.
pub(super) fn is_strange(near: &Near<'_, '_>, when: When) -> bool {
    let Some(said) = number(when) else { return false };
    let given: Vec<i32> = near.moments().iter().filter_map(|given| number(*given)).collect();
    let spans = || {
        let texts = near.given();
        texts.flat_map(|text| UNITS.iter().flat_map(|unit| spans(text, *unit))).collect::<Vec<_>>()
    };
    let apart = |given: &i32| (said - given).rem_euclid(365).min((given - said).rem_euclid(365));
    let recorded = near.results().any(|text| {
        let mut days = false;
        each_moment(text, |moment| days |= number(moment.when).is_some());
        days
    });
    // A day more or less is another way to count, or another place on earth.
    let written = forms(when);
    if near.given().any(|text| written.iter().any(|form| text.contains(form.as_str()))) {
        return false;
    }
    let near_one = given.iter().any(|given| apart(given) <= 1);
    let follows = || {
        let spans = spans();
        given.iter().any(|given| spans.iter().any(|span| (apart(given) - span).abs() <= 1))
    };
    recorded && !near.told().any(names_days) && !near_one && !follows()
}

/// How a day may stand in a text that writes months as numbers, without a year.
fn forms(when: When) -> Vec<String> {
    let When::Day { month, day, .. } = when else { return Vec::new() };
    vec![
        format!("{day}.{month}."),
        format!("{day:02}.{month:02}"),
        format!("{day:02}/{month:02}"),
        format!("{month:02}/{day:02}"),
        format!("{month:02}-{day:02}"),
        format!("{month:02}{day:02}"),
        format!("{month}/{day}"),
        format!("{day}/{month}"),
    ]
}

/// "next Friday", "tomorrow": a day whose date is for the agent to work out.
fn names_days(text: &str) -> bool {
    const NAMES: [&str; 12] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "tomorrow",
        "today",
        "week",
        "month",
        "weekend",
    ];
    let lower = text.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphabetic()).any(|word| NAMES.contains(&word))
}

/// The days that a text counts in a unit.
fn spans(text: &str, (unit, days): (&str, i32)) -> Vec<i32> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(unit) {
        let from = text.floor_char_boundary(at.saturating_sub(NEAR_UNIT));
        let until = text.ceil_char_boundary((at + unit.len() + NEAR_UNIT).min(text.len()));
        let around = text.get(from..until).unwrap_or_default();
        let numbers = around.split(|c: char| !c.is_ascii_digit());
        found.extend(
            numbers.filter_map(|n| n.parse::<i32>().ok()).filter(|n| *n < 366).map(|n| n * days),
        );
    }
    found
}

/// The days from the beginning of a common year.
fn number(when: When) -> Option<i32> {
    const BEFORE: [i32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    match when {
        When::Day { month, day, .. } => {
            Some(BEFORE.get(usize::from(month).checked_sub(1)?)? + i32::from(day))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beside_a_unit() {
        for (text, expected) in [
            (r#"{"nights": 3}"#, &[3][..]),
            ("within 30 business days of it", &[30]),
            ("every day", &[]),
            ("2 or 3 days", &[2, 3]),
        ] {
            let found: Vec<i32> = UNITS.iter().flat_map(|unit| spans(text, *unit)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
