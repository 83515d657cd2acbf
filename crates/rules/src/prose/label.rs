//! Labels, and what stands behind them: "**Cleanup:** removed the helper", "Permit: RP-33 renewed".

use std::ops::Range;

use super::lexicon::Tags;
use super::tokens::{Token, TokenKind};

/// "**Cleanup:** removed the helper", "Parser – added a check": a verb with its object behind a label
/// of a word or three.
pub(super) fn heads_labelled_act(tokens: &[Token], start: usize, verb: usize) -> bool {
    let label = tokens.get(start..verb).unwrap_or_default();
    let mark = |t: &Token| matches!(t.kind, TokenKind::Symbol(_));
    let numbered = |t: &Token| mark(t) || t.kind == TokenKind::Number;
    let first = label.iter().take_while(|t| numbered(t)).count();
    let last = label.iter().rev().take_while(|t| mark(t)).count();
    let Some(words) = label.get(first..label.len().saturating_sub(last)) else { return false };
    let parts = label.iter().rev().take(last.max(1));
    let parted = parts.clone().any(|t| t.is(':') || t.is('–') || t.is('—') || t.is('-'));
    let verbal = Tags::BE.or(Tags::HAVE).or(Tags::MODAL).or(Tags::AGENT).or(Tags::USER);
    let open = verbal.or(Tags::STATE_NOUN).or(Tags::AGENDA).or(Tags::PAST).or(Tags::REPORT);
    let open = open.or(Tags::NEGATION).or(Tags::CONDITIONAL).or(Tags::REQUEST).or(Tags::THIRD);
    let plain = |t: &Token| t.kind == TokenKind::Word && !t.quoted && !t.has(open);
    // "Status: cancelled by the shop": an object of its own stands behind the verb. "Mia: revised
    // plans" is what she is to make.
    let capital = tokens.get(verb).is_some_and(|t| t.capital);
    let object = tokens.get(verb + 1).is_some_and(|t| {
        t.has(Tags::DETERMINER.or(Tags::AGENT_OWN))
            || matches!(t.kind, TokenKind::Code | TokenKind::Identifier | TokenKind::Path)
            || (capital && t.kind == TokenKind::Word && t.tags.is_empty() && t.verb.is_none())
            || (capital && t.kind == TokenKind::Number)
    });
    parted && object && (1..=3).contains(&words.len()) && words.iter().all(plain)
}

/// "`src/a.rs` - Added a check": a verb behind a label that names only files.
pub(super) fn heads_label(tokens: &[Token], start: usize, verb: usize) -> bool {
    let label = tokens.get(start..verb).unwrap_or_default();
    let named = |t: &Token| matches!(t.kind, TokenKind::Path | TokenKind::Code);
    let numbered = |t: &Token| matches!(t.kind, TokenKind::Symbol(_) | TokenKind::Number);
    if !label.is_empty() && label.iter().all(numbered) {
        return true;
    }
    label
        .last()
        .is_some_and(|t| t.is('-') || t.is('—') || t.is('–') || t.is(':') || t.is('→') || t.is('('))
        && label.iter().any(named)
        && label.iter().all(|t| named(t) || matches!(t.kind, TokenKind::Symbol(_)))
}

/// "Order #W1: cancelled", "Refund: issued", "Police report: attached to the claim": a thing or an
/// action as the label of its outcome. What stands behind "Status" is read off a record.
pub(super) fn result_label(
    tokens: &[Token],
    start: usize,
    verb: usize,
    end: usize,
) -> Option<Range<usize>> {
    // "Soups: €6.40 refunded", "Permit: RP-33 renewed"
    let back = |n: usize| verb.checked_sub(n).and_then(|at| tokens.get(at));
    let paid = back(1).is_some_and(|t| matches!(t.kind, TokenKind::Money | TokenKind::Id));
    let colon = verb.checked_sub(1 + usize::from(paid));
    let colon = colon.filter(|&i| tokens.get(i).is_some_and(|t| t.is(':')))?;
    let label = tokens.get(start..colon)?;
    let numbered = |t: &Token| matches!(t.kind, TokenKind::Id | TokenKind::Identifier);
    let named = label.iter().any(|t| numbered(t) || t.noun.is_some());
    let open = Tags::BE.or(Tags::HAVE).or(Tags::MODAL).or(Tags::AGENT).or(Tags::USER);
    let open = open.or(Tags::STATE_NOUN).or(Tags::AGENDA).or(Tags::COMPLETED);
    let plain = label.iter().all(|t| !t.has(open));
    let behind = tokens.get(verb + 1..end)?;
    let closed = closes_result(behind);
    let thing = names_thing(label);
    let leads = if paid { Tags::GOAL.or(Tags::PREPOSITION) } else { Tags::GOAL };
    let told = (named && closed) || (thing && (closed || says_where(behind, leads)));
    (told && plain && label.len() <= 6).then_some(start..colon)
}

/// Whether nothing more is said behind the verb than what may end a report: "successfully", "as
/// requested", "and refunded", ", with a refund".
fn closes_result(behind: &[Token]) -> bool {
    let small = Tags::SUCCESS.or(Tags::ADVERB).or(Tags::NOW);
    let closes = |t: &Token| matches!(t.kind, TokenKind::Symbol(_)) || t.has(small);
    let mut rest = behind.iter().skip_while(|t| t.has(small));
    // "cancelled as requested", "cancelled and refunded"
    let goes_on = match behind {
        [first, second, rest @ ..] => {
            let like = first.has(Tags::SUBORDINATE) && first.has(Tags::PREPOSITION);
            let asked = like && second.has(Tags::REQUEST.or(Tags::REPORT));
            let other = first.has(Tags::COORDINATE) && second.verb.is_some();
            (asked || other) && second.has(Tags::COMPLETED) && rest.iter().all(closes)
        }
        _ => false,
    };
    // "cancelled, with a refund"
    let mut more = || {
        let comma = rest.next().is_some_and(|t| t.is(','));
        comma && rest.next().is_some_and(|t| t.has(Tags::PREPOSITION.or(Tags::COORDINATE)))
    };
    behind.iter().all(closes) || goes_on || more()
}

/// "PO for 200 units: placed with the supplier": where it went, and no more. `leads` is what may
/// lead there.
fn says_where(behind: &[Token], leads: Tags) -> bool {
    let finite = Tags::BE.or(Tags::HAVE).or(Tags::MODAL).or(Tags::DO).or(Tags::AGENT);
    let finite = finite.or(Tags::USER).or(Tags::SUBORDINATE).or(Tags::NEGATION).or(Tags::EARLIER);
    // "sent electronically to the school"
    let manner = behind.first().is_some_and(|t| {
        t.kind == TokenKind::Word && !t.capital && (t.tags.is_empty() || t.has(Tags::ADVERB))
    });
    let mut words = behind.iter().skip(usize::from(manner));
    // "Cabin: changed from economy to business"
    let goal = |t: &Token| t.has(Tags::GOAL);
    words.next().is_some_and(|t| {
        let moved = t.has(Tags::PREPOSITION) && words.clone().take(6).any(goal);
        t.has(leads) || moved
    }) && behind.iter().take(12).all(|t| !t.has(finite))
}

/// Whether a label names a thing or an act, and says nothing of it.
fn names_thing(label: &[Token]) -> bool {
    // "Import declaration: filed"
    let leads = label.len() > 1 && label.first().is_some_and(|t| t.verb.is_some() && !t.quoted);
    let noun = |t: &Token| {
        let first = label.first().is_some_and(|first| first.start == t.start);
        if leads && first {
            return true;
        }
        let word = t.kind == TokenKind::Word
            && !t.quoted
            && (t.tags.is_empty() || t.noun.is_some() || t.has(Tags::TEXT_NOUN.or(Tags::HOLDING)));
        word || t.kind == TokenKind::Number || t.has(Tags::PREPOSITION.or(Tags::USER_OWN))
    };
    let mut words = label.iter().filter(|t| !matches!(t.kind, TokenKind::Symbol(_))).peekable();
    // "Send: scheduled for Friday"
    let alone = matches!(label, [only] if only.kind == TokenKind::Word && only.verb.is_some());
    let thing = words.peek().is_some_and(|t| t.kind == TokenKind::Word) && words.all(noun);
    thing || alone
}
