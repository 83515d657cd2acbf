//! Finds where clauses begin in a sentence.

use super::lexicon::Tags;
use super::sentences::Sentence;
use super::token::{Token, TokenKind};

/// Whether a word that may begin a clause continues one here: "I then cancelled it", "I have since
/// cancelled it", "After that I cancelled it".
fn goes_on(tokens: &[Token], sentence: &Sentence, at: usize, token: &Token) -> bool {
    let Some(before) = at
        .checked_sub(1)
        .filter(|before| *before >= sentence.tokens.start)
        .and_then(|before| tokens.get(before))
    else {
        return false;
    };
    let subject = tags![AGENT, USER, THIRD, THING, HAVE];
    let adverb = token.has(Tags::COORDINATE) && token.has(Tags::ADVERB);
    let done = || tokens.get(at + 1).is_some_and(|t| t.tags.any(tags![COMPLETED, BE]));
    let first = at == sentence.tokens.start + 1;
    let agent = tokens.get(at + 1).is_some_and(|t| t.has(Tags::AGENT));
    let dated = first && agent && before.tags.any(tags![SUBORDINATE, ADVERB]);
    (adverb && before.has(subject))
        || (token.has(Tags::SUBORDINATE) && before.has(Tags::HAVE) && done())
        || (token.has(Tags::RELATIVE) && dated)
}

/// "until June 15", "until the 15th", "before 5 pm", "after that,": a time, not the subject of the
/// next clause.
fn is_date(tokens: &[Token], at: usize) -> bool {
    let token = |at: usize| tokens.get(at);
    // "before VAT, and …": a single word, and the sentence continues.
    let when = |t: &Token| {
        let before = t.has(Tags::CONDITIONAL) || t.has(Tags::PREPOSITION);
        t.has(Tags::SUBORDINATE) && before && t.end - t.start > 2
    };
    let noun = |t: &Token| {
        let plain = t.tags.is_empty() && t.verb.is_none();
        t.kind == TokenKind::Word && (t.has(Tags::THING) || plain)
    };
    let led = |t: &Token| !t.is_mark();
    let then = token(at).is_some_and(when)
        && token(at + 1).is_some_and(noun)
        && token(at + 2).is_some_and(|t| t.is(',') || t.is(';'))
        && at.checked_sub(1).and_then(token).is_some_and(led);
    if then {
        return true;
    }
    let the = token(at + 1).is_some_and(|t| t.has(Tags::DETERMINER));
    let next = token(at + 1 + usize::from(the));
    let joins = tags![SUBORDINATE, CONDITIONAL];
    token(at).is_some_and(|t| t.has(joins) && t.end - t.start > 2)
        && next.is_some_and(|t| {
            t.has(Tags::MONTH) || matches!(t.kind, TokenKind::Number | TokenKind::Date)
        })
}

/// "… and A-7 has been moved": an id or a name with a singular verb is not part of the enumeration
/// before it.
fn is_one_more(tokens: &[Token], at: usize) -> bool {
    let names = |t: &Token| {
        matches!(t.kind, TokenKind::Identifier | TokenKind::Code | TokenKind::Id | TokenKind::Path)
    };
    let long = |t: &Token| t.end - t.start;
    let singular = |t: &Token| match t {
        t if t.has(Tags::HAVE) => long(t) == 3,
        t if t.has(Tags::PAST_BE) => long(t) == 3,
        t => t.has(Tags::BE) && long(t) == 2,
    };
    let acts = |t: &Token| t.kind == TokenKind::Word && t.noun.is_some() && !t.quoted;
    tokens.get(at).is_some_and(|t| names(t) || acts(t)) && tokens.get(at + 1).is_some_and(singular)
}

/// Whether a new clause begins at the token.
pub(super) fn starts_clause(tokens: &[Token], sentence: &Sentence, at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    if token.quoted {
        return false;
    }
    if let TokenKind::Symbol(mark) = token.kind {
        return is_boundary(mark) && !(matches!(mark, '–' | '-') && is_in_span(tokens, at));
    }
    let joins = tags![SUBORDINATE, RELATIVE, COORDINATE];
    if !token.tags.any(joins) {
        return false;
    }
    if goes_on(tokens, sentence, at, token) || is_date(tokens, at) {
        return false;
    }
    let next = tokens.get(at + 1).filter(|_| at + 1 < sentence.tokens.end);
    if token.has(Tags::SUBORDINATE) {
        return subordinates(tokens, at, token, next);
    }
    if token.has(Tags::RELATIVE) {
        let verbal = tags![HAVE, BE, MODAL, PAST, DO];
        let subject = tags![AGENT, USER, THIRD, DETERMINER, USER_OWN, AGENT_OWN, THING];
        return next.is_some_and(|n| n.has(verbal.or(subject)) || n.kind != TokenKind::Word);
    }
    // "I have not yet asked"
    let denied = at.checked_sub(1).and_then(|before| tokens.get(before));
    let denied = denied.is_some_and(|t| t.has(Tags::NEGATION) && at > sentence.tokens.start + 1);
    if token.has(Tags::ADVERSATIVE) && denied {
        return false;
    }
    token.has(Tags::COORDINATE) && coordinates(tokens, at, token, next)
}

/// Whether a mark separates clauses.
fn is_boundary(mark: char) -> bool {
    matches!(mark, ';' | '—' | '–' | '(' | ')' | ':' | ',' | '-' | '→' | '·' | '•' | '。' | '，')
}

/// "20–24 October": whether a mark is directly between two numbers.
fn is_in_span(tokens: &[Token], at: usize) -> bool {
    let number = |at: usize| tokens.get(at).filter(|t| t.kind == TokenKind::Number);
    let Some(mark) = tokens.get(at) else { return false };
    at.checked_sub(1).and_then(number).is_some_and(|t| t.end == mark.start)
        && number(at + 1).is_some_and(|t| t.start == mark.end)
}

/// Whether "when", "after", "should" begins a clause here.
fn subordinates(tokens: &[Token], at: usize, token: &Token, next: Option<&Token>) -> bool {
    // "and should arrive on Friday": not "should it arrive".
    let named = tags![AGENT, USER, THIRD, THING, DETERMINER, USER_OWN, AGENT_OWN];
    let inverted = tokens.get(at + 1).is_some_and(|t| t.has(named) || t.capital);
    if token.has(Tags::MODAL) && !inverted {
        return false;
    }
    if !token.has(Tags::PREPOSITION) {
        return true;
    }
    // "after", "before", "as", "since" are prepositions before a noun.
    next.is_some_and(|n| {
        n.has(tags![AGENT, USER, THIRD, THING, GERUND]) || token.has(Tags::CONDITIONAL)
    })
}

/// Whether "and" or "but" joins a clause here, rather than another noun.
fn coordinates(tokens: &[Token], at: usize, token: &Token, next: Option<&Token>) -> bool {
    let verbal = tags![HAVE, MODAL, PAST, PARTICIPLE, BE];
    let subject = tags![AGENT, USER, THIRD, THING, DETERMINER, USER_OWN, AGENT_OWN];
    let adverb = tags![ADVERB, SUCCESS, NEGATION];
    token.has(Tags::ADVERSATIVE)
        || is_one_more(tokens, at + 1)
        || next.is_some_and(|n| n.has(verbal.or(subject).or(adverb).or(Tags::BASE)))
}
