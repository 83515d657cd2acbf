//! Values of one thing that are told of another, where the record binds them by the call that looked
//! the thing up, or by the line of a text in which it stands.

mod things;

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use counterfoil_model::Span;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::number::{is_mark, number};
use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Mood, Prose, Tags};
use things::Thing;
pub(crate) use things::{ReadCalls, Things};

/// A smaller number is told of many things.
const SMALLEST: f64 = 32.0;

/// A value that belongs to another thing.
pub(crate) struct Swapped {
    pub(crate) span: Span,
    pub(crate) thing: String,
    pub(crate) told: String,
    pub(crate) owner: String,
}

pub(crate) fn swapped(facts: &Facts<'_>, answer: &Answer<'_>) -> Vec<Swapped> {
    let text = answer.prose.text;
    let units = units(&answer.prose).into_iter().map(|span| Unit::of(text, span));
    let units: Vec<Unit<'_>> = units.filter(|unit| unit.plain.len() == unit.words.len()).collect();
    if units.is_empty() || facts.delegates_before(answer.turn) {
        return Vec::new();
    }
    let before = facts.before(answer.turn);
    let things = before.things.get_or_init(|| Things::of(facts, answer.turn));
    let elsewhere = |value: &str| things.is_told(facts, answer.turn, value);
    let beside = |swap: &Swapped| {
        facts.deeds_before(answer.turn).any(|(execution, _)| {
            let args = execution.arguments();
            let texts = [args, execution.text()];
            find(args, &swap.thing).is_some()
                && texts.iter().any(|text| held(text).any(|value| value == swap.told))
        })
    };
    let mut found = Vec::new();
    for kind in &things.kinds {
        let swaps = units.iter().filter_map(|unit| in_unit(&kind.0, unit, &elsewhere));
        let swaps: Vec<Swapped> = swaps.filter(|swap| !beside(swap)).collect();
        if !swaps.is_empty() && !kind.is_way() {
            found.extend(swaps);
        }
    }
    found
}

/// The stretches of an answer in each of which one thing is told of: rows, items, sentences.
fn units(prose: &Prose<'_>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (at, sentence) in prose.sentences.iter().enumerate() {
        let cell =
            prose.block_of(sentence).is_some_and(|b| matches!(b.kind, BlockKind::Cell { .. }));
        let clauses = prose.clauses_of(at);
        let said = clauses
            .iter()
            .all(|clause| clause.mood == Mood::Asserted || clause.mood == Mood::Relative);
        let open = clauses.iter().any(|clause| clause.tags.any(Tags::MODAL.or(Tags::CONDITIONAL)));
        if cell || !said || open || sentence.question {
            continue;
        }
        if let (Some(first), Some(last)) = (clauses.first(), clauses.last()) {
            spans.push(Span { start: first.span.start, end: last.span.end });
        }
    }
    let mut start = 0;
    for line in prose.text.split_inclusive('\n') {
        if line.trim_start().starts_with('|') {
            spans.push(Span { start, end: start + line.len() });
        }
        start += line.len();
    }
    spans
}

/// A stretch of an answer.
struct Unit<'a> {
    span: Span,
    words: &'a str,
    /// The same in small letters, with spaces for dashes.
    plain: String,
    /// The marks of its words.
    marks: FxHashSet<u64>,
}

impl<'a> Unit<'a> {
    fn of(text: &'a str, span: Span) -> Self {
        let words = span.of(text);
        let plain = in_plain(words);
        Self { span, words, marks: marks(&plain).collect(), plain }
    }

    /// Whether it may name a thing: it has none of its words otherwise.
    fn may_name(&self, thing: &Thing<'_>) -> bool {
        thing.words.is_empty() || thing.words.iter().any(|word| self.marks.contains(word))
    }
}

/// What is told in a stretch of one of the things, and belongs to another one.
fn in_unit(
    things: &[Thing<'_>],
    unit: &Unit<'_>,
    elsewhere: &impl Fn(&str) -> bool,
) -> Option<Swapped> {
    let Unit { words, plain, .. } = unit;
    let mut named: Vec<(usize, usize, &Thing<'_>)> = Vec::new();
    for thing in things.iter().filter(|thing| unit.may_name(thing)) {
        let name = called(things, thing, words, plain);
        let end = |place: usize| place + name.len();
        named.extend(places(plain, &name).map(|place| (place, end(place), thing)));
    }
    named.sort_by_key(|(at, _, _)| *at);
    let (first, _, _) = named.first().filter(|(_, _, one)| !is_moment(one.name))?;
    // Where a value comes first, nobody knows whose it is.
    let owners = |value: &String| things.iter().filter(|thing| thing.has(value)).count();
    if values(words.get(..*first)?).any(|value| owners(&value) == 1) {
        return None;
    }
    // "from A to B": of which of them is it told?
    let joined = named.windows(2).any(|pair| match pair {
        [(_, at, one), (next, _, two)] => {
            let between = words.get(*at..*next).unwrap_or_default();
            one.name != two.name && !values(between).any(|value| owners(&value) > 0)
        }
        _ => false,
    });
    if joined {
        return None;
    }
    named.iter().enumerate().find_map(|(nth, (_, behind, thing))| {
        let end = named.get(nth + 1).map_or(words.len(), |(next, _, _)| *next);
        let stretch = words.get(*behind..end)?;
        // "Ivan Muller, Isabella Moore": what stands right before a name belongs to it.
        let next = named.get(nth + 1).map(|(_, _, next)| next);
        let last = values(stretch).last().filter(|_| stretch.ends_with([' ']));
        values(stretch).find_map(|told| {
            let mut owners = things.iter().filter(|other| other.has(&told));
            let owner = owners.next()?;
            let only = owners.next().is_none() && owner.name != thing.name;
            let telling = !things.iter().any(|t| is_in(t.name, &told)) && !elsewhere(&told);
            let of_next = last.as_ref() == Some(&told) && next.is_some_and(|next| next.has(&told));
            (only && telling && !of_next).then(|| Swapped {
                span: unit.span,
                thing: thing.name.to_owned(),
                told: told.clone(),
                owner: owner.name.to_owned(),
            })
        })
    })
}

/// A day or a time tells when, and not what.
fn is_moment(name: &str) -> bool {
    name.len() > 3 && name.bytes().all(|b| b.is_ascii_digit() || b"-:TZ.+ ".contains(&b))
}

/// How a stretch calls a thing: by its whole name, or by the first word that only it has.
fn called<'a>(
    things: &'a [Thing<'_>],
    thing: &'a Thing<'_>,
    words: &str,
    plain: &str,
) -> Cow<'a, str> {
    const SHORTEST_NAME: usize = 4;
    if places(plain, &thing.plain).next().is_some() {
        return Cow::Borrowed(&thing.plain);
    }
    // "Water Resistance" is no water bottle.
    let alone = |part: &str| {
        let place = places(plain, &in_plain(part)).next();
        let behind = place.and_then(|at| words.get(at + part.len()..));
        let next = behind.and_then(|behind| behind.strip_prefix(' '));
        !next.is_some_and(|next| next.starts_with(char::is_uppercase))
    };
    let only = |part: &&str| {
        part.len() >= SHORTEST_NAME
            && part.starts_with(char::is_uppercase)
            && alone(part)
            && things.iter().filter(|other| is_part(other, &in_plain(part))).count() == 1
    };
    let part = thing.name.split(' ').find(only);
    part.map_or(Cow::Borrowed(&*thing.plain), |part| Cow::Owned(in_plain(part)))
}

/// Whether a word in plain is one of a thing's name.
fn is_part(thing: &Thing<'_>, word: &str) -> bool {
    thing.plain.len() == thing.name.len() && places(&thing.plain, word).next().is_some()
}

fn is_in(name: &str, value: &str) -> bool {
    name.to_lowercase().contains(value)
}

/// Where a text names a thing, in any case, with spaces for dashes.
pub(super) fn find(text: &str, name: &str) -> Option<usize> {
    let plain = in_plain(text);
    (plain.len() == text.len()).then(|| places(&plain, &in_plain(name)).next()).flatten()
}

/// A mark for each word of a text in plain: one word has one mark, and two have seldom the same.
fn marks(plain: &str) -> impl Iterator<Item = u64> {
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| FxBuildHasher.hash_one(word))
}

/// A text in small letters, with spaces for dashes.
fn in_plain(text: &str) -> String {
    text.to_lowercase().replace(['-', '_'], " ")
}

/// Where a name stands in a text as words of their own, both in plain.
fn places<'a>(plain: &'a str, name: &'a str) -> impl Iterator<Item = usize> {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    plain.match_indices(name).map(|(at, _)| at).filter(move |at| {
        edge(plain.get(..*at).and_then(|before| before.chars().next_back()))
            && edge(plain.get(at + name.len()..).and_then(|behind| behind.chars().next()))
    })
}

/// The values of a text that tell things apart: numbers, ids, and words with a capital.
fn values(text: &str) -> impl Iterator<Item = String> {
    words(text).flat_map(|word| {
        let capital = word.starts_with(char::is_uppercase);
        let letters = word.chars().all(char::is_alphabetic) && word.len() > 3;
        let own = figure(word).or_else(|| (capital && letters).then(|| word.to_lowercase()));
        own.into_iter().collect::<Vec<_>>()
    })
}

/// The same of what a record has: any word may be a name there, and a share may be a fraction.
fn held(text: &str) -> impl Iterator<Item = String> {
    words(text).flat_map(|word| {
        let mut found: Vec<String> = figure(word).into_iter().collect();
        if let Some((value, _)) = number(word)
            && value > 0.0
            && value < 1.0
        {
            // As a share is told, with a decimal or without.
            let percent = value * 100.0;
            found.extend([10.0, 1.0].map(|step| ((percent * step).round() / step).to_string()));
        }
        let parts = word.split(|c: char| !c.is_alphanumeric());
        let names = parts.filter(|part| part.len() > 3 && part.chars().all(char::is_alphabetic));
        found.extend(names.map(str::to_lowercase));
        found
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| is_mark(c) || matches!(c, '*' | '`') || c.is_whitespace())
        .map(|word| word.trim_matches([',', ':', '.', ';', '!', '?', '“', '”']))
        .filter(|word| !word.is_empty())
}

/// A number that tells something, or an id.
fn figure(word: &str) -> Option<String> {
    let begins = word.starts_with(|c: char| c.is_ascii_digit());
    match number(word) {
        Some((value, decimals))
            if word.ends_with(|c: char| c.is_ascii_digit() || c == '%') || !begins =>
        {
            (value.abs() >= SMALLEST || decimals > 0).then(|| value.to_string())
        }
        _ => {
            let digits = word.bytes().any(|b| b.is_ascii_digit());
            let letters = word.bytes().any(|b| b.is_ascii_alphabetic());
            let id = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            (digits && letters && id && word.len() > 2).then(|| word.to_lowercase())
        }
    }
}
