use std::fmt::Write as _;

use counterfoil_rules::rules;

use super::sets::SETS;
use super::tally::{Class, Counts, Rule, Tally, claim_rules};
use super::thresholds::Outcome;

/// The counts of fresh batches, written by hand after each.
const SERIES: &str = include_str!("../../corpus/series.md");

/// The path of the generated page, from the root of the repository.
pub(crate) const PATH: &str = "docs/accuracy.md";

const HEAD: &str = include_str!("../../corpus/page-head.md");
const TAIL: &str = include_str!("../../corpus/page-tail.md");

/// Renders the page about the large sets. `labelled` is the total of all labelled rows.
pub(crate) fn page(tallies: &[(&str, Tally)], labelled: &Tally, outcomes: &[Outcome]) -> String {
    let mut text = HEAD.to_owned();
    text += "\n## Sets\n\n";
    sets(&mut text, tallies);
    text += "\n*Checkable*: of the claims that some rule recognised, those the record could decide. \
             Sentences that no rule recognises are not counted.\n";
    text += "\n";
    text += SERIES;
    text += "## Lies found\n\nA row counts as found if the labelled message has a finding about \
             any of its sentences. *By its rule* counts only findings of the rules that should \
             find the class (–: no such rule yet); *blocked* counts only errors.\n";
    classes(&mut text, tallies, true);
    text += "\n## Honest text accused\n\nThe same for honest labelled messages; lower is \
             better.\n";
    classes(&mut text, tallies, false);
    text += "\n## By rule\n\nAll labelled rows together. *Recall*: of the lies in classes with \
             this primary rule, the share that it finds by itself. *Precision*: of the labelled \
             messages with a finding, the share that lie (in control sessions, every message \
             counts as honest); it depends on the share of lies in the sets, which is high. *False \
             alarms*: of the honest rows, the share with a finding.\n";
    for (title, counts) in parts(labelled) {
        by_rule(&mut text, title, counts);
    }
    unmeasured(&mut text, labelled);
    text += "\n## Alarms on text without labels\n\nThese messages are not known to be honest: some \
             of these findings are correct.\n";
    unlabelled(&mut text, tallies);
    text += "\n## Thresholds\n\n`cargo xtask corpus` fails if a threshold is \
             broken.\n\n\
             | threshold | limit | measured | |\n|---|---|---|---|\n";
    for Outcome { name, limit, share, kept } in outcomes {
        let mark = if *kept { "kept" } else { "**broken**" };
        let _ = writeln!(text, "| {name} | {limit} | {share} | {mark} |");
    }
    text.push('\n');
    text + TAIL
}

fn parts(tally: &Tally) -> [(&'static str, &Counts); 2] {
    [("worked on", &tally.worked_on), ("untouched third", &tally.untouched)]
}

fn sets(text: &mut String, tallies: &[(&str, Tally)]) {
    *text += "| set | rows | assistant messages | claims checkable | what it holds |\n\
              |---|---|---|---|---|\n";
    for (set, Tally { whole, .. }) in tallies {
        let about = SETS.iter().find(|s| s.name == *set).map_or("", |s| s.about);
        let (rows, messages) = (whole.rows, whole.blocked_messages.whole);
        let _ = writeln!(text, "| `{set}` | {rows} | {messages} | {} | {about} |", whole.checkable);
    }
}

/// Renders a table for each set that has rows of this kind.
fn classes(text: &mut String, tallies: &[(&str, Tally)], lies: bool) {
    for (set, tally) in tallies {
        let own = tally.whole.classes.iter().filter(|(_, class)| class.lies == lies);
        let names: Vec<&String> = own.map(|(name, _)| name).collect();
        if names.is_empty() {
            continue;
        }
        let as_expected = if lies { " by its rule |" } else { "" };
        let _ = write!(
            text,
            "\n### {set}\n\n| class | part | rows | found |{as_expected} blocked |\n\
             |---|---|---|---|---|{}\n",
            if lies { "---|" } else { "" }
        );
        for name in names {
            for (part, counts) in parts(tally) {
                let Some(class) = counts.classes.get(name) else { continue };
                let (rows, found, blocked) = (class.found.whole, class.found, class.blocked);
                let _ = write!(text, "| {name} | {part} | {rows} | {found} |");
                if lies {
                    let _ = write!(text, " {} |", class.by_its_rule(name));
                }
                let _ = writeln!(text, " {blocked} |");
            }
        }
        if lies {
            for (part, counts) in parts(tally) {
                let Class { found, as_expected, blocked, .. } = &counts.lies;
                let rows = found.whole;
                let _ = writeln!(
                    text,
                    "| *all* | {part} | {rows} | {found} | {as_expected} | {blocked} |"
                );
            }
        }
    }
}

fn by_rule(text: &mut String, title: &str, counts: &Counts) {
    let _ = write!(
        text,
        "\n### {title}\n\n| rule | recall | precision | precision of errors | false alarms | \
         honest rows blocked |\n|---|---|---|---|---|---|\n"
    );
    let mut row = |name: &str, rule: &Rule| {
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} |",
            rule.recall,
            rule.precision,
            rule.blocked_precision,
            rule.false_alarms,
            rule.false_blocks
        );
    };
    for meta in rules().map(|rule| rule.meta()) {
        let counted = |r: &&Rule| r.recall.whole + r.precision.whole > 0;
        if let Some(rule) = counts.rules.get(meta.code.0).filter(counted) {
            row(&format!("{} {}", meta.code, meta.name), rule);
        }
    }
    row("*all together*", &counts.any);
}

fn unmeasured(text: &mut String, labelled: &Tally) {
    let without = |rule: &Rule| rule.recall.whole == 0;
    let codes: Vec<&str> = (rules().map(|rule| rule.meta().code.0))
        .filter(|code| labelled.whole.rules.get(code).is_some_and(without))
        .filter(|code| claim_rules().any(|claim| claim == *code))
        .collect();
    if !codes.is_empty() {
        let codes = codes.join(", ");
        let _ = writeln!(
            text,
            "\nNot measured here, because no labelled lie is in a class of theirs: {codes}."
        );
    }
}

fn unlabelled(text: &mut String, tallies: &[(&str, Tally)]) {
    *text += "\n| set | part | messages | with an error | with an error about a claim | with a warning \
              only |\n|---|---|---|---|---|---|\n";
    let without = || tallies.iter().filter(|(_, tally)| tally.whole.classes.is_empty());
    for (set, tally) in without() {
        for (part, counts) in parts(tally) {
            let (all, blocked) = (counts.blocked_messages.whole, counts.blocked_messages);
            let (claims, warned) = (counts.blocked_claims, counts.warned_messages);
            let _ =
                writeln!(text, "| `{set}` | {part} | {all} | {blocked} | {claims} | {warned} |");
        }
    }
    *text += "\nErrors + warnings by rule, in whole sets:\n\n| rule |";
    for (set, _) in without() {
        let _ = write!(text, " {set} |");
    }
    *text += "\n|---|";
    *text += &"---|".repeat(without().count());
    text.push('\n');
    for meta in rules().map(|rule| rule.meta()) {
        let of = |tally: &Tally| {
            let rule = tally.whole.rules.get(meta.code.0);
            rule.map_or((0, 0), |rule| (rule.errors, rule.warnings))
        };
        if without().all(|(_, tally)| of(tally) == (0, 0)) {
            continue;
        }
        let _ = write!(text, "| {} |", meta.code);
        for (_, tally) in without() {
            let (errors, warnings) = of(tally);
            let _ = write!(text, " {errors} + {warnings} |");
        }
        text.push('\n');
    }
}
