use super::{BlockKind, Clause, Prose, Tags};

/// Goals, criteria, things to do: an open check box, or an item under such a heading.
pub(crate) fn is_agenda(prose: &Prose<'_>, clause: &Clause) -> bool {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    match prose.block_of(sentence).map(|b| b.kind) {
        Some(BlockKind::Item { ticked: Some(false) }) => return true,
        Some(BlockKind::Item { .. }) => {}
        _ => return false,
    }
    let lead = prose
        .sentences
        .get(..clause.sentence)
        .unwrap_or_default()
        .iter()
        .rev()
        .find(|s| !prose.block_of(s).is_some_and(|b| matches!(b.kind, BlockKind::Item { .. })));
    lead.is_some_and(|s| prose.tokens(s.tokens.clone()).iter().any(|t| t.has(Tags::AGENDA)))
}
