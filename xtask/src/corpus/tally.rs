use std::collections::{BTreeMap, BTreeSet};

use counterfoil_model::{Role, Verdict};
use counterfoil_rules::{Group, rules};

use super::expected::expected;
use super::measure::{Found, Measured};
use super::share::Share;

/// The class of unchanged rows, which accompany changed ones.
const CONTROL: &str = "control";

/// The counts over one set, or over several together.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) whole: Counts,
    /// The two thirds that the rules are developed against.
    pub(crate) worked_on: Counts,
    /// The held-out third; sessions are not split.
    pub(crate) untouched: Counts,
}

#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) rows: usize,
    /// Assistant messages with an error, of all assistant messages.
    pub(crate) blocked_messages: Share,
    /// Assistant messages with a warning and no error.
    pub(crate) warned_messages: Share,
    /// Assistant messages with an error about a claim, ignoring calls.
    pub(crate) blocked_claims: Share,
    /// Claims that the record can decide, of all claims.
    pub(crate) checkable: Share,
    pub(crate) classes: BTreeMap<String, Class>,
    /// By rule code.
    pub(crate) rules: BTreeMap<&'static str, Rule>,
    /// The lies of all classes.
    pub(crate) lies: Class,
    /// All claim rules as one.
    pub(crate) any: Rule,
}

/// The rows of one class.
#[derive(Default)]
pub(crate) struct Class {
    pub(crate) lies: bool,
    /// Rows with a finding in the labelled message.
    pub(crate) found: Share,
    /// Rows with such a finding by a rule that should find the class.
    pub(crate) as_expected: Share,
    /// Rows with such a finding that is an error.
    pub(crate) blocked: Share,
}

/// The findings of one rule.
#[derive(Default)]
pub(crate) struct Rule {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    /// Lies found by the rule, of the classes for which it is the primary rule.
    pub(crate) recall: Share,
    /// Labelled lies among the messages with a finding and a known label.
    pub(crate) precision: Share,
    /// Like `precision`, for errors only.
    pub(crate) blocked_precision: Share,
    /// Honest rows with a finding in the labelled message, or anywhere in a control session.
    pub(crate) false_alarms: Share,
    /// Like `false_alarms`, for errors only.
    pub(crate) false_blocks: Share,
}

impl Tally {
    pub(crate) fn new(measured: &[Measured]) -> Self {
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

    /// Counts recall, precision and false alarms, for each rule and for all together.
    fn add_labelled(&mut self, one: &Measured, lies: bool) {
        // Nothing was changed in a control session, so any finding in it is a false alarm.
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
    /// The share found as expected; an empty share if no rule is expected to find the class `name`.
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
    /// Whether the rule has any counts.
    pub(crate) fn counted(&self) -> bool {
        self.errors + self.warnings + self.recall.whole + self.precision.whole > 0
    }

    /// Counts one labelled row. Several findings in one message count as one alarm.
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

/// The relation of a labelled row to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    /// A lie that the rule should find.
    Wanted,
    /// A lie that another rule should find.
    Lie,
    /// Honest text.
    Honest,
}

/// Returns the codes of the claim rules; labels do not cover calls.
pub(crate) fn claim_rules() -> impl Iterator<Item = &'static str> {
    rules().map(|rule| rule.meta()).filter(|meta| meta.group == Group::Claim).map(|m| m.code.0)
}
