//! The numbers of things that a clause states.

use counterfoil_model::Family;

use crate::prose::{
    Action, BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind, Words, is_of_a_text,
};
use crate::values::{Countable, SPELLED, whole};

/// So many things of a kind.
pub(super) struct Count<'t> {
    pub(super) number: u64,
    /// `None` for things that tools are named after.
    pub(super) kind: Option<Countable>,
    /// Words between say which ones.
    pub(super) some: bool,
    /// Words elsewhere say what is counted.
    pub(super) implied: bool,
    pub(super) first: &'t Token,
    pub(super) last: &'t Token,
}

/// The numbers of things that a clause states as found, not as made or planned.
pub(super) fn counts<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Vec<Count<'p>> {
    let tokens = prose.tokens(clause.tokens.clone());
    let block = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s));
    let quoted = block.is_some_and(|b| matches!(b.kind, BlockKind::Quote | BlockKind::Heading));
    let asserted = matches!(clause.mood, Mood::Asserted | Mood::Observed);
    let hedged = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::INTEND);
    let aside = tokens.first().is_some_and(|t| t.is('(')) && !is_sum_of_run(prose, tokens);
    // "3 pending": a runner's word.
    let open = |t: &Token| {
        t.has(hedged) && !t.has(Tags::FAILURE) && !prose.is(t, words!["pending", "skipped"])
    };
    if quoted || aside || !asserted || tokens.iter().any(open) || is_of_a_text(prose, tokens) {
        return Vec::new();
    }
    let makes = clause.predicates.iter().any(|p| {
        let counts = |family| matches!(family, Family::Commit | Family::Run | Family::Test);
        matches!(p.action, Action::Of(family) if family.changes_state() && !counts(family))
    });
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if let Some(number) = all_of_all(prose, token).filter(|_| speaks_of_tests(prose, clause)) {
            let kind = Some(Countable::Tests);
            let count =
                Count { number, kind, some: false, implied: false, first: token, last: token };
            found.push(count);
            continue;
        }
        if let Some(count) =
            some_of_them(prose, tokens, at).filter(|_| speaks_of_tests(prose, clause) && !makes)
        {
            found.push(count);
            continue;
        }
        // "four meetings" is a count of things that tools list; "two tests" may be any two.
        let spelled =
            token.kind == TokenKind::Word && token.tags.is_empty() && prose.is(token, SPELLED);
        let countable = (token.kind == TokenKind::Number || spelled) && !token.quoted;
        let Some(number) = Some(token).filter(|_| countable).and_then(|t| whole(prose.word(t)))
        else {
            continue;
        };
        if let Some(count) =
            failed_of(prose, tokens, at).or_else(|| reported(prose, tokens, at)).filter(|_| !makes)
        {
            found.push(count);
            continue;
        }
        if makes || is_part(prose, tokens, at) || is_rounded(prose, tokens, at) {
            continue;
        }
        if is_version(prose, tokens, at) {
            continue;
        }
        let mut noun = None;
        let mut named = None;
        for (place, next) in tokens.iter().enumerate().skip(at + 1).take(3) {
            if next.kind != TokenKind::Word && next.kind != TokenKind::Identifier {
                break;
            }
            if next.has(Tags::PREPOSITION.or(Tags::COORDINATE).or(Tags::BE)) {
                break;
            }
            let word = prose.word(next);
            let ended = next.has(Tags::PAST.or(Tags::FAILURE).or(Tags::PASSING));
            let plural = word.ends_with(['s', 'S']) || (ended && !word.ends_with("ing"));
            // "75 failing files" are files.
            let describes = !word.ends_with(['s', 'S'])
                && tokens
                    .get(place + 1)
                    .is_some_and(|t| t.kind == TokenKind::Word && t.tags.is_empty());
            if describes {
                continue;
            }
            // RSpec's word for tests; anybody else's for what shows how a thing is used.
            let other = prose.is(next, words!["examples"]) && !tells_of_run(prose, clause);
            if let Some(kind) = Countable::of(word).filter(|_| plural && !other) {
                noun = Some((Some(kind), next));
                break;
            }
            named = Some((None, next)).filter(|_| plural).or(named);
        }
        // "PASS=2 ERROR=1": the name stands before its number.
        let assigned = |t: &&Token| tokens.iter().any(|m| m.is('=') && m.start == t.end);
        let noun = noun.filter(|(_, last)| !assigned(last));
        // "3 failures allowed": what is set, and not what was found.
        let set = |last: &Token| {
            let behind = tokens.iter().find(|t| t.start > last.start);
            behind.is_some_and(|t| {
                prose.is(t, words!["allowed", "permitted", "tolerated", "maximum"])
            })
        };
        let noun = noun.filter(|(_, last)| !set(last));
        if let Some((kind, last)) = noun.or(named).filter(|(kind, _)| !spelled || kind.is_none()) {
            let some = tokens.get(at + 1).is_some_and(|next| next.start != last.start);
            found.push(Count { number, kind, some, implied: false, first: token, last });
        }
    }
    found
}

/// Whether the sentence tells how a run of tests went.
fn tells_of_run(prose: &Prose<'_>, clause: &Clause) -> bool {
    let sentence = prose.sentences.get(clause.sentence).map(|s| s.tokens.clone());
    prose.tokens(sentence.unwrap_or_default()).iter().any(|t| {
        t.has(Tags::FAILURE.or(Tags::PASSING))
            || prose.is(t, words!["failures", "pending", "passed"])
    })
}

/// "the build with vite 5 failed": behind the name of a program.
fn is_version(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let led = at.checked_sub(2).and_then(|before| tokens.get(before));
    let led = led.is_some_and(|t| t.has(Tags::PREPOSITION));
    let named = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|t| {
        let name = t.tags.is_empty() && t.verb.is_none() && t.noun.is_none();
        t.kind == TokenKind::Word && name && Countable::of(prose.word(t)).is_none()
    });
    let ends = |t: &Token| t.has(Tags::PAST.or(Tags::FAILURE).or(Tags::PASSING));
    led && named && tokens.get(at + 1).is_some_and(ends)
}

/// "(94 passed)", "(3 failed": the sum of a run in the runner's own words.
fn is_sum_of_run(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let (Some(number), Some(word)) = (tokens.get(1), tokens.get(2)) else { return false };
    number.kind == TokenKind::Number
        && prose.is(word, words!["passed", "passing", "failed", "failing"])
        && tokens.get(3).is_none_or(|t| {
            matches!(t.kind, TokenKind::Symbol(_)) || prose.is(t, words!["in", "and"])
        })
}

/// "5 of them failed": of the tests that the sentence is about.
fn some_of_them<'p>(prose: &Prose<'_>, tokens: &'p [Token], at: usize) -> Option<Count<'p>> {
    let [number, of, them, ended] = tokens.get(at..at + 4)? else { return None };
    let ends = ended.has(Tags::FAILURE.or(Tags::PASSING)) && !number.quoted;
    let all =
        prose.is(of, words!["of"]) && prose.is(them, words!["them", "these", "those", "which"]);
    let kind = Some(Countable::Tests);
    (ends && all).then_some(())?;
    let number_of = whole(prose.word(number))?;
    Some(Count { number: number_of, kind, some: false, implied: true, first: number, last: ended })
}

/// "three of the eight tests failed", "3 of 8 tests fail"
fn failed_of<'p>(prose: &Prose<'_>, tokens: &'p [Token], at: usize) -> Option<Count<'p>> {
    let [number, of] = tokens.get(at..at + 2)? else { return None };
    let the = tokens.get(at + 2).is_some_and(|t| prose.is(t, words!["the", "all"]));
    let from = at + 2 + usize::from(the);
    let [all, tests] = tokens.get(from..from + 2)? else { return None };
    let plain = !number.quoted && tests.noun == Some(Family::Test);
    let fails = |t: &Token| prose.is(t, words!["failed", "fail", "failing", "red"]);
    let behind = tokens.get(from + 2..)?.iter();
    let failed = behind.take_while(|t| !t.has(Tags::PASSING)).find(|t| fails(t));
    let part = prose.is(of, words!["of"]);
    let number_of = whole(prose.word(number)).filter(|_| plain && part)?;
    let last = failed.filter(|_| whole(prose.word(all)).is_some())?;
    let kind = Some(Countable::Tests);
    Some(Count { number: number_of, kind, some: false, implied: true, first: number, last })
}

/// "reported five errors": a number in letters, right behind the verb.
fn reported<'p>(prose: &Prose<'_>, tokens: &'p [Token], at: usize) -> Option<Count<'p>> {
    let (verb, number, noun) =
        (tokens.get(at.checked_sub(1)?)?, tokens.get(at)?, tokens.get(at + 1)?);
    let told = prose.is(verb, words!["reported", "reports", "found", "finds", "flagged", "flags"]);
    let spelled = number.kind == TokenKind::Word && !number.quoted;
    let kind = Countable::of(prose.word(noun)).filter(|kind| *kind == Countable::Troubles);
    let number_of = whole(prose.word(number)).filter(|n| told && spelled && *n > 2)?;
    let kind = Some(kind?);
    Some(Count { number: number_of, kind, some: false, implied: true, first: number, last: noun })
}

/// "40 million": a number that is rounded.
fn is_rounded(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|t| prose.is(t, words!["thousand", "million", "billion"]))
}

/// "from 11 errors to 2": how many there were, of what, and how many there are.
pub(super) struct Former<'t> {
    pub(super) was: u64,
    pub(super) is: u64,
    pub(super) kind: Countable,
    pub(super) first: &'t Token,
    pub(super) last: &'t Token,
}

/// What a clause says that checks counted before, and count now.
pub(super) fn former<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<Former<'p>> {
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::INTEND);
    if clause.mood != Mood::Asserted || clause.tags.any(doubt) {
        return None;
    }
    let number = |at: usize| {
        let token = tokens.get(at).filter(|t| t.kind == TokenKind::Number && !t.quoted)?;
        Some((whole(prose.word(token))?, token))
    };
    let counted = |at: usize| {
        let kind = Countable::of(prose.word(tokens.get(at)?))?;
        matches!(kind, Countable::Troubles | Countable::Tests).then_some(kind)
    };
    let from = tokens.iter().position(|t| prose.is(t, words!["from"]))?;
    let (was, first) = number(from + 1)?;
    let noun = counted(from + 2);
    let to = from + 2 + usize::from(noun.is_some());
    tokens.get(to).filter(|t| prose.is(t, words!["to"]))?;
    let (is, last) = number(to + 1)?;
    let kind = noun.or_else(|| counted(to + 2))?;
    Some(Former { was, is, kind, first, last })
}

/// "21/21": all of so many.
fn all_of_all(prose: &Prose<'_>, token: &Token) -> Option<u64> {
    if !prose.bytes(token).first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let (some, all) = prose.word(token).split_once('/')?;
    (some == all && !token.quoted && token.kind != TokenKind::Code).then(|| whole(all)).flatten()
}

/// Whether the sentence is about tests.
fn speaks_of_tests(prose: &Prose<'_>, clause: &Clause) -> bool {
    let sentence = prose.sentences.get(clause.sentence).map(|s| s.tokens.clone());
    let tokens = prose.tokens(sentence.unwrap_or_default());
    tokens.iter().any(|t| !t.quoted && t.noun == Some(Family::Test))
}

/// "3 of 12", "the first 3", "at least 3", "another 3": not the number of all.
fn is_part(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    const PART: &Words = words![
        "first",
        "last",
        "next",
        "top",
        "least",
        "most",
        "than",
        "another",
        "other",
        "additional",
        "more",
        "over",
        "under",
        "these",
        "those",
        "other",
        "of",
        "to",
    ];
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    let behind = tokens.get(at + 1);
    let part = |t: &Token| prose.is_rough(t) || prose.is(t, PART);
    let more = words!["of", "more", "other", "additional"];
    // "down from 75 warnings in 29 files": how it was before.
    let upto = tokens.get(..=at).unwrap_or_default();
    let formerly = upto.windows(2).any(|pair| {
        let [from, number] = pair else { return false };
        prose.is(from, words!["from"]) && number.kind == TokenKind::Number
    });
    if formerly {
        return true;
    }
    before.is_some_and(|t| part(t) || t.is('~') || t.is('#') || t.is('-') || t.is('/'))
        || behind.is_some_and(|t| t.is('/') || prose.is(t, more))
}
