//! Joining words that do not join clauses here: "once more", "since.", "After the edit I ran it".

use super::lexicon::Tags;
use super::token::{Token, TokenKind};

/// "on 4 May", "May 12", "in May", "at 9:30 AM": makes the month not a modal and the hour not a
/// verb.
pub(super) fn date(text: &str, tokens: &mut [Token]) {
    let word = |token: &Token| text.get(token.start as usize..token.end as usize);
    for at in 0..tokens.len() {
        let is_ambiguous = |t: &&Token| t.has(tags![MODAL, BE]) && (t.capital || at > 0);
        let Some(token) = tokens.get(at).filter(is_ambiguous) else { continue };
        if token.has(Tags::BE) {
            let timed = |t: &Token| matches!(t.kind, TokenKind::Number | TokenKind::Date);
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let hour = before.is_some_and(timed) && matches!(word(token), Some("AM" | "am"));
            if let Some(token) = tokens.get_mut(at).filter(|_| hour) {
                token.tags = Tags::default();
            }
            continue;
        }
        if !token.capital {
            continue;
        }
        if word(token) != Some("May") {
            continue;
        }
        let digits =
            |t: &Token| word(t).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let dated = tokens.get(at + 1).is_some_and(digits)
            || before.is_some_and(|t| digits(t) || t.has(Tags::PREPOSITION));
        if let Some(token) = tokens.get_mut(at).filter(|_| dated) {
            token.tags = Tags::MONTH;
        }
    }
}

/// Removes the tag of a condition from words that are not conditions in their context.
pub(super) fn unjoin(text: &str, tokens: &mut [Token]) {
    let word = |token: &Token| text.get(token.start as usize..token.end as usize).unwrap_or("");
    let is = |token: &Token, known: &[&str]| {
        known.iter().any(|known| word(token).eq_ignore_ascii_case(known))
    };
    let joins = tags![SUBORDINATE, CONDITIONAL];
    for at in 0..tokens.len() {
        let Some(token) = tokens.get(at).filter(|t| t.has(joins) && !t.quoted) else { continue };
        let next = tokens.get(at + 1);
        let alone = next.is_none_or(|t| t.is('.') || t.is(',') || t.is(';') || t.is('!'));
        let free = match word(token).len() {
            // "defined once in one place": a single time.
            4 if is(token, &["once"]) => {
                let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                let counted =
                    before.is_some_and(|t| t.has(Tags::COMPLETED) || word(t).ends_with("ed"));
                next.is_some_and(|t| is(t, &["more", "again"]))
                    || (counted && (alone || next.is_some_and(|t| t.has(Tags::PREPOSITION))))
            }
            5 if is(token, &["since"]) => alone,
            5 if is(token, &["after"]) => {
                alone || points_back(text, tokens, at) || {
                    let paired = at.checked_sub(2).and_then(|before| tokens.get(before));
                    paired.is_some_and(|t| is(t, &["before"]))
                        && tokens.get(at - 1).is_some_and(|t| is(t, &["and"]))
                }
            }
            6 if is(token, &["before"]) => {
                let paired = tokens.get(at + 2).is_some_and(|t| is(t, &["after"]));
                alone
                    || points_back(text, tokens, at)
                    || (paired && next.is_some_and(|t| is(t, &["and"])))
            }
            _ => false,
        };
        if let Some(token) = tokens.get_mut(at).filter(|_| free) {
            token.tags = Tags::ADVERB;
        }
    }
}

/// "After it all tests pass", "before anything else": whether only a pronoun is between the word
/// and a new clause.
fn points_back(text: &str, tokens: &[Token], at: usize) -> bool {
    let is_else = |t: &Token| text.get(t.start as usize..t.end as usize) == Some("else");
    let more = usize::from(tokens.get(at + 2).is_some_and(is_else));
    let Some(pronoun) = tokens.get(at + 1) else { return false };
    let Some(subject) = tokens.get(at + 2 + more) else { return more > 0 };
    let own = tags![DETERMINER, AGENT, AGENT_OWN, USER_OWN];
    let ends = subject.is(',') || (more > 0 && (subject.is('.') || subject.has(Tags::COORDINATE)));
    (more > 0 || pronoun.has(Tags::THING) && !pronoun.has(tags![DETERMINER, ADVERB]))
        && (subject.has(own) || subject.kind == TokenKind::Number || ends)
}
