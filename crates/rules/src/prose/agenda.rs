use super::{BlockKind, Clause, Prose, Sentence, Tags, Token};

/// Goals, criteria, things to do or not done, or told by a log: an open check box, an item under such
/// a heading, or what stands behind such a label: "To be done: …".
pub(crate) fn is_agenda(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.agenda.get(clause.sentence).copied().unwrap_or(false)
}

/// Which sentences are of that kind, in order.
pub(super) fn agenda(prose: &Prose<'_>) -> Vec<bool> {
    // What the sentence before a list announces.
    let mut announced = false;
    // Under a heading that announces what a log of others tells.
    let mut chronicle = false;
    // The first row of a table.
    let mut head = None;
    let of = |sentence: &Sentence| {
        let tokens = prose.tokens(sentence.tokens.clone());
        let ticked = match prose.block_of(sentence).map(|block| block.kind) {
            Some(BlockKind::Item { ticked }) => ticked,
            // "| Who | What | When |": what is to be done by whom.
            Some(BlockKind::Cell { row, .. }) => {
                let (first, who, when) = head.get_or_insert((row, false, false));
                if let [only] = tokens
                    && *first == row
                {
                    *who |= prose.is(only, words!["who", "owner", "assignee"]);
                    *when |= prose.is(only, words!["when", "due", "deadline"]);
                    announced |= *who && *when;
                }
                return announced || is_label(prose, tokens);
            }
            _ => {
                head = None;
                let heading = prose.block_of(sentence).map(|block| block.kind);
                let heading = heading == Some(BlockKind::Heading);
                chronicle = if heading { is_chronicle(prose, tokens) } else { chronicle };
                announced = tokens.iter().any(|t| t.has(Tags::AGENDA))
                    || is_denied(prose, tokens)
                    || is_remainder(prose, tokens);
                return is_label(prose, tokens);
            }
        };
        ticked == Some(false) || announced || chronicle || is_label(prose, tokens)
    };
    prose.sentences.iter().map(of).collect()
}

/// "### Session log summary": what is listed below is read from a log.
fn is_chronicle(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let log = words!["log", "logs", "history", "transcript", "timeline"];
    let of = words!["session", "sessions", "commit", "git", "agent", "conversation", "checkpoint"];
    tokens.iter().any(|t| prose.is(t, log)) && tokens.iter().any(|t| prose.is(t, of))
}

/// "What I have not done:", "I did not:": what follows was left undone.
fn is_denied(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let [.., last] = tokens else { return false };
    let not =
        |t: &Token| t.has(Tags::NEGATION) && prose.is(t, words!["not", "n't", "didn't", "haven't"]);
    let short = tokens.len() <= 7 && last.is(':');
    let done = |t: &Token| prose.is(t, words!["done", "do", "did", "didn't", "changed", "touched"]);
    short && tokens.iter().any(not) && tokens.iter().any(done)
}

/// "What remains:", "Still missing:", "Left to do:": what follows is yet to come.
fn is_remainder(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let [first, .., last] = tokens else { return false };
    let remains =
        |t: &Token| prose.is(t, words!["remains", "left", "missing", "open", "outstanding"]);
    let leads = prose.is(first, words!["what", "what's", "still", "left", "yet"]);
    tokens.len() <= 6 && last.is(':') && leads && tokens.iter().any(remains)
}

/// Whether a sentence begins with a label that names things to do.
fn is_label(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let Some(colon) = tokens.iter().take(5).position(|t| t.is(':')) else { return false };
    let label = tokens.get(..colon).unwrap_or_default();
    let to_do = label.first().is_some_and(|t| prose.is(t, words!["to", "todo", "to-do"]))
        && label.get(1).is_none_or(|t| prose.is(t, words!["be", "do"]));
    to_do || label.iter().any(|t| t.has(Tags::AGENDA))
}
