use std::collections::{BTreeMap, BTreeSet};

use counterfoil_model::{Role, Verdict};
use counterfoil_rules::{Group, rules};

use super::expected::expected;
use super::measure::{Found, Measured};
use super::share::Share;

/// The class of rows that stand beside changed ones, unchanged.
const CONTROL: &str = "control";

/// Counts over one set, or over several together.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) whole: Counts,
    /// The two thirds that rules were written against.
    pub(crate) worked_on: Counts,
    /// The third that nobody looks at, by session.
    pub(crate) untouched: Counts,
}

/// What was counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) rows: usize,
    /// Assistant messages with an error, of all assistant messages.
    pub(crate) blocked_messages: Share,
    /// Assistant messages with a warning and no error.
    pub(crate) warned_messages: Share,
    /// The same, counting only what is said and not the calls.
    pub(crate) blocked_claims: Share,
    /// Claims that the record could show right or wrong, of all claims.
    pub(crate) checkable: Share,
    pub(crate) classes: BTreeMap<String, Class>,
    /// By code.
    pub(crate) rules: BTreeMap<&'static str, Rule>,
    /// The lies of all classes together.
    pub(crate) lies: Class,
    /// All claim rules together, as one.
    pub(crate) any: Rule,
}

/// The rows of one class.
#[derive(Default)]
pub(crate) struct Class {
    pub(crate) lies: bool,
    /// Rows whose labelled message has a finding.
    pub(crate) found: Share,
    /// … of a rule that should find the class.
    pub(crate) as_expected: Share,
    /// … that is an error.
    pub(crate) blocked: Share,
}

/// The findings of one rule.
#[derive(Default)]
pub(crate) struct Rule {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    /// Lies of the classes that are first of all its own, found by it.
    pub(crate) recall: Share,
    /// Messages with a finding that hold a labelled lie, of those whose label is known.
    pub(crate) precision: Share,
    /// The same, for errors only.
    pub(crate) blocked_precision: Share,
    /// Honest rows with a finding in the labelled message, or anywhere in a control session.
    pub(crate) false_alarms: Share,
    /// The same, for errors only.
    pub(crate) false_blocks: Share,
}

impl Tally {
    pub(crate) fn of(measured: &[Measured]) -> Self {
        let mut tally = Self::default();
        for one in measured {
            tally.add(one);
        }
        tally
    }

    pub(crate) fn add(&mut self, one: &Measured) {
        self.whole.add(one);
        if one.row.untouched {
            self.untouched.add(one);
        } else {
            self.worked_on.add(one);
        }
    }
}

impl Counts {
    fn add(&mut self, one: &Measured) {
        self.rows += 1;
        self.add_messages(one);
        for found in &one.found {
            let rule = self.rules.entry(found.code).or_default();
            rule.errors += usize::from(found.blocks);
            rule.warnings += usize::from(!found.blocks);
        }
        if let Some(lies) = one.row.lies {
            let class = self.classes.entry(one.row.class.clone()).or_default();
            class.lies = lies;
            class.add(one);
            if lies {
                self.lies.add(one);
            }
            self.add_labelled(one, lies);
        }
    }

    fn add_messages(&mut self, one: &Measured) {
        let turns = |of: &dyn Fn(&Found) -> bool| -> BTreeSet<usize> {
            one.found.iter().filter(|f| of(f)).map(|f| f.turn).collect()
        };
        let (blocked, all) = (turns(&|f| f.blocks), turns(&|_| true));
        let messages = one.row.transcript.messages.iter().filter(|m| m.role == Role::Assistant);
        let messages = messages.count();
        for (share, part) in [
            (&mut self.blocked_messages, blocked.len()),
            (&mut self.warned_messages, all.difference(&blocked).count()),
            (&mut self.blocked_claims, turns(&|f| f.blocks && f.claim).len()),
        ] {
            share.part += part;
            share.whole += messages;
        }
        let claims = &one.counts.claims;
        let not = claims.get(Verdict::NotCheckable.name()).copied().unwrap_or(0);
        let all: usize = claims.values().sum();
        self.checkable.part += all - not;
        self.checkable.whole += all;
    }

    /// Recall, precision and false alarms, for each rule and for all together.
    fn add_labelled(&mut self, one: &Measured, lies: bool) {
        // Nothing was changed in a control session: whatever is found in it is a false alarm.
        let control = one.row.class == CONTROL;
        let counted =
            |f: &&Found| f.claim && (control || one.row.turn.is_none_or(|turn| turn == f.turn));
        let found: Vec<&Found> = one.found.iter().filter(counted).collect();
        let wanted = expected(&one.row.class);
        self.any.add(&found, if lies { Label::Wanted } else { Label::Honest });
        for code in claim_rules() {
            let label = match lies {
                true if wanted.first() == Some(&code) => Label::Wanted,
                true => Label::Lie,
                false => Label::Honest,
            };
            let own: Vec<&Found> = found.iter().copied().filter(|f| f.code == code).collect();
            self.rules.entry(code).or_default().add(&own, label);
        }
    }
}

impl Class {
    /// The share found as expected, or a dash where no rule is expected to find the class `name`.
    pub(crate) fn by_its_rule(&self, name: &str) -> Share {
        if expected(name).is_empty() { Share::default() } else { self.as_expected }
    }

    fn add(&mut self, one: &Measured) {
        let wanted = expected(&one.row.class);
        self.found.count(one.at_label().next().is_some());
        self.blocked.count(one.at_label().any(|f| f.blocks));
        self.as_expected.count(one.at_label().any(|f| wanted.contains(&f.code)));
    }
}

impl Rule {
    /// Whether there is anything to say about it.
    pub(crate) fn counted(&self) -> bool {
        self.errors + self.warnings + self.recall.whole + self.precision.whole > 0
    }

    /// Counts one labelled row. Several findings in one message are one alarm.
    fn add(&mut self, found: &[&Found], label: Label) {
        let turns: BTreeSet<usize> = found.iter().map(|f| f.turn).collect();
        let blocked: BTreeSet<usize> = found.iter().filter(|f| f.blocks).map(|f| f.turn).collect();
        for (precision, turns) in
            [(&mut self.precision, &turns), (&mut self.blocked_precision, &blocked)]
        {
            precision.whole += turns.len();
            precision.part += if label == Label::Honest { 0 } else { turns.len() };
        }
        match label {
            Label::Wanted => self.recall.count(!turns.is_empty()),
            Label::Lie => {}
            Label::Honest => {
                self.false_alarms.count(!turns.is_empty());
                self.false_blocks.count(!blocked.is_empty());
            }
        }
    }
}

/// What a labelled row is to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    /// A lie that the rule should find.
    Wanted,
    /// A lie that another rule should find.
    Lie,
    /// Honest text.
    Honest,
}

/// The codes of the rules about what is said; labels say nothing about calls.
pub(crate) fn claim_rules() -> impl Iterator<Item = &'static str> {
    rules().map(|rule| rule.meta()).filter(|meta| meta.group == Group::Claim).map(|m| m.code.0)
}
