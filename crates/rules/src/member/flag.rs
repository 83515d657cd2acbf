//! Members that are `true` or `false`, held against what is said in their name: "the loan is
//! signed", where the result has `"signed": false`.

use std::rc::Rc;

use counterfoil_model::Family;

use super::judge::Wrong;
use super::near::Near;
use crate::facts::{Facts, Families};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind};
use crate::values::{Leaf, Leaves, Source};

/// A shorter word names no state.
const SHORTEST: usize = 4;
/// So many names of flags are kept.
const MOST: usize = 64;

/// A member that is `true` or `false`.
#[derive(Debug)]
struct Flag<'t> {
    value: bool,
    /// The result.
    leaves: Rc<Leaves<'t>>,
    /// The object that it stands in.
    object: usize,
    /// Something was changed after it was read.
    stale: bool,
}

/// The flags of the results before a message, newest first, by their names.
#[derive(Debug, Default)]
pub(super) struct Flags<'t>(Vec<(&'t str, Vec<Flag<'t>>)>);

impl<'t> Flags<'t> {
    pub(super) fn of(facts: &Facts<'t>, turn: usize, reach: usize) -> Self {
        let mut flags = Self::default();
        // A message that was sent changes nothing of what was read.
        let sends = Families::of(&[Family::Send]);
        let changed = facts.deeds_before(turn).find(|(_, deed)| {
            deed.changes() && deed.families != sends && deed.status().succeeded()
        });
        let changed = changed.map(|(execution, _)| execution.called_at);
        for given in facts.given().near(turn, reach) {
            let Source::Result(_) = given.source else { continue };
            let Some(leaves) = Leaves::of(given.text).map(Rc::new) else { continue };
            let stale = changed.is_some_and(|at| at > given.turn);
            for node in leaves.nodes() {
                let Leaf::Flag(value) = node.leaf else { continue };
                let flag = Flag { value, leaves: Rc::clone(&leaves), object: node.parent, stale };
                flags.add(node.name, flag);
            }
        }
        flags
    }

    fn add(&mut self, name: &'t str, flag: Flag<'t>) {
        let known = self.0.iter().position(|(known, _)| *known == name);
        if known.is_none() && self.0.len() < MOST {
            self.0.push((name, Vec::new()));
        }
        let at = known.unwrap_or(self.0.len().saturating_sub(1));
        match self.0.get_mut(at) {
            Some((known, flags)) if *known == name => flags.push(flag),
            _ => {}
        }
    }
}

/// What an answer says otherwise than the flags of that name.
pub(super) fn wrong_flags<'t>(near: &Near<'_, 't>, prose: &Prose<'t>) -> Vec<Wrong<'t>> {
    let judged = prose.clauses.iter().filter_map(|clause| {
        let said = said(prose, clause)?;
        let (name, flags) = near.flags().0.iter().find(|(name, _)| is_called(name, said.name))?;
        let about = |flag: &&Flag<'_>| said.about.iter().all(|word| flag.is_about(word));
        let told: Vec<_> = flags.iter().filter(about).collect();
        let value = told.first()?.value;
        let one = told.iter().all(|flag| flag.value == value && !flag.stale);
        (one && value != said.value).then(|| Wrong {
            text: said.word.span().of(prose.text),
            span: said.word.span(),
            held: format!("`{name}: {value}`"),
        })
    });
    judged.collect()
}

impl Flag<'_> {
    /// Whether its object is the thing: by the name that holds it, or by the member that stands
    /// first in it.
    fn is_about(&self, word: &str) -> bool {
        let nodes = self.leaves.nodes();
        let holder = nodes.get(self.object).map_or("", |node| node.name);
        let Some(first) = nodes.get(self.object + 1) else { return false };
        let id = |text: &str| text.trim_start_matches('#').eq_ignore_ascii_case(word);
        let text = match first.leaf {
            Leaf::Text(text) | Leaf::Number(text) => text,
            _ => "",
        };
        is_kind(holder, word) || is_kind(first.name, word) || id(text)
    }
}

/// Whether a member is named after a kind of thing: `invoice`, `invoice_id`, `Invoices`.
fn is_kind(name: &str, word: &str) -> bool {
    let rest = name.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word));
    let rest = rest.and_then(|_| name.get(word.len()..)).map(|rest| rest.trim_start_matches('_'));
    let ends = ["", "s", "id", "Id", "ID", "no", "number", "ref"];
    rest.is_some_and(|rest| ends.contains(&rest))
}

/// "signed", `is_signed`
fn is_called(name: &str, word: &str) -> bool {
    let plain = ["is_", "has_", "was_"].iter().find_map(|lead| name.strip_prefix(lead));
    plain.unwrap_or(name).eq_ignore_ascii_case(word)
}

/// What is said to be so, or not.
struct Said<'p, 't> {
    word: &'p Token,
    name: &'t str,
    value: bool,
    /// The thing of which it is said: its id, else its noun.
    about: Vec<&'t str>,
}

/// "The loan is not signed yet", "INV-7 is unpaid".
fn said<'p, 't>(prose: &'p Prose<'t>, clause: &Clause) -> Option<Said<'p, 't>> {
    let link = Tags::BE.or(Tags::BEEN);
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::EARLIER).or(Tags::AGENT).or(Tags::PAST_BE);
    if clause.mood != Mood::Asserted || clause.tags.any(doubt) || !clause.tags.any(link) {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let linked = tokens.iter().rposition(|t| t.has(link))?;
    let small = Tags::ADVERB.or(Tags::NOW).or(Tags::NEGATION);
    let at = linked + 1 + tokens.get(linked + 1..)?.iter().position(|t| !t.has(small))?;
    let word = tokens.get(at).filter(|t| t.kind == TokenKind::Word && !t.quoted)?;
    // "is paid by card", "is signed off": more than the member tells.
    let ends = tokens.get(at + 1).is_none_or(|t| {
        !matches!(t.kind, TokenKind::Word) || t.has(Tags::NOW.or(Tags::ADVERB).or(Tags::COORDINATE))
    });
    let auxiliary = tokens.iter().position(|t| t.has(link.or(Tags::HAVE)))?;
    let mut led = tokens.get(..auxiliary)?;
    // "your last invoice (INV-7) is unpaid"
    if led.first().is_some_and(|t| t.is(')')) {
        let before = prose.before_in_sentence(clause.tokens.start);
        led = before.get(before.iter().rposition(|t| t.is('('))? + 1..)?;
    }
    let open = Tags::NEGATION.or(Tags::USER).or(Tags::THIRD).or(Tags::RELATIVE);
    if !ends || led.iter().any(|t| t.has(open) || t.has(Tags::PREPOSITION)) {
        return None;
    }
    let ids: Vec<&str> = led
        .iter()
        .filter(|t| t.kind == TokenKind::Id)
        .map(|t| prose.word(t).trim_start_matches('#'))
        .collect();
    let about = match ids.is_empty() {
        false => ids,
        // The last word before the verb.
        true => vec![
            led.last()
                .filter(|t| t.kind == TokenKind::Word && !t.has(Tags::THING.or(Tags::DETERMINER)))
                .map(|t| prose.word(t))?,
        ],
    };
    let negated = tokens.get(auxiliary..at)?.iter().any(|t| t.has(Tags::NEGATION));
    let text = prose.word(word);
    let (name, value) = match text.strip_prefix("un").filter(|rest| rest.len() >= SHORTEST) {
        Some(rest) => (rest, negated),
        None => (text, !negated),
    };
    (name.len() >= SHORTEST).then_some(Said { word, name, value, about })
}
