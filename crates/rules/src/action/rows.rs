//! Labels that say what was done, "Push: ✅", and what the rows of tables are about.

use std::ops::Range;

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind, Span};

use super::extract::ActionClaim;
use super::objects::objects_in;
use crate::prose::{BlockKind, Clause, Prose, Tags, Token, TokenKind};

/// "Push: ✅": the claim of an act of version control as the label of what became of it.
pub(super) fn claim_of_label(
    prose: &Prose<'_>,
    clause: &Clause,
    turn: usize,
) -> Option<ActionClaim> {
    let (family, label) = done_by_label(prose, clause)?;
    Some(claim_of(prose, clause, family, String::from("done"), label, turn))
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

/// "✅ Done", "Completed": nothing but that it is done.
fn is_done(said: &[Token]) -> bool {
    let words = || said.iter().filter(|t| t.kind == TokenKind::Word);
    let tick = |t: &Token| matches!(t.kind, TokenKind::Symbol('✅' | '✔' | '✓' | '☑'));
    let done = |t: &Token| t.has(Tags::DONE.or(Tags::PASSING).or(Tags::ACCOMPLISHED));
    let plain = words().all(|t| done(t) || t.has(Tags::ADVERB.or(Tags::SUCCESS)));
    plain && (words().any(done) || said.iter().any(tick)) && said.len() <= 4
}
