//! Names in code of which nothing on record has heard, where they are told as a part of what was
//! changed: "I swapped `time.Sleep` for `clock.Sleep`", "`Put` now returns `ErrBudget`".

use super::judge::args;
use super::named_code::{is_one_name, letters};
use super::writing::{shows_texts, wrote};
use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Clause, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice};

/// The name, where the record shows all that was read and written. `None` for what tells of no
/// change.
pub(super) fn unheard_name<'p>(
    facts: &Facts<'_>,
    answer: &'p Answer<'_>,
    clause: &Clause,
) -> Option<&'p Token> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let changed = clause.predicates.iter().filter(|p| is_change(prose, p));
    let changed = changed.flat_map(|p| named(prose, p));
    // "`Put` now returns `ErrBudget`": only what is spelled as code spells names. "Now I need to …"
    let open = Tags::INTEND.or(Tags::AGENT).or(Tags::PURPOSE).or(Tags::USER);
    let state = clause.tags.any(Tags::NOW) && clause.predicates.is_empty();
    let now = state && !clause.tags.any(open);
    let tokens = prose.tokens(clause.tokens.clone());
    let state = tokens.iter().filter(|t| now && is_spelled(prose.word(t)));
    let strange = |token: &&Token| {
        token.kind == TokenKind::Code
            && last_name(prose.word(token)).is_some_and(|name| {
                facts.source_of(name, turn, true).is_none()
                    && facts.given().find_loosely(name, turn).is_none()
            })
    };
    let token = changed.chain(state).find(strange)?;
    let name = last_name(prose.word(token))?;
    let shown = facts.shows_all_before(turn) && shows_texts(facts, turn);
    (shown && wrote(facts, turn) && !is_anywhere(facts, answer, name)).then_some(token)
}

/// Whether something is said to have been put in, taken out or exchanged, by the speaker or by
/// nobody else: the edit has its name. What was "updated" may be all around the edit.
fn is_change(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let verbs = words![
        "replaced",
        "renamed",
        "swapped",
        "exchanged",
        "wrapped",
        "extracted",
        "inlined",
        "moved",
        "split",
        "converted",
        "removed",
        "deleted",
        "dropped",
        "stripped",
        "added",
        "introduced",
        "defined",
        "declared",
        "exported",
    ];
    let own = match predicate.voice {
        Voice::Active => predicate.subject == Subject::Agent,
        Voice::Bare => predicate.subject == Subject::Nobody,
        Voice::PerfectPassive | Voice::PastPassive | Voice::BareResult => true,
        Voice::State => false,
    };
    let verb = prose.tokens.get(predicate.verb);
    own && verb.is_some_and(|t| prose.is(t, verbs)) && !predicate.negated && !predicate.earlier
}

/// What the verb is said to have been done to, and what it was put in the place of.
fn named<'p>(prose: &'p Prose<'_>, predicate: &Predicate) -> impl Iterator<Item = &'p Token> {
    let passive = matches!(predicate.voice, Voice::PerfectPassive | Voice::PastPassive);
    let subject = if passive { predicate.subject_tokens.clone() } else { 0..0 };
    let object = prose.tokens(predicate.object_tokens.clone()).iter();
    // "written like `functools.wraps`", "as `a` does"
    let stops = Tags::RELATIVE.or(Tags::SUBORDINATE).or(Tags::CONDITIONAL).or(Tags::USER);
    let object = object
        .take_while(move |t| !t.has(stops) && !prose.is(t, words!["like", "than", "as", "via"]));
    prose.tokens(subject).iter().chain(object)
}

/// `retryBudget`, `MAX_TRIES`, `ErrBudget`, `a.b`: no word of a language.
fn is_spelled(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next().is_some_and(char::is_alphabetic);
    first && letters.any(|c| c.is_ascii_uppercase() || matches!(c, '_' | '.' | ':'))
}

/// `Sleep` of `time.Sleep`, `take` of `Budget::take()`.
fn last_name(text: &str) -> Option<&str> {
    let text = text.strip_suffix("()").unwrap_or(text);
    let name = text.rsplit(['.', ':']).next().unwrap_or(text);
    let folders = text.contains(['/', ' ', '\\']) || text.starts_with('.');
    let literal = ["none", "null", "true", "false", "self", "this"];
    let common = literal.iter().any(|word| name.eq_ignore_ascii_case(word));
    (!folders && is_one_name(name) && !common).then_some(name)
}

/// Whether a name stands in a call, in a result, or in code that the answer shows, however it is
/// spelled.
fn is_anywhere(facts: &Facts<'_>, answer: &Answer<'_>, name: &str) -> bool {
    let (prose, wanted) = (&answer.prose, letters(name));
    let mut shown = prose.blocks.iter().filter(|block| block.kind == BlockKind::Code);
    shown.any(|block| letters(block.span.of(prose.text)).contains(&wanted))
        || facts.deeds_before(answer.turn).any(|(execution, _)| {
            [args(execution), execution.text()].iter().any(|text| letters(text).contains(&wanted))
        })
}
