use std::ops::Range;

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};

use super::listed::{labelled_tools, labels, listed_tools, titles};
use super::thing::{Thing, bare_name};
use crate::action::stem;
use crate::facts::Answer;
use crate::prose::{
    Action, BlockKind, Clause, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice,
    is_of_a_text, names_session, sets,
};

/// A tool that the agent says it used.
#[derive(Debug)]
pub(crate) struct Mention {
    /// The claim.
    pub(crate) claim: Claim,
    /// Its name.
    pub(crate) name: String,
    /// The noun after the name: `tool`, `api`, `database`; empty if there is none.
    pub(crate) noun: String,
    /// Whether the words say that it was called, and not only that it is a source.
    pub(crate) called: bool,
    /// Whether verb, name and noun are in capitals, or the name follows a label: "I USED THE
    /// CALCULATOR TOOL" may describe a tool, and "Tool used: pytest" name a program.
    pub(crate) loose: bool,
    /// Whether its name is not said, but what it does: "I searched the database".
    pub(crate) by_deed: bool,
    /// Whether the answer says nothing else: "Using the X service."
    pub(crate) alone: bool,
}

/// The tools that one answer says it used. `catalogued` returns whether a name is a tool's.
pub(crate) fn mentions(answer: &Answer<'_>, catalogued: &dyn Fn(&str) -> bool) -> Vec<Mention> {
    let prose = &answer.prose;
    let mut found = Vec::new();
    let labels = labels(prose, catalogued);
    for (index, clause) in prose.clauses.iter().enumerate() {
        let after = follows_doing(prose, clause);
        for thing in labelled_tools(prose, clause, catalogued) {
            // It may be a program that a tool ran.
            found.push(Mention { loose: true, ..mention(answer, clause, thing, true) });
        }
        if !(clause.mood == Mood::Asserted || clause.mood == Mood::Observed || after) {
            continue;
        }
        if tells_a_text(prose, clause) || names_session(prose, clause) {
            continue;
        }
        let named = things(prose, clause, catalogued);
        let used = named.into_iter().filter_map(|thing| {
            let known = catalogued(&thing.name);
            let done = || {
                was_done_with(prose, clause, &thing, known)
                    || known && titles(prose, clause, &thing)
            };
            let called = use_of(prose, index, clause, &thing, after);
            let called = called.or_else(|| done().then_some(true))?;
            Some((thing, called))
        });
        let used: Vec<(Thing, bool)> = used.collect();
        for thing in deeds(prose, clause, catalogued) {
            found.push(Mention { by_deed: true, ..mention(answer, clause, thing, true) });
        }
        let mut beside = listed_tools(prose, clause, &labels, catalogued);
        beside.retain(|thing| !used.iter().any(|(known, _)| known.name == thing.name));
        let all = used.into_iter().chain(beside.into_iter().map(|thing| (thing, true)));
        found.extend(all.map(|(thing, called)| mention(answer, clause, thing, called)));
    }
    found
}

fn mention(answer: &Answer<'_>, clause: &Clause, thing: Thing, called: bool) -> Mention {
    let objects = vec![Object { kind: ObjectKind::Tool, text: thing.name.clone() }];
    let loose = thing.is_loud(&answer.prose, clause);
    let claim = answer.prose.claim(clause, ClaimKind::Tool, objects, answer.turn);
    let alone = thing.is_alone(&answer.prose);
    Mention { claim, name: thing.name, noun: thing.noun, called, loose, by_deed: false, alone }
}

/// "I searched the database", where a tool is called `search_database`: the tools whose whole name is
/// what the agent says it looked at.
fn deeds(prose: &Prose<'_>, clause: &Clause, catalogued: &dyn Fn(&str) -> bool) -> Vec<Thing> {
    let looks = |p: &&Predicate| {
        use Family as F;
        matches!(p.action, Action::Of(F::Read | F::Search | F::Compute))
            && (p.subject, p.voice) == (Subject::Agent, Voice::Active)
            && !(p.negated || p.earlier)
    };
    let deed = |p: &Predicate| {
        let verb = prose.word(prose.tokens.get(p.verb)?).to_ascii_lowercase();
        let base = stem(&verb);
        let object = prose.tokens(p.object_tokens.clone()).iter();
        let object = object.skip_while(|t| t.has(tags![DETERMINER, USER_OWN]));
        let ends = tags![PREPOSITION, COORDINATE, ADVERB];
        let object = object.take_while(|t| t.kind == TokenKind::Word && !t.has(ends));
        let words: Vec<&str> = object.map(|t| prose.word(t)).collect();
        let named = |verb: &str| format!("{verb}_{}", words.join("_"));
        // "search", "retrieve"
        let mut names = [named(base), named(&format!("{base}e"))].into_iter();
        let name = names.find(|name| !words.is_empty() && catalogued(name))?;
        Some(Thing { name, noun: String::new(), tokens: p.verb..p.object_tokens.end })
    };
    clause.predicates.iter().filter(looks).filter_map(deed).collect()
}

fn things(prose: &Prose<'_>, clause: &Clause, catalogued: &dyn Fn(&str) -> bool) -> Vec<Thing> {
    let mut found: Vec<Thing> = Vec::new();
    let mut at = clause.tokens.start;
    while at < clause.tokens.end {
        let Some(token) = prose.tokens.get(at) else { break };
        if token.has(tags![TOOL_NOUN, SYSTEM_NOUN]) && token.kind == TokenKind::Word {
            let mut more = around_noun(prose, clause, at, catalogued);
            at = more.iter().map(|t| t.tokens.end).max().unwrap_or(at + 1).max(at + 1);
            found.append(&mut more);
            continue;
        }
        let word = prose.word(token);
        let distinct = !token.quoted
            && (matches!(token.kind, TokenKind::Identifier | TokenKind::Code)
                || (token.kind == TokenKind::Word && token.capital && at > clause.tokens.start));
        if distinct
            && (catalogued(word) || is_called(prose, clause, at) || is_means(prose, clause, at))
        {
            // "the A tool", "the A and B tools"
            let noun = tags![TOOL_NOUN, SYSTEM_NOUN];
            let noun_at = |at: usize| prose.tokens.get(at).is_some_and(|t| t.has(noun));
            let joined =
                prose.tokens.get(at + 1).is_some_and(|t| t.has(Tags::COORDINATE) || t.is(','));
            let noun_next = noun_at(at + 1) || (joined && (at + 2..at + 6).any(noun_at));
            if !noun_next || catalogued(word) {
                found.push(Thing {
                    name: bare_name(word).to_owned(),
                    noun: String::new(),
                    tokens: at..at + 1,
                });
            }
        }
        at += 1;
    }
    // A catalogued name before its own noun was found twice.
    let nouned: Vec<Range<usize>> =
        found.iter().filter(|t| !t.noun.is_empty()).map(|t| t.tokens.clone()).collect();
    found.retain(|t| !t.noun.is_empty() || !nouned.iter().any(|r| r.contains(&t.tokens.start)));
    found
}

/// The names around a noun such as "tool": "the WebSearch tool", "the A and B tools",
/// "the tool `x`".
fn around_noun(
    prose: &Prose<'_>,
    clause: &Clause,
    noun: usize,
    catalogued: &dyn Fn(&str) -> bool,
) -> Vec<Thing> {
    let word = prose.tokens.get(noun).map(|t| prose.word(t).to_ascii_lowercase());
    let word = word.unwrap_or_default();
    let thing = |name: String, tokens: Range<usize>| Thing { name, noun: word.clone(), tokens };
    let mut things = Vec::new();
    let mut at = noun;
    while at > clause.tokens.start {
        let Some(token) = prose.tokens.get(at - 1) else { break };
        if token.is('"') || token.is('\'') || token.is(',') && !things.is_empty() {
            at -= 1;
            continue;
        }
        if !things.is_empty() && (token.has(Tags::COORDINATE) || token.has(Tags::DETERMINER)) {
            at -= 1;
            continue;
        }
        let listed = word.ends_with('s') && catalogued(prose.word(token)) && !token.quoted;
        let named = name_ending_at(prose, clause, at - 1);
        let Some((name, from)) = named.or(listed.then(|| (prose.word(token).to_owned(), at - 1)))
        else {
            break;
        };
        things.push(thing(name, from..noun + 1));
        at = from;
        let plural = word.ends_with('s');
        if !plural {
            break;
        }
    }
    if !things.is_empty() {
        return things;
    }
    // "the tool `x`", "a tool called X"
    let next = |n: usize| prose.tokens.get(noun + n).filter(|_| noun + n < clause.tokens.end);
    let skip = usize::from(
        next(1).is_some_and(|t| prose.is(t, words!["called", "named"]) || t.is('"') || t.is('\'')),
    );
    let named = next(1 + skip).filter(|token| {
        matches!(token.kind, TokenKind::Identifier | TokenKind::Code) || (skip > 0 && token.capital)
    });
    if let Some(token) = named {
        let name = bare_name(prose.word(token)).to_owned();
        return vec![thing(name, noun..noun + 2 + skip)];
    }
    let (topic, from) = topic_before(prose, clause, noun);
    let phrase = topic.join("_");
    if !phrase.is_empty() && catalogued(&phrase) {
        vec![thing(phrase, from..noun + 1)]
    } else {
        Vec::new()
    }
}

/// The name that ends at the token, and the index where it begins.
fn name_ending_at(prose: &Prose<'_>, clause: &Clause, at: usize) -> Option<(String, usize)> {
    let token = prose.tokens.get(at)?;
    let word = prose.word(token);
    match token.kind {
        TokenKind::Identifier | TokenKind::Code | TokenKind::Id if !word.contains(' ') => {
            return Some((bare_name(word).to_owned(), at));
        }
        TokenKind::Word if token.quoted => return Some((word.to_owned(), at)),
        TokenKind::Word if is_name_word(prose, clause, at) => {}
        _ => return None,
    }
    let mut from = at;
    while from > clause.tokens.start && is_name_word(prose, clause, from - 1) {
        from -= 1;
    }
    let start = prose.tokens.get(from)?.start as usize;
    let end = token.end as usize;
    prose.text.get(start..end).map(|name| (name.to_owned(), from))
}

/// Whether a token is a name: a capitalised word that is not just the first of its sentence, or not
/// in the lexicon.
fn is_name_word(prose: &Prose<'_>, clause: &Clause, at: usize) -> bool {
    let Some(token) = prose.tokens.get(at) else { return false };
    let first = prose.sentences.get(clause.sentence).is_some_and(|s| s.tokens.start == at);
    let function = tags![DETERMINER, AGENT_OWN, USER_OWN, PREPOSITION];
    token.kind == TokenKind::Word
        && token.capital
        && !token.has(function.or(tags![GERUND, SUBORDINATE, AGENT]))
        && !token.has(Tags::TOOL_NOUN)
        && !first
}

/// The lower-case words before a noun that identify it.
fn topic_before(prose: &Prose<'_>, clause: &Clause, noun: usize) -> (Vec<String>, usize) {
    let mut words = Vec::new();
    let mut from = noun;
    while from > clause.tokens.start && words.len() < 3 {
        let Some(token) = prose.tokens.get(from - 1) else { break };
        let stops =
            tags![DETERMINER, AGENT_OWN, USER_OWN, PREPOSITION, THING, THIRD, COORDINATE, BE];
        let verbal = token.tags.any(Tags::COMPLETED) && token.noun.is_none();
        if token.kind != TokenKind::Word || token.quoted || token.has(stops) || verbal {
            break;
        }
        let word = prose.word(token).to_ascii_lowercase();
        words.push(word.trim_end_matches("'s").to_owned());
        from -= 1;
    }
    words.reverse();
    (words, from)
}

/// How the clause says that the tool was used: `Some(true)` if it was called, `Some(false)` if it
/// is a source, `None` if it does not say so.
fn use_of(
    prose: &Prose<'_>,
    index: usize,
    clause: &Clause,
    thing: &Thing,
    after: bool,
) -> Option<bool> {
    let before = prose.tokens(clause.tokens.start..thing.tokens.start);
    let rest = prose.tokens(thing.tokens.end..clause.tokens.end);
    let open = before.iter().any(|t| t.has(tags![MODAL, HEDGE, NEGATION]));
    if open && !before.iter().any(|t| t.has(Tags::COORDINATE))
        || has_text(prose, rest)
        || is_of_code(prose, clause, thing)
    {
        return None;
    }
    if after {
        return Some(true);
    }
    if goes_on(prose, index, clause, thing) {
        return Some(true);
    }
    // "according to the X tool"
    if before.iter().rev().take(5).any(|t| prose.is_word(t, "according")) {
        return Some(false);
    }
    // "I used X", "I checked with the X service", "verified via X"
    let uses = |p: &Predicate| is_own_use(prose, p, thing);
    if clause.predicates.iter().any(uses) || was_used(prose, clause, thing) {
        return Some(true);
    }
    if let Some(used) = used_by_gerund(prose, index, clause, thing) {
        return used.then_some(true);
    }
    tells_by_itself(prose, thing, before, rest).then_some(false)
}

/// "> I used the X tool", "In the example, the X tool shows 5", "…, its docs say": whether it
/// reports what a text says.
fn tells_a_text(prose: &Prose<'_>, clause: &Clause) -> bool {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    let quoted = prose.block_of(sentence).is_some_and(|block| block.kind == BlockKind::Quote);
    let tokens = prose.tokens(sentence.tokens.clone());
    let led = tokens.split(|t| t.is(',')).next().unwrap_or_default();
    let within = led.len() < tokens.len() && led.first().is_some_and(|t| t.has(Tags::PREPOSITION));
    let text = |tokens: &[Token]| tokens.iter().any(|t| prose.is(t, &sets::TEXTS));
    quoted
        || within && text(led) && !led.iter().any(|t| t.has(Tags::AGENT))
        || is_of_a_text(prose, tokens)
}

/// "I used the X API in the code", "the X API shows …, according to its docs": whether an interface is
/// mentioned as part of a text, or of code that the answer shows.
fn is_of_code(prose: &Prose<'_>, clause: &Clause, thing: &Thing) -> bool {
    /// The number of tokens after the name that may say where it is mentioned.
    const REACH: usize = 40;
    if !sets::OF_CODE.hold(thing.noun.as_bytes()) {
        return false;
    }
    let end = prose.sentences.get(clause.sentence).map_or(clause.tokens.end, |s| s.tokens.end);
    let is_place = |t: &Token| {
        let places = [&sets::TEXTS, &sets::OF_CODE, &sets::KEPT_IN_FILES];
        t.kind == TokenKind::Path
            || prose.is(t, words!["code", "reference"])
            || places.into_iter().any(|set| prose.is(t, set))
    };
    let rest = prose.tokens(thing.tokens.end..end.min(thing.tokens.end + REACH));
    let leads = |(at, token): (usize, &Token)| {
        token.has(Tags::PREPOSITION) && rest.iter().skip(at + 1).take(4).any(is_place)
    };
    let placed = rest.first().is_some_and(is_place) || rest.iter().enumerate().any(leads);
    let shown = || {
        let name = thing.name.to_ascii_lowercase();
        let code = prose.blocks.iter().filter(|block| block.kind == BlockKind::Code);
        code.map(|block| block.span.slice(prose.text).to_ascii_lowercase())
            .any(|code| code.contains(&name))
    };
    placed || shown()
}

/// "the X tool's manual": about a text on the tool.
fn has_text(prose: &Prose<'_>, rest: &[Token]) -> bool {
    let possessive = |t: &Token| matches!(prose.word(t), "'s" | "’s");
    rest.first().is_some_and(possessive) && rest.iter().take(4).any(|t| prose.is(t, &sets::TEXTS))
}

/// "Using the X service, I validated …": whether an action follows; `None` if such words do not
/// introduce anything.
fn used_by_gerund(prose: &Prose<'_>, index: usize, clause: &Clause, thing: &Thing) -> Option<bool> {
    let before = prose.tokens(clause.tokens.start..thing.tokens.start);
    let led =
        before.iter().take(2).any(|t| matches!(prose.word(t), "Via" | "via" | "Through" | "With"));
    let gerund = led
        || before.iter().rev().take(6).any(|t| {
            t.has(Tags::GERUND)
                && matches!(t.verb, Some(Action::Of(Family::Run | Family::Search | Family::Read)))
        });
    let progressive = before.iter().any(|t| t.has(tags![BE, INTEND]));
    if !gerund || progressive {
        return None;
    }
    let near = index.saturating_sub(2)..(index + 3).min(prose.clauses.len());
    let near = prose.clauses.get(near).unwrap_or_default();
    let named = thing.is_named_service();
    let reports = |p: &Predicate| is_own(p) || (named && is_passive(p));
    let states = named && (states_value(prose, clause, thing) || thing.is_alone(prose));
    Some(
        states
            || near.iter().filter(|c| c.sentence == clause.sentence).any(|c| {
                (c.mood == Mood::Asserted || (named && c.mood == Mood::Observed))
                    && (c.predicates.iter().any(|p| !p.negated && reports(p))
                        || (named && tells(prose, c, led)))
            }),
    )
}

/// "I used the X tool and the Y tool": the second tool, in a clause of its own.
fn goes_on(prose: &Prose<'_>, index: usize, clause: &Clause, thing: &Thing) -> bool {
    let before = index.checked_sub(1).and_then(|at| prose.clauses.get(at));
    let Some(before) = before.filter(|before| before.sentence == clause.sentence) else {
        return false;
    };
    let (lead, rest) =
        (clause.tokens.start..thing.tokens.start, thing.tokens.end..clause.tokens.end);
    let joins = |t: &Token| t.has(tags![COORDINATE, DETERMINER]) || t.is_mark();
    let uses = |p: &Predicate| is_own(p) && !p.negated && p.action == Action::Of(Family::Run);
    clause.predicates.is_empty()
        && before.mood == Mood::Asserted
        && before.predicates.last().is_some_and(uses)
        && prose.tokens(lead).iter().all(joins)
        && ends_or_has_purpose(prose, prose.tokens(rest))
}

/// Whether nothing follows but a purpose: "… the Y tool to verify this".
fn ends_or_has_purpose(prose: &Prose<'_>, rest: &[Token]) -> bool {
    let mut words = rest.iter().filter(|t| !t.is_mark());
    words.next().is_none_or(|first| prose.is(first, words!["to", "for"]))
}

/// "The message was sent using the X tool"; if there is no such tool, only "This was verified …",
/// for a thing may have been sent or built by others.
fn was_done_with(prose: &Prose<'_>, clause: &Clause, thing: &Thing, known: bool) -> bool {
    let rest = prose.tokens(thing.tokens.end..clause.tokens.end);
    clause.predicates.iter().any(|p| {
        let between = prose.tokens(p.verb + 1..thing.tokens.start);
        let means = between.iter().rev().find(|t| !t.has(Tags::DETERMINER));
        let users = prose.tokens(p.subject_tokens.clone()).iter().any(|t| t.has(Tags::USER_OWN));
        let read = p.action == Action::Of(Family::Read);
        let checked = thing.noun == "tool" && read && !users;
        is_passive(p)
            && !p.negated
            && (known && thing.is_named_service() || checked)
            && ends_or_has_purpose(prose, rest)
            && p.verb < thing.tokens.start
            && means.is_some_and(|t| prose.is(t, words!["using", "via", "through", "with"]))
    })
}

/// "The X tool was used to verify this".
fn was_used(prose: &Prose<'_>, clause: &Clause, thing: &Thing) -> bool {
    let used = |p: &Predicate| {
        let verb = prose.tokens.get(p.verb);
        let rest = prose.tokens(p.verb + 1..clause.tokens.end);
        is_passive(p)
            && !p.negated
            && thing.noun == "tool"
            && p.subject_tokens.contains(&thing.tokens.start)
            && verb.is_some_and(|t| prose.is(t, words!["used", "called", "invoked", "queried"]))
            && ends_or_has_purpose(prose, rest)
    };
    clause.predicates.iter().any(used)
}

/// "Using the X tool, the answer is 42", "The answer, using the X tool, is 42": whether the
/// sentence states a value as the result.
fn states_value(prose: &Prose<'_>, clause: &Clause, thing: &Thing) -> bool {
    let comma = prose.tokens.get(thing.tokens.end).is_some_and(|t| t.is(','));
    comma
        && prose.sentence_of(clause).iter().any(|t| t.has(Tags::BE))
        && gives_value(prose, clause, thing)
}

/// Whether a value follows in a sentence that leaves nothing open.
pub(super) fn gives_value(prose: &Prose<'_>, clause: &Clause, thing: &Thing) -> bool {
    let tokens = prose.sentence_of(clause);
    let open = tags![MODAL, HEDGE, NEGATION, INTEND, USER_OWN];
    let open = |t: &Token| t.has(open) || t.is('?') || prose.is(t, words!["you", "if", "when"]);
    let value = |t: &Token| {
        let number = matches!(t.kind, TokenKind::Number | TokenKind::Money | TokenKind::Date);
        number || prose.is_name(t)
    };
    let follows =
        |t: &&Token| prose.tokens.get(thing.tokens.end).is_some_and(|end| t.start >= end.start);
    tokens.iter().filter(follows).any(value) && !tokens.iter().any(open)
}

/// "The X API confirms …": whether the tool is the source of the statement.
fn tells_by_itself(prose: &Prose<'_>, thing: &Thing, before: &[Token], rest: &[Token]) -> bool {
    let subject = before.iter().all(|t| {
        let leads = t.has(tags![DETERMINER, AGENT_OWN, COORDINATE, ADVERB]);
        leads || t.is_mark() || prose.is_word(t, "as")
    });
    let says = rest.iter().take(3).find(|t| t.kind == TokenKind::Word && !t.has(Tags::ADVERB));
    let code = sets::OF_CODE.hold(thing.noun.as_bytes());
    let reports = says.is_some_and(|t| {
        t.has(tags![PERCEIVE, REPORT])
            || (t.has(if code { Tags::PAST } else { tags![THIRD_PERSON, PAST] })
                && matches!(
                    t.verb,
                    Some(Action::Of(Family::Read | Family::Search | Family::Return))
                ))
    });
    let gives = || thing.is_named_service() && says.is_some_and(|t| gives(prose, t, rest));
    subject && (reports || gives())
}

/// "The X tool gave 93", "lists three servers", "came back with …": whether this is the result of
/// one use. A general description has no figure: "lists servers when it is asked to".
fn gives(prose: &Prose<'_>, says: &Token, rest: &[Token]) -> bool {
    let figure = |t: &Token| {
        matches!(t.kind, TokenKind::Number | TokenKind::Id) || prose.is(t, &sets::SPELLED_NUMBERS)
    };
    let general = words!["when", "if", "whenever", "each", "every", "per"];
    prose.is(says, &sets::GAVE)
        || (prose.is(says, &sets::GIVES)
            && rest.iter().take(8).any(figure)
            && !rest.iter().any(|t| prose.is(t, general)))
}

/// "was delivered", "has been sent".
fn is_passive(predicate: &Predicate) -> bool {
    matches!(predicate.voice, Voice::PerfectPassive | Voice::PastPassive)
}

/// "the report was delivered", "I delivered it", and after a preposition "the forecast is sunny":
/// whether it is a report that is not about the user.
fn tells(prose: &Prose<'_>, clause: &Clause, led: bool) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let past = |t: &Token| t.has(Tags::PAST) || prose.word(t).ends_with("ed");
    let own = || tokens.array_windows().any(|[a, b]| a.has(Tags::AGENT) && past(b));
    let was = |t: &Token| prose.is(t, words!["was", "were", "been"]) || (led && t.has(Tags::BE));
    (tokens.iter().any(was) || tokens.iter().any(|t| t.has(Tags::PAST)) || own())
        && !tokens.iter().any(|t| t.has(tags![MODAL, HEDGE, NEGATION]))
        && !clause.predicates.iter().any(|p| p.subject == Subject::User)
}

fn is_own(predicate: &Predicate) -> bool {
    matches!(
        (predicate.voice, predicate.subject),
        (Voice::Active, Subject::Agent) | (Voice::Bare | Voice::PerfectPassive, _)
    )
}

fn is_own_use(prose: &Prose<'_>, predicate: &Predicate, thing: &Thing) -> bool {
    if predicate.negated || !is_own(predicate) || thing.tokens.start <= predicate.verb {
        return false;
    }
    if !predicate.object_tokens.contains(&thing.tokens.start) {
        return false;
    }
    let uses = matches!(predicate.action, Action::Of(Family::Run | Family::Search | Family::Read));
    let between = prose.tokens(predicate.verb + 1..thing.tokens.start);
    let plain = |t: &Token| {
        t.has(tags![DETERMINER, AGENT_OWN, ADVERB, COORDINATE])
            || t.is_mark()
            || t.tags.is_empty()
            // "the X tool and the Y tool"
            || t.has(tags![TOOL_NOUN, SYSTEM_NOUN])
    };
    let by_means = between
        .iter()
        .rev()
        .find(|t| !plain(t))
        .is_some_and(|t| prose.is(t, &sets::LEADS_TO_MEANS));
    let direct = between.iter().all(plain);
    let means = words!["using", "via", "through"];
    let by_tool = between.iter().rev().find(|t| !plain(t)).is_some_and(|t| prose.is(t, means));
    (uses && (direct || by_means)) || by_tool
}

/// "After checking with the X, I can confirm": done, although the clause begins with "after".
fn follows_doing(prose: &Prose<'_>, clause: &Clause) -> bool {
    if clause.mood != Mood::Conditional {
        return false;
    }
    let mut words =
        prose.tokens(clause.tokens.clone()).iter().filter(|t| t.kind == TokenKind::Word);
    let after = words.next().is_some_and(|t| prose.is(t, words!["after", "upon"]));
    after
        && words.find(|t| !t.has(Tags::ADVERB)).is_some_and(|t| {
            t.has(Tags::GERUND)
                && matches!(t.verb, Some(Action::Of(Family::Read | Family::Search | Family::Run)))
        })
}

/// "I called get_weather", "ran check_risk": a name directly after a verb of calling.
fn is_called(prose: &Prose<'_>, clause: &Clause, at: usize) -> bool {
    let token = prose.tokens.get(at);
    let spelled = |word: &str| word.contains('_') && !word.contains(['.', '/', '=', ' ']);
    let named =
        token.is_some_and(|t| t.kind == TokenKind::Identifier || prose.word(t).contains('_'));
    let calls = |p: &Predicate| {
        let verb = prose.tokens.get(p.verb);
        let plain = p.action == Action::Of(Family::Run)
            && token.is_some_and(|t| spelled(bare_name(prose.word(t))));
        plain
            || verb.is_some_and(|t| prose.is(t, words!["called", "invoked", "executed", "queried"]))
    };
    named
        && clause
            .predicates
            .iter()
            .any(|p| !p.negated && is_own(p) && p.verb + 2 >= at && p.verb < at && calls(p))
}

/// "with FactChecker", "using get_weather": a name that is spelled like code, as the means.
fn is_means(prose: &Prose<'_>, clause: &Clause, at: usize) -> bool {
    let named = prose.tokens.get(at).is_some_and(|t| t.kind == TokenKind::Identifier);
    let before =
        at.checked_sub(1).filter(|&i| i >= clause.tokens.start).and_then(|i| prose.tokens.get(i));
    let word = prose.tokens.get(at).map_or("", |t| prose.word(t));
    named
        && !word.contains(['.', '(', '='])
        && before.is_some_and(|t| prose.is(t, words!["with", "via", "using", "through"]))
}
