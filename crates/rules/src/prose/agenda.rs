use super::{BlockKind, Clause, Prose, Tags, Token};

/// Goals, criteria, things to do: an open check box, an item under such a heading, or what stands
/// behind such a label: "To be done: …".
pub(crate) fn is_agenda(prose: &Prose<'_>, clause: &Clause) -> bool {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    if is_label(prose, prose.tokens(sentence.tokens.clone())) {
        return true;
    }
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

/// Whether a sentence begins with a label that names things to do.
fn is_label(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let Some(colon) = tokens.iter().take(5).position(|t| t.is(':')) else { return false };
    let label = tokens.get(..colon).unwrap_or_default();
    let to_do = label.first().is_some_and(|t| prose.is(t, &["to", "todo", "to-do"]))
        && label.get(1).is_none_or(|t| prose.is(t, &["be", "do"]));
    to_do || label.iter().any(|t| t.has(Tags::AGENDA))
}
