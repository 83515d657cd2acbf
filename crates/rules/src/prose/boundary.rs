//! Finds where clauses begin in a sentence.

use super::lexicon::Tags;
use super::sentences::Sentence;
use super::tokens::{Token, TokenKind};

/// The maximum number of words of a phrase before what the speaker did.
const LONGEST_LEAD: usize = 12;

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
    let subject = Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING).or(Tags::HAVE);
    let adverb = token.has(Tags::COORDINATE) && token.has(Tags::ADVERB);
    let done = || tokens.get(at + 1).is_some_and(|t| t.tags.any(Tags::COMPLETED.or(Tags::BE)));
    let first = at == sentence.tokens.start + 1;
    let agent = tokens.get(at + 1).is_some_and(|t| t.has(Tags::AGENT));
    let dated = (first && agent && before.tags.any(Tags::SUBORDINATE.or(Tags::ADVERB)))
        || (token.has(Tags::THING) && agent && tells_own_act(tokens, sentence, at + 1));
    (adverb && before.has(subject))
        || (token.has(Tags::SUBORDINATE) && before.has(Tags::HAVE) && done())
        || (token.has(Tags::RELATIVE) && dated)
}

/// "Before editing I read it", "Once it compiled we ran it", "On top of that I sent it": whether
/// the speaker reports an action after an introductory phrase.
fn tells_own_act(tokens: &[Token], sentence: &Sentence, at: usize) -> bool {
    let start = sentence.tokens.start;
    let lead = tokens.get(start..at).unwrap_or_default();
    let ([first, .., last], Some(agent)) = (lead, tokens.get(at)) else { return false };
    let leads = Tags::SUBORDINATE.or(Tags::PREPOSITION).or(Tags::CONDITIONAL).or(Tags::PURPOSE);
    let joins = Tags::SUBORDINATE.or(Tags::RELATIVE).or(Tags::COORDINATE).or(Tags::ADVERSATIVE);
    let told = Tags::REPORT.or(Tags::ASSURE).or(Tags::PERCEIVE).or(Tags::HEDGE).or(Tags::INTEND);
    let that = last.has(Tags::RELATIVE) && last.has(Tags::THING);
    let joined = (last.has(joins) && !that) || (last.has(told) && !last.has(Tags::REQUEST));
    // "If I did it": hypothetical.
    let supposed = first.has(Tags::CONDITIONAL) && first.end - first.start == 2;
    // "At no point did I delete it"
    let open = Tags::MODAL.or(Tags::NEGATION);
    let plain = |t: &Token| !matches!(t.kind, TokenKind::Symbol(_)) && !t.has(open);
    let inverted = last.has(Tags::HAVE.or(Tags::DO));
    if inverted
        || !agent.has(Tags::AGENT)
        || !first.has(leads)
        || supposed
        || joined
        || lead.len() > LONGEST_LEAD
        || !lead.iter().all(plain)
    {
        return false;
    }
    let small = Tags::ADVERB.or(Tags::NOW).or(Tags::SUCCESS);
    let behind = tokens.get(at + 1..sentence.tokens.end).unwrap_or_default();
    let mut words = behind.iter().skip_while(|t| t.has(small) && !t.has(Tags::COMPLETED));
    let Some(mut verb) = words.next() else { return false };
    let perfect = verb.has(Tags::HAVE);
    // "After the edit I have 22 passing tests"
    if perfect && behind.get(1).is_some_and(|t| t.kind == TokenKind::Number) {
        return true;
    }
    if perfect {
        let Some(participle) = words.find(|t| !t.has(small) || t.has(Tags::COMPLETED)) else {
            return false;
        };
        verb = participle;
    }
    // "Before that I read it" is past; "Once you agree I put it in" is future.
    let plain_past =
        !verb.has(Tags::BASE) || (lead.len() <= 3 && !lead.iter().any(|t| t.has(Tags::USER)));
    let past = verb.has(Tags::PAST) && plain_past;
    let done = past || (perfect && verb.has(Tags::PARTICIPLE));
    // "After the edits I made, …": describes the edits.
    let behind: Vec<&Token> = words.take(2).collect();
    let mark = |t: &Token| matches!(t.kind, TokenKind::Symbol(_));
    let object = behind.first().is_some_and(|t| {
        let finite = t.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL));
        let verb = t.has(Tags::PAST) && t.noun.is_none();
        // "After the papers I asked for, …"
        let left = t.has(Tags::PREPOSITION) && behind.get(1).is_none_or(|t| mark(t));
        !mark(t) && !finite && !verb && !left
    });
    done && object
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
    let led = |t: &Token| !matches!(t.kind, TokenKind::Symbol(_));
    let then = token(at).is_some_and(when)
        && token(at + 1).is_some_and(noun)
        && token(at + 2).is_some_and(|t| t.is(',') || t.is(';'))
        && at.checked_sub(1).and_then(token).is_some_and(led);
    if then {
        return true;
    }
    let the = token(at + 1).is_some_and(|t| t.has(Tags::DETERMINER));
    let next = token(at + 1 + usize::from(the));
    let joins = Tags::SUBORDINATE.or(Tags::CONDITIONAL);
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
    let joins = Tags::SUBORDINATE.or(Tags::RELATIVE).or(Tags::COORDINATE);
    if !token.tags.any(joins.or(Tags::AGENT)) {
        return false;
    }
    if token.has(Tags::AGENT) && tells_own_act(tokens, sentence, at) {
        return true;
    }
    if goes_on(tokens, sentence, at, token) || is_date(tokens, at) {
        return false;
    }
    let next = tokens.get(at + 1).filter(|_| at + 1 < sentence.tokens.end);
    if token.has(Tags::SUBORDINATE) {
        return subordinates(tokens, at, token, next);
    }
    if token.has(Tags::RELATIVE) {
        let verbal = Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::PAST).or(Tags::DO);
        let subject = Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::DETERMINER);
        let subject = subject.or(Tags::USER_OWN).or(Tags::AGENT_OWN).or(Tags::THING);
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
    let named = Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING).or(Tags::DETERMINER);
    let named = named.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
    let inverted = tokens.get(at + 1).is_some_and(|t| t.has(named) || t.capital);
    if token.has(Tags::MODAL) && !inverted {
        return false;
    }
    if !token.has(Tags::PREPOSITION) {
        return true;
    }
    // "after", "before", "as", "since" are prepositions before a noun.
    next.is_some_and(|n| {
        n.has(Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING).or(Tags::GERUND))
            || token.has(Tags::CONDITIONAL)
    })
}

/// Whether "and" or "but" joins a clause here, rather than another noun.
fn coordinates(tokens: &[Token], at: usize, token: &Token, next: Option<&Token>) -> bool {
    let verbal = Tags::HAVE.or(Tags::MODAL).or(Tags::PAST).or(Tags::PARTICIPLE).or(Tags::BE);
    let subject = Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING);
    let subject = subject.or(Tags::DETERMINER).or(Tags::USER_OWN).or(Tags::AGENT_OWN);
    let adverb = Tags::ADVERB.or(Tags::SUCCESS).or(Tags::NEGATION);
    token.has(Tags::ADVERSATIVE)
        || is_one_more(tokens, at + 1)
        || next.is_some_and(|n| n.has(verbal.or(subject).or(adverb).or(Tags::BASE)))
}
