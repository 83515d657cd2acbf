//! Rows of tables that say what was done: "| Create ticket | ✅ Done |", "| `a.rs` | created |".

use std::ops::Range;

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind, Span};

use super::extract::ActionClaim;
use super::objects::objects_in;
use crate::prose::{Action, BlockKind, Clause, Prose, Tags, Token, TokenKind};

/// The claim of a cell that says that what its row names was done. A table may as well list what
/// is to be done, so that nothing is proven by it.
pub(super) fn claim_in_row(prose: &Prose<'_>, clause: &Clause, turn: usize) -> Option<ActionClaim> {
    if let Some((family, label)) = done_by_label(prose, clause) {
        return Some(claim_of(prose, clause, family, String::from("done"), label, turn));
    }
    let (row, column) = place(prose, clause.sentence).filter(|&(_, column)| column > 0)?;
    let before = clause.sentence.checked_sub(1)?;
    if place(prose, before) != Some((row, column - 1)) {
        return None;
    }
    let label = prose.sentences.get(before)?.tokens.clone();
    let named = prose.tokens(label.clone());
    let said = prose.tokens(clause.tokens.clone());
    let objects = objects_in(prose, label.clone());
    let file = objects.iter().any(|o| o.kind == ObjectKind::Path) && named.len() <= 2;
    let (family, verb) = match file {
        true => done_to_file(prose, said)?,
        false => (task(named).filter(|_| is_done(said))?, String::from("done")),
    };
    Some(claim_of(prose, clause, family, verb, label, turn))
}

/// The claim that a label and what stands behind it make together.
fn claim_of(
    prose: &Prose<'_>,
    clause: &Clause,
    family: Family,
    verb: String,
    label: Range<usize>,
    turn: usize,
) -> ActionClaim {
    let objects = objects_in(prose, label.clone());
    let start = prose.tokens.get(label.start).map_or(clause.span.start, |t| t.start as usize);
    let span = Span::new(start, clause.span.end);
    ActionClaim {
        claim: Claim {
            kind: ClaimKind::Action(family),
            text: span.of(prose.text).to_owned(),
            objects: objects.clone(),
            span,
            turn,
        },
        family,
        verb,
        stem: None,
        patients: objects,
        things: Vec::new(),
        listed: Vec::new(),
        direct: false,
        weak: false,
        state: false,
        textual: false,
        of_others: false,
        as_found: false,
        paraphrased: false,
    }
}

/// "Push: ✅": an act of version control as the label of what became of it.
fn done_by_label(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, Range<usize>)> {
    let sentence = prose.sentences.get(clause.sentence)?;
    let said = prose.tokens(clause.tokens.clone());
    let (colon, said) = said.split_first()?;
    let label = sentence.tokens.start..clause.tokens.start;
    let named = prose.tokens(label.clone());
    let mut words = named.iter().filter(|t| t.kind == TokenKind::Word);
    let family = words.next()?.noun?;
    let acts = matches!(family, Family::Commit | Family::Push | Family::Deploy);
    let alone = words.next().is_none() && named.len() <= 2;
    (colon.is(':') && acts && alone && is_done(said)).then_some((family, label))
}

/// The row and the column of a sentence in a table.
fn place(prose: &Prose<'_>, sentence: usize) -> Option<(usize, usize)> {
    let sentence = prose.sentences.get(sentence)?;
    match prose.block_of(sentence)?.kind {
        BlockKind::Cell { row, column } => Some((row, column)),
        _ => None,
    }
}

/// The id in the first cell of a row, before a cell of it.
pub(super) fn named_in_row(prose: &Prose<'_>, sentence: usize) -> Vec<Object> {
    let Some((row, column)) = place(prose, sentence) else { return Vec::new() };
    let before = (0..sentence).rev().map(|at| (at, place(prose, at)));
    let mut cells = before.take_while(|(_, place)| place.is_some_and(|(other, _)| other == row));
    let first = cells.find(|(_, place)| place.is_some_and(|(_, column)| column == 0));
    let label = first.filter(|_| column > 0).and_then(|(at, _)| prose.sentences.get(at));
    let named = label.map(|label| objects_in(prose, label.tokens.clone())).unwrap_or_default();
    named.into_iter().filter(|o| o.kind == ObjectKind::Id).collect()
}

/// "Create ticket", "Assign to Lena": the family of an instruction that changes something.
fn task(label: &[Token]) -> Option<Family> {
    use Family as F;
    let act =
        |family: &F| matches!(family, F::Refund | F::Cancel | F::Commit | F::Push | F::Deploy);
    if let [one] = label
        && let Some(family) = one.noun.filter(act)
    {
        return Some(family);
    }
    let head = label.first().filter(|t| !t.quoted && t.has(Tags::BASE) && label.len() > 1)?;
    match head.verb? {
        Action::Of(family) => family.changes_state().then_some(family),
        Action::Generic | Action::Any => None,
    }
}

/// "✅ Done", "Completed": nothing but that it is done.
fn is_done(said: &[Token]) -> bool {
    let words = || said.iter().filter(|t| t.kind == TokenKind::Word);
    let tick = |t: &Token| matches!(t.kind, TokenKind::Symbol('✅' | '✔' | '✓' | '☑'));
    let done = |t: &Token| t.has(Tags::DONE.or(Tags::PASSING).or(Tags::ACCOMPLISHED));
    let plain = words().all(|t| done(t) || t.has(Tags::ADVERB.or(Tags::SUCCESS)));
    plain && (words().any(done) || said.iter().any(tick)) && said.len() <= 4
}

/// "created", "section added": what was done to the file of the row.
fn done_to_file(prose: &Prose<'_>, said: &[Token]) -> Option<(Family, String)> {
    let verb = said.iter().rfind(|t| t.kind == TokenKind::Word)?;
    let small = said.iter().all(|t| {
        matches!(t.kind, TokenKind::Symbol(_))
            || (t.kind == TokenKind::Word && !t.has(Tags::NEGATION.or(Tags::MODAL).or(Tags::BE)))
    });
    // "edit rejected"
    if prose.is(verb, words!["rejected", "declined", "refused", "denied"]) {
        return None;
    }
    let Some(Action::Of(family)) = verb.verb else { return None };
    let edits = matches!(family, Family::Create | Family::Update | Family::Delete);
    let plain = small && edits && verb.has(Tags::COMPLETED) && said.len() <= 4;
    plain.then(|| (family, prose.word(verb).to_ascii_lowercase()))
}
