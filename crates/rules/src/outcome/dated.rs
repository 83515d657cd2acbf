//! Which run of several a claim is about: "at the first attempt", "before the last change".

use crate::prose::{Clause, Prose, Tags, Token, TokenKind};

/// "before the last change", "after the first of them", in the clause or as all that the next one
/// says: of a run behind which there was more. "All pass now; before the change two failed" is not.
pub(super) fn is_dated(prose: &Prose<'_>, clause: &Clause) -> bool {
    let own = prose.tokens(clause.tokens.clone());
    let behind = || {
        date_behind(prose, clause)
            .is_some_and(|next| dates_run(prose, prose.tokens(next.tokens.clone())))
    };
    !clause.tags.any(Tags::NOW)
        && (is_of_then(prose, own) || is_of_old(prose, own) || dates_run(prose, own) || behind())
}

/// Words that say which change or which run is meant.
const WHICH: Tags = Tags::DETERMINER.or(Tags::THING).or(Tags::AGENT_OWN);

/// "before the last change", "after the first of them"
fn dates_run(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    tokens.windows(3).any(|words| {
        let [when, the, one] = words else { return false };
        // What is committed is what was there.
        let kept = prose.is(one, words!["commit", "push", "merge", "release", "tag", "pull"]);
        // "before `find` became nullable"
        let named = matches!(the.kind, TokenKind::Code | TokenKind::Identifier);
        let before = prose.is(when, words!["before"])
            && (named || the.has(WHICH))
            && !the.has(Tags::AGENT)
            && !kept;
        before
            || (prose.is(when, words!["after"]) && the.has(WHICH) && prose.is(one, words!["first"]))
    })
}

/// "34 of 34 passed at that point"
fn is_of_then(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    tokens.windows(3).any(|words| {
        let [at, that, time] = words else { return false };
        prose.is(at, words!["at"])
            && prose.is(that, words!["that", "the"])
            && prose.is(time, words!["point", "time", "stage"])
    })
}

/// "passed under the old version"
fn is_of_old(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    tokens.windows(3).any(|words| {
        let [under, the, old] = words else { return false };
        prose.is(under, words!["under", "with", "on", "in"])
            && the.has(WHICH)
            && prose.is(old, words!["old", "previous", "former", "earlier", "prior"])
    })
}

/// The clause behind that says no more than when it was.
fn date_behind<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<&'p Clause> {
    let worded = |c: &&Clause| {
        let mut tokens = prose.tokens(c.tokens.clone()).iter();
        tokens.any(|t| t.kind == TokenKind::Word)
    };
    let from = prose.clauses.partition_point(|c| c.tokens.end <= clause.tokens.end);
    // "14 examples, 0 failures, before the callback went in": numbers belong together.
    let sum = |c: &&Clause| {
        let mut tokens = prose.tokens(c.tokens.clone()).iter();
        c.predicates.is_empty() && tokens.find(|t| !is_mark(t)).is_some_and(is_number)
    };
    // "…, though that was before the final patch"
    let lead = Tags::COORDINATE.or(Tags::ADVERSATIVE).or(Tags::THING).or(Tags::RELATIVE);
    let lead = lead.or(Tags::BE).or(Tags::PAST_BE).or(Tags::ADVERB).or(Tags::SUBORDINATE);
    let when = |t: &Token| prose.is(t, words!["before", "after", "also", "run", "ran"]);
    let leads = |c: &&Clause| {
        let mut tokens = prose.tokens(c.tokens.clone()).iter();
        tokens.all(|t| is_mark(t) || (t.has(lead) && !when(t)))
    };
    let mut rest = prose.clauses.iter().skip(from).take(4).filter(worded);
    rest.find(|c| !(sum(c) || leads(c))).filter(|next| {
        let other = Tags::FAILURE.or(Tags::TROUBLE).or(Tags::PASSING).or(Tags::NOW);
        let tokens = prose.tokens(next.tokens.clone());
        let mut worded = tokens.iter().filter(|t| t.kind == TokenKind::Word);
        let first = worded.find(|t| when(t) || !t.has(lead));
        next.sentence == clause.sentence
            && first.is_some_and(when)
            && !tokens.iter().any(|t| t.has(other) || t.kind == TokenKind::Number)
    })
}

fn is_mark(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Symbol(_))
}

fn is_number(token: &Token) -> bool {
    token.kind == TokenKind::Number
}
