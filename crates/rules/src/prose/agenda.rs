use super::{BlockKind, Clause, Prose, Sentence, Tags, Token, Words, sets};

/// Whether a clause is a goal, a criterion, a task, something left undone, or a log entry: an open
/// check box, an item under such a heading, or text after such a label: "To be done: …".
pub(crate) fn is_agenda(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.agenda.get(clause.sentence).copied().unwrap_or(false)
}

/// For each sentence, in order, whether it is part of an agenda.
pub(super) fn agenda(prose: &Prose<'_>) -> Vec<bool> {
    // Whether the sentence before a list announces an agenda.
    let mut announced = false;
    // The first row of the current table.
    let mut head = None;
    let of = |sentence: &Sentence| {
        let tokens = prose.tokens(sentence.tokens.clone());
        let ticked = match prose.block_of(sentence).map(|block| block.kind) {
            Some(BlockKind::Item { ticked }) => ticked,
            // "| Who | What | When |": a table of tasks.
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
                announced = tokens.iter().any(|t| t.has(Tags::AGENDA))
                    || is_denied(prose, tokens)
                    || is_label(prose, tokens)
                    || is_general(prose, tokens, heading);
                return is_label(prose, tokens);
            }
        };
        ticked == Some(false) || announced || is_label(prose, tokens)
    };
    prose.sentences.iter().map(of).collect()
}

/// "What I have not done:", "I did not:": the text after it was left undone.
fn is_denied(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let [.., last] = tokens else { return false };
    let not =
        |t: &Token| t.has(Tags::NEGATION) && prose.is(t, words!["not", "n't", "didn't", "haven't"]);
    let short = tokens.len() <= 7 && last.is(':');
    let done = |t: &Token| prose.is(t, words!["done", "do", "did", "didn't", "changed", "touched"]);
    short && tokens.iter().any(not) && tokens.iter().any(done)
}

/// Whether a sentence begins with a label for things to do.
fn is_label(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    if is_general(prose, tokens, false) {
        return true;
    }
    let Some(colon) = tokens.iter().take(5).position(|t| t.is(':')) else { return false };
    let label = tokens.get(..colon).unwrap_or_default();
    // "Not done: tests run, change committed"
    if is_denied(prose, tokens.get(..=colon).unwrap_or_default()) {
        return true;
    }
    let to_do = label.first().is_some_and(|t| prose.is(t, words!["to", "todo", "to-do"]))
        && label.get(1).is_none_or(|t| prose.is(t, words!["be", "do"]));
    to_do || label.iter().any(|t| t.has(Tags::AGENDA))
}

/// "Prerequisites: …", "What a release needs:", "It is merged when:", "The rule is simple: …", "The
/// order would be: …": whether it is about what is or should be true in general, rather than about
/// observations. If it is a heading, the whole sentence is the label.
fn is_general(prose: &Prose<'_>, tokens: &[Token], heading: bool) -> bool {
    let colon = tokens.iter().take(10).position(|t| t.is(':'));
    let Some(end) = colon.or(heading.then_some(tokens.len())) else { return false };
    let label = tokens.get(..end).unwrap_or_default();
    let observed = tags![HAVE, PAST_BE, FAILURE];
    let is = label.iter().any(|t| t.has(Tags::BE));
    // "Policy updated: …" is a result; "the definition of done" and "it is merged when" are not.
    let did = |(at, t): (usize, &Token)| {
        let of = at.checked_sub(1).and_then(|i| label.get(i));
        let of = of.is_some_and(|t| t.has(Tags::PREPOSITION));
        let done = t.has(Tags::COMPLETED) && !t.has(Tags::BASE) && !is && !of;
        t.quoted || t.has(observed) || (done && !prose.is(t, REQUIRED))
    };
    if label.iter().enumerate().any(did) {
        return false;
    }
    // "I could not send it: the server timed out": an event and its reason.
    if label.iter().any(|t| t.has(Tags::AGENT)) && label.iter().any(|t| t.has(Tags::NEGATION)) {
        return false;
    }
    let norm = |t: &Token| prose.is(t, &sets::NORMS) || t.has(Tags::MODAL);
    let leads = label.iter().find(|t| !t.is_mark()).is_some_and(|t| prose.is(t, REQUIRED))
        && label.get(1).is_none_or(|t| t.has(Tags::PREPOSITION));
    let last = label.last().is_some_and(|t| t.has(Tags::CONDITIONAL));
    // "The rule is done: …" is a result.
    let done = label.iter().any(|t| t.has(Tags::COMPLETED));
    let stated = is && !done && label.iter().any(|t| prose.is(t, &sets::USUAL_PRACTICE));
    // "Files that need to move" exist; "what a release needs" does not.
    let lacks = |t: &Token| prose.is(t, words!["need", "needs", "require", "requires"]);
    let ends = label.last().is_some_and(lacks);
    let norms = label.iter().any(|t| norm(t) && (colon.is_some() || ends || !lacks(t)));
    leads || last || stated || norms
}

/// Words of requirement that a label begins with.
const REQUIRED: &Words = words!["required", "needed"];
