//! Members that are `true` or `false`, held against what is said in their name: "the loan is
//! signed", where the result has `"signed": false`.

use super::judge::Wrong;
use super::near::Near;
use crate::facts::{Facts, Families};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind};
use crate::values::{Leaf, Leaves, Source, holds};
use countersign_model::Family;

/// A shorter word names no state.
const SHORTEST: usize = 4;

/// A member that is `true` or `false`.
#[derive(Debug)]
pub(super) struct Flag<'t> {
    name: &'t str,
    value: bool,
    /// What it is told of: the names and short texts beside it, and the name of what holds them.
    about: Vec<&'t str>,
    /// Something was changed after it was read.
    stale: bool,
}

/// The flags of the results before a message, newest first.
pub(super) fn flags_of<'t>(facts: &Facts<'t>, turn: usize, reach: usize) -> Vec<Flag<'t>> {
    let mut flags = Vec::new();
    // A message that was sent changes nothing of what was read.
    let sends = Families::of(&[Family::Send]);
    let changed = facts
        .deeds_before(turn)
        .find(|(_, deed)| deed.changes() && deed.families != sends && deed.status().succeeded());
    let changed = changed.map(|(execution, _)| execution.called_at);
    for given in facts.given().near(turn, reach) {
        let Source::Result(_) = given.source else { continue };
        let Some(leaves) = Leaves::of(given.text) else { continue };
        let nodes = leaves.nodes();
        for node in nodes {
            let Leaf::Flag(value) = node.leaf else { continue };
            let mut about: Vec<&str> =
                nodes.get(node.parent).map(|parent| parent.name).into_iter().collect();
            for beside in nodes.iter().filter(|beside| beside.parent == node.parent) {
                about.push(beside.name);
                if let Leaf::Text(text) | Leaf::Number(text) = beside.leaf {
                    about.push(text);
                }
            }
            let stale = changed.is_some_and(|at| at > given.turn);
            flags.push(Flag { name: node.name, value, about, stale });
        }
    }
    flags
}

/// What an answer says otherwise than the flags of that name.
pub(super) fn wrong_flags<'t>(near: &Near<'_, 't>, prose: &Prose<'t>) -> Vec<Wrong<'t>> {
    let judged = prose.clauses.iter().filter_map(|clause| {
        let said = said(prose, clause)?;
        let told = near.flags().iter().filter(|flag| {
            is_called(flag.name, said.name) && said.about.iter().all(|word| flag.is_about(word))
        });
        let told: Vec<_> = told.collect();
        let first = told.first()?;
        let one = told.iter().all(|flag| flag.value == first.value && !flag.stale);
        (one && first.value != said.value).then(|| Wrong {
            text: said.word.span().of(prose.text),
            span: said.word.span(),
            held: format!("`{}: {}`", first.name, first.value),
            proven: false,
        })
    });
    judged.collect()
}

impl Flag<'_> {
    fn is_about(&self, word: &str) -> bool {
        self.about.iter().any(|known| holds(known, word))
    }
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
    let ids: Vec<&str> =
        led.iter().filter(|t| t.kind == TokenKind::Id).map(|t| prose.word(t)).collect();
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
