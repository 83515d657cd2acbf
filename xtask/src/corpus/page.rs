use std::fmt::Write as _;

use counterfoil_rules::rules;

use super::sets::SETS;
use super::share::Share;
use super::tally::{Class, Counts, Rule, Tally, claim_rules};

/// The measurements on fresh batches, written by hand after each.
const SERIES: &str = include_str!("../../corpus/series.md");

/// The path of the generated page, from the root of the repository.
pub(crate) const PATH: &str = "docs/accuracy.md";

const HEAD: &str = include_str!("../../corpus/page-head.md");
const LABELLED: &str = include_str!("../../corpus/page-labelled.md");
const TAIL: &str = include_str!("../../corpus/page-tail.md");

/// Renders the page about the large sets. `labelled` is the total of all labelled rows.
pub(crate) fn page(tallies: &[(&str, Tally)], labelled: &Tally) -> String {
    let mut text = HEAD.to_owned();
    text += SERIES;
    text += LABELLED;
    classes(&mut text, tallies, true);
    text += "\n### Honest answers reported\n\n";
    classes(&mut text, tallies, false);
    by_rule(&mut text, &labelled.whole);
    unlabelled(&mut text, tallies);
    sets(&mut text, tallies);
    text.push('\n');
    text + TAIL
}

/// Renders the classes of all sets that have rows of this kind.
fn classes(text: &mut String, tallies: &[(&str, Tally)], lies: bool) {
    *text += "| set | class | used for development | held out |\n|---|---|---|---|\n";
    let reported = |class: Option<&Class>| class.map_or(Share::default(), |class| class.blocked);
    let mut row = |set: &str, name: &str, shares: [Share; 2]| {
        let [worked_on, untouched] = shares.map(counted);
        let _ = writeln!(text, "| `{set}` | {name} | {worked_on} | {untouched} |");
    };
    for (set, tally) in tallies {
        let own = tally.whole.classes.iter().filter(|(_, class)| class.lies == lies);
        let names: Vec<&String> = own.map(|(name, _)| name).collect();
        for name in &names {
            row(set, name, parts(tally).map(|counts| reported(counts.classes.get(*name))));
        }
        if lies && names.len() > 1 {
            row(set, "*all*", parts(tally).map(|counts| counts.lies.blocked));
        }
    }
}

fn parts(tally: &Tally) -> [&Counts; 2] {
    [&tally.worked_on, &tally.untouched]
}

/// `3 of 4`, or a dash if there is nothing to count.
fn counted(Share { part, whole }: Share) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{part} of {whole}") }
}

fn by_rule(text: &mut String, counts: &Counts) {
    *text += "\n### By rule\n\n*Lies found*: of the lies in the classes that this rule is meant to \
              find, how many it found. *Errors about lies*: of all errors that the rule reported \
              in labelled messages, how many were about a lie. Both columns include the held-out \
              third.\n\n\
              | rule | lies found | errors about lies |\n|---|---|---|\n";
    let mut row = |name: &str, rule: &Rule| {
        let (found, right) = (rule.recall, rule.blocked_precision);
        let _ = writeln!(text, "| {name} | {} | {} |", counted(found), counted(right));
    };
    let mut unmeasured = Vec::new();
    for meta in rules().map(|rule| rule.meta()) {
        match counts.rules.get(meta.code.0) {
            Some(rule) if rule.recall.whole + rule.precision.whole > 0 => {
                row(&format!("{} {}", meta.code, meta.name), rule);
            }
            Some(_) if claim_rules().any(|claim| claim == meta.code.0) => {
                unmeasured.push(meta.code.0);
            }
            _ => {}
        }
    }
    row("*all*", &counts.any);
    if !unmeasured.is_empty() {
        let codes = unmeasured.join(", ");
        let _ = writeln!(
            text,
            "\nThe labelled sets contain no lies of the kinds that the following rules are meant \
             to find: {codes}."
        );
    }
}

fn unlabelled(text: &mut String, tallies: &[(&str, Tally)]) {
    *text += "\n## Sessions without labels\n\nNobody has labelled these messages. Some of the \
              findings are correct, so a finding is not necessarily a false alarm. Errors and \
              warnings can be about claims or about calls. *Checkable*: of the claims that some \
              rule recognised, the share that the record could settle.\n\n\
              | set | messages | with an error about a claim | with any error \
              | with only a warning | checkable |\n\
              |---|---|---|---|---|---|\n";
    for (set, Tally { whole, .. }) in tallies.iter().filter(|(_, t)| t.whole.classes.is_empty()) {
        let (claims, blocked, warned) =
            (whole.blocked_claims.part, whole.blocked_messages.part, whole.warned_messages.part);
        let (all, checkable) = (whole.blocked_messages.whole, whole.checkable);
        let _ =
            writeln!(text, "| `{set}` | {all} | {claims} | {blocked} | {warned} | {checkable} |");
    }
}

fn sets(text: &mut String, tallies: &[(&str, Tally)]) {
    *text += "\n## Sets\n\n| set | rows | contents |\n|---|---|---|\n";
    for (set, tally) in tallies {
        let about = SETS.iter().find(|s| s.name == *set).map_or("", |s| s.about);
        let _ = writeln!(text, "| `{set}` | {} | {about} |", tally.whole.rows);
    }
}
