//! Values of one thing that are told of another, where the record binds them by the call that looked
//! the thing up, or by the line of a text in which it stands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use counterfoil_model::Span;
use rustc_hash::FxHashSet;

use super::number::{is_mark, number};
use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Mood, Prose, Tags};
use crate::values::{Leaf, Leaves, Recent, Source};

/// So many bytes before an answer are read, and so many things of one kind compared.
const REACH: usize = 32 * 1024;
const MOST_THINGS: usize = 24;
/// A longer text is no value.
const LONGEST: usize = 60;
/// A smaller number is told of many things.
const SMALLEST: f64 = 32.0;

/// A value that belongs to another thing.
pub(crate) struct Swapped {
    pub(crate) span: Span,
    pub(crate) thing: String,
    pub(crate) told: String,
    pub(crate) owner: String,
}

/// What a session tells of things, of which one may be taken for another.
#[derive(Debug)]
pub(crate) struct Things {
    /// Those of one kind each.
    kinds: Vec<Rc<[Thing]>>,
    /// The values that somebody said.
    told: FxHashSet<String>,
}

/// What was read of the latest calls, for the answers behind each of them.
#[derive(Debug, Default)]
pub(crate) struct ReadCalls {
    /// The values of arguments and result.
    values: Recent<FxHashSet<String>>,
    /// The things that begin the lines of a result.
    lines: Recent<[Thing]>,
}

/// What is known of one thing.
#[derive(Debug)]
struct Thing {
    name: String,
    /// Its name in small letters, with spaces for dashes.
    plain: String,
    /// The values of every text that tells of it.
    values: Vec<Rc<FxHashSet<String>>>,
}

impl Thing {
    fn of(name: &str, values: Vec<Rc<FxHashSet<String>>>) -> Self {
        Self { name: name.to_owned(), plain: in_plain(name), values }
    }

    fn has(&self, value: &str) -> bool {
        self.values.iter().any(|values| values.contains(value))
    }
}

pub(crate) fn swapped(facts: &Facts<'_>, answer: &Answer<'_>) -> Vec<Swapped> {
    if facts.delegates_before(answer.turn) {
        return Vec::new();
    }
    let make = || Things { kinds: kinds(facts, answer.turn), told: told(facts, answer.turn) };
    let before = facts.before(answer.turn);
    let things = before.things.get_or_init(make);
    let beside = |swap: &Swapped| {
        facts.deeds_before(answer.turn).any(|(execution, _)| {
            let args = execution.call.map_or("", |call| call.arguments.as_str());
            let texts = [args, execution.text()];
            find(args, &swap.thing).is_some()
                && texts.iter().any(|text| held(text).any(|value| value == swap.told))
        })
    };
    let text = answer.prose.text;
    let units = units(&answer.prose).into_iter().map(|span| Unit::of(text, span));
    let units: Vec<Unit<'_>> = units.filter(|unit| unit.plain.len() == unit.words.len()).collect();
    let mut found = Vec::new();
    for kind in &things.kinds {
        let swaps = units.iter().filter_map(|unit| in_unit(kind, unit, &things.told));
        found.extend(swaps.filter(|swap| !beside(swap)));
    }
    found
}

/// The values that somebody said.
fn told(facts: &Facts<'_>, turn: usize) -> FxHashSet<String> {
    let told = facts.given().near(turn, REACH).filter(|given| given.source == Source::Told);
    told.flat_map(|given| values(given.text)).collect()
}

/// Things of one kind: those that one tool looked up, objects with members of the same names, and the
/// lines of a text.
fn kinds(facts: &Facts<'_>, turn: usize) -> Vec<Rc<[Thing]>> {
    let count = facts.record().count_before(turn);
    let well = |at: &usize| facts.deed(*at).is_some_and(|(_, deed)| deed.status().succeeded());
    let calls: Vec<usize> = (0..count).rev().take(MOST_THINGS * 2).filter(well).collect();
    let read = facts.read_calls();
    let oldest = count.saturating_sub(MOST_THINGS * 2);
    read.values.forget_before(oldest);
    read.lines.forget_before(oldest);
    let mut kinds: Vec<Rc<[Thing]>> = Vec::new();
    let mut shapes: BTreeMap<Vec<&str>, Vec<Vec<(&str, &str)>>> = BTreeMap::new();
    for at in &calls {
        let Some(leaves) = facts.leaves(*at) else {
            let text =
                facts.record().executions().get(*at).map_or("", |execution| execution.text());
            kinds.push(read.lines.get(*at, || lines(text).into()));
            continue;
        };
        for object in objects(&leaves) {
            let names = object.iter().map(|(name, _)| *name).collect();
            shapes.entry(names).or_default().push(object);
        }
    }
    for mut items in shapes.into_values() {
        items.sort_unstable();
        items.dedup();
        if (2..=MOST_THINGS).contains(&items.len()) {
            kinds.extend(told_apart(&items).into_iter().map(Rc::from));
        }
    }
    kinds.extend(looked_up(facts, &calls).into_iter().map(Rc::from));
    // The legs of a way lead to each other.
    let leads = |things: &[Thing]| {
        let to = |one: &Thing, two: &Thing| {
            one.name != two.name && held(&two.name).any(|word| one.has(&word))
        };
        things.iter().any(|one| things.iter().any(|two| to(one, two)))
    };
    kinds.retain(|things| (2..=MOST_THINGS).contains(&things.len()) && !leads(things));
    kinds
}

/// The things for which one tool was called, by each of its arguments.
fn looked_up(facts: &Facts<'_>, calls: &[usize]) -> Vec<Vec<Thing>> {
    let mut looked: BTreeMap<(&str, &str), BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for at in calls {
        let Some((execution, _)) = facts.deed(*at) else { continue };
        let args = execution.call.map_or("", |call| call.arguments.as_str());
        for node in Leaves::of(args).iter().flat_map(Leaves::nodes) {
            if let Leaf::Text(value) | Leaf::Number(value) = node.leaf
                && (1..=LONGEST).contains(&value.len())
            {
                let things = looked.entry((execution.tool(), node.name)).or_default();
                let told = things.entry(value).or_default();
                if told.last() != Some(at) {
                    told.push(*at);
                }
            }
        }
    }
    let values = |at: &usize| {
        facts.read_calls().values.get(*at, || {
            let execution = facts.record().executions().get(*at);
            let args = execution.and_then(|execution| execution.call);
            let texts = [args.map(|call| call.arguments.as_str()), execution.map(|e| e.text())];
            Rc::new(texts.into_iter().flatten().flat_map(held).collect())
        })
    };
    let some = |things: &BTreeMap<_, _>| (2..=MOST_THINGS).contains(&things.len());
    let kind = |things: BTreeMap<&str, Vec<usize>>| {
        let thing =
            |(name, at): (&str, Vec<usize>)| Thing::of(name, at.iter().map(values).collect());
        things.into_iter().map(thing).collect()
    };
    looked.into_values().filter(some).map(kind).collect()
}

/// The short members of each object.
fn objects<'t>(leaves: &Leaves<'t>) -> Vec<Vec<(&'t str, &'t str)>> {
    let nodes = leaves.nodes();
    let own = |children: &Vec<usize>| {
        let members = children.iter().filter_map(|at| nodes.get(*at));
        let short = members.filter_map(|node| match node.leaf {
            Leaf::Text(value) | Leaf::Number(value) if value.len() <= LONGEST => {
                Some((node.name, value))
            }
            _ => None,
        });
        short.collect::<Vec<_>>()
    };
    let children = leaves.by_parent();
    let objects = nodes.iter().zip(&children).filter(|(node, _)| node.leaf == Leaf::Object);
    objects.map(|(_, children)| own(children)).filter(|own| own.len() > 1).collect()
}

/// Objects with members of the same names, told apart by each member in which they all differ.
fn told_apart(items: &[Vec<(&str, &str)>]) -> Vec<Vec<Thing>> {
    let names = items.first().into_iter().flatten().map(|(name, _)| *name);
    let differs = |name: &&str| {
        let mut values: Vec<&str> = items.iter().filter_map(|item| value(item, name)).collect();
        let texts = values.iter().all(|value| value.contains(char::is_alphabetic));
        values.sort_unstable();
        values.dedup();
        texts && values.len() == items.len()
    };
    let things = |name: &str| {
        let thing = |item: &Vec<(&str, &str)>| {
            let others = item.iter().filter(|(own, _)| *own != name);
            let values = others.flat_map(|(_, value)| held(value)).collect();
            Some(Thing::of(value(item, name)?, vec![Rc::new(values)]))
        };
        items.iter().filter_map(thing).collect()
    };
    names.filter(differs).map(things).collect()
}

/// The value of an object's member.
fn value<'t>(item: &[(&str, &'t str)], name: &str) -> Option<&'t str> {
    item.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
}

/// The things that begin the lines of a text.
fn lines(text: &str) -> Vec<Thing> {
    let mut things: Vec<Thing> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> =
            line.split(|c: char| c.is_whitespace() || c == '|').filter(|w| !w.is_empty()).collect();
        let Some((name, rest)) = words.split_first() else { continue };
        let name = name.trim_end_matches(':');
        let figures = rest.iter().all(|word| number(word).is_some());
        let named = name.len() > 2 && name.starts_with(|c: char| c.is_alphabetic()) && figures;
        if !named || things.iter().any(|thing| thing.name == name) {
            continue;
        }
        let values: FxHashSet<String> = rest.iter().flat_map(|word| held(word)).collect();
        if !values.is_empty() {
            things.push(Thing::of(name, vec![Rc::new(values)]));
        }
    }
    things
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
}

impl<'a> Unit<'a> {
    fn of(text: &'a str, span: Span) -> Self {
        let words = span.of(text);
        Self { span, words, plain: in_plain(words) }
    }
}

/// What is told in a stretch of one of the things, and belongs to another one.
fn in_unit(things: &[Thing], unit: &Unit<'_>, elsewhere: &FxHashSet<String>) -> Option<Swapped> {
    let Unit { words, plain, .. } = unit;
    let mut named: Vec<(usize, usize, &Thing)> = Vec::new();
    for thing in things {
        let name = called(things, thing, words, plain);
        let end = |place: usize| place + name.len();
        named.extend(places(plain, &name).map(|place| (place, end(place), thing)));
    }
    named.sort_by_key(|(at, _, _)| *at);
    let (first, _, _) = named.first().filter(|(_, _, one)| !is_moment(&one.name))?;
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
            let telling =
                !elsewhere.contains(&told) && !things.iter().any(|t| is_in(&t.name, &told));
            let of_next = last.as_ref() == Some(&told) && next.is_some_and(|next| next.has(&told));
            (only && telling && !of_next).then(|| Swapped {
                span: unit.span,
                thing: thing.name.clone(),
                told: told.clone(),
                owner: owner.name.clone(),
            })
        })
    })
}

/// A day or a time tells when, and not what.
fn is_moment(name: &str) -> bool {
    name.len() > 3 && name.bytes().all(|b| b.is_ascii_digit() || b"-:TZ.+ ".contains(&b))
}

/// How a stretch calls a thing: by its whole name, or by the first word that only it has.
fn called<'a>(things: &'a [Thing], thing: &'a Thing, words: &str, plain: &str) -> Cow<'a, str> {
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
fn is_part(thing: &Thing, word: &str) -> bool {
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
