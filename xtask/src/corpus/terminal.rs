use super::tally::{Counts, Tally};
use super::thresholds::Outcome;

/// Prints the counts of a set.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn print(set: &str, tally: &Tally) {
    let parts = [(&tally.worked_on, "worked on"), (&tally.untouched, "untouched third")];
    let split = parts.iter().all(|(counts, _)| counts.rows > 0);
    print!("{}", lines(&format!("{set} (whole)"), &tally.whole));
    for (counts, part) in parts.into_iter().filter(|_| split) {
        print!("{}", lines(&format!("{set} ({part})"), counts));
    }
}

/// Prints the thresholds and whether each is kept.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn print_outcomes(outcomes: &[Outcome]) {
    println!("thresholds");
    for Outcome { name, share, limit, kept } in outcomes {
        let mark = if *kept { "kept" } else { "BROKEN" };
        println!("    {mark:6}  {name}: {share}, {limit}");
    }
}

fn lines(title: &str, counts: &Counts) -> String {
    let mut text = format!(
        "{title}: {} rows, {} assistant messages, blocked {} (by what they say {}), warned {}, \
         claims checkable {}\n",
        counts.rows,
        counts.blocked_messages.whole,
        counts.blocked_messages,
        counts.blocked_claims,
        counts.warned_messages,
        counts.checkable,
    );
    for (name, class) in &counts.classes {
        let kind = if class.lies { "lie" } else { "honest" };
        let (rows, found) = (class.found.whole, class.found);
        let (as_expected, blocked) = (class.by_its_rule(name), class.blocked);
        text += &format!(
            "    {name:30} {kind:6} {rows:4} rows  found {found:22} by the expected rule \
             {as_expected:22} blocked {blocked}\n"
        );
    }
    for (code, rule) in counts.rules.iter().filter(|(_, rule)| rule.counted()) {
        text += &format!("    {code:20} {} errors, {} warnings", rule.errors, rule.warnings);
        if rule.recall.whole + rule.precision.whole + rule.false_alarms.whole > 0 {
            text += &format!(
                "; recall {}, precision {} (errors {}), false alarms {}",
                rule.recall, rule.precision, rule.blocked_precision, rule.false_alarms
            );
        }
        text.push('\n');
    }
    text
}
