//! Values of one thing that are told of another, where the record binds them by the call that looked
//! the thing up, or by the line of a text in which it stands.

use std::collections::{BTreeMap, BTreeSet};

use counterfoil_model::Span;
use rustc_hash::FxHashSet;

use super::number::number;
use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Mood, Prose, Tags};
use crate::values::{Leaf, Leaves, Source};

/// So many bytes before an answer are read, and so many things of one kind compared.
const REACH: usize = 32 * 1024;
const MOST_THINGS: usize = 24;
/// A smaller number is told of many things.
const SMALLEST: f64 = 32.0;

/// A value that belongs to another thing.
pub(crate) struct Swap {
    pub(crate) span: Span,
    pub(crate) thing: String,
    pub(crate) told: String,
    pub(crate) owner: String,
}

/// What is known of one thing.
struct Thing {
    name: String,
    values: BTreeSet<String>,
}

pub(crate) fn swaps(facts: &Facts<'_>, answer: &Answer<'_>) -> Vec<Swap> {
    if facts.delegates_before(answer.turn) {
        return Vec::new();
    }
    let elsewhere = told(facts, answer.turn);
    let beside = |swap: &Swap| {
        facts.deeds_before(answer.turn).any(|(execution, _)| {
            let args = execution.call.map_or("", |call| call.arguments.as_str());
            let texts = [args, execution.text()];
            find(args, &swap.thing).is_some()
                && texts.iter().any(|text| held(text).any(|value| value == swap.told))
        })
    };
    let units = units(&answer.prose);
    let mut found = Vec::new();
    for kind in kinds(facts, answer.turn) {
        for unit in &units {
            let swap = in_unit(&kind, answer.prose.text, *unit, &elsewhere);
            found.extend(swap.filter(|swap| !beside(swap)));
        }
    }
    found
}

/// The values that somebody said.
fn told(facts: &Facts<'_>, turn: usize) -> FxHashSet<String> {
    let told = facts.given().near(turn, REACH).filter(|given| given.source == Source::Told);
    told.flat_map(|given| values(given.text)).collect()
}

/// Things of one kind: those that one tool looked up, and those in the lines of a text.
fn kinds(facts: &Facts<'_>, turn: usize) -> Vec<Vec<Thing>> {
    let mut looked: BTreeMap<(String, String), BTreeMap<String, BTreeSet<String>>> =
        BTreeMap::new();
    let mut kinds = Vec::new();
    for (execution, deed) in facts.deeds_before(turn).take(MOST_THINGS * 2) {
        if !deed.status().succeeded() {
            continue;
        }
        let args = execution.call.map_or("", |call| call.arguments.as_str());
        if let Some(leaves) = Leaves::of(args) {
            for node in leaves.nodes() {
                let (Leaf::Text(value) | Leaf::Number(value)) = node.leaf else { continue };
                if value.len() < 48 && !value.is_empty() {
                    let key = (execution.tool().to_owned(), node.name.to_owned());
                    let things = looked.entry(key).or_default();
                    let own = things.entry(value.to_owned()).or_default();
                    own.extend(held(execution.text()));
                    own.extend(held(args));
                }
            }
        }
        match Leaves::of(execution.text()) {
            Some(leaves) => kinds.extend(objects(&leaves)),
            None => kinds.push(lines(execution.text())),
        }
    }
    let looked = looked.into_values().map(|things| {
        things.into_iter().map(|(name, values)| Thing { name, values }).collect::<Vec<_>>()
    });
    kinds.extend(looked);
    // The legs of a way lead to each other.
    let leads = |things: &[Thing]| {
        let to = |one: &Thing, two: &Thing| {
            one.name != two.name && held(&two.name).any(|word| one.values.contains(&word))
        };
        things.iter().any(|one| things.iter().any(|two| to(one, two)))
    };
    kinds.retain(|things| (2..=MOST_THINGS).contains(&things.len()) && !leads(things));
    kinds
}

/// The things of each list: by the first member in which they all differ.
fn objects(leaves: &Leaves<'_>) -> Vec<Vec<Thing>> {
    let nodes = leaves.nodes();
    let children = leaves.by_parent();
    let within = |at: usize| {
        children.get(at).into_iter().flatten().filter_map(|at| Some((*at, nodes.get(*at)?)))
    };
    let own = |object: usize| {
        within(object).filter_map(|(_, node)| match node.leaf {
            Leaf::Text(value) | Leaf::Number(value) => Some((node.name, value)),
            _ => None,
        })
    };
    let few =
        |leaf: Leaf<'_>| matches!(leaf, Leaf::List(count) if (2..=MOST_THINGS).contains(&count));
    let lists = nodes.iter().enumerate().filter(|(_, node)| few(node.leaf));
    let read = |(list, _): (usize, &_)| {
        let objects = within(list).filter(|(_, node)| node.leaf == Leaf::Object);
        let items: Vec<Vec<(&str, &str)>> = objects.map(|(at, _)| own(at).collect()).collect();
        let value = |item: &[(&str, &str)], name: &str| {
            item.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        };
        let names = items.first()?.iter().map(|(name, _)| *name);
        let name = names.into_iter().find(|name| {
            let mut values: Vec<Option<String>> =
                items.iter().map(|item| value(item, name)).collect();
            values.sort();
            values.dedup();
            let text = values.iter().flatten().all(|v| v.contains(char::is_alphabetic));
            values.len() == items.len() && text && !values.contains(&None)
        })?;
        let thing = |item: &Vec<(&str, &str)>| {
            let values = item.iter().filter(|(own, _)| *own != name).flat_map(|(_, v)| held(v));
            Some(Thing { name: value(item, name)?, values: values.collect() })
        };
        items.iter().map(thing).collect::<Option<Vec<Thing>>>()
    };
    lists.filter_map(read).collect()
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
        let rest: BTreeSet<String> = rest.iter().flat_map(|word| held(word)).collect();
        let named = name.len() > 2 && name.starts_with(|c: char| c.is_alphabetic()) && figures;
        if named && !rest.is_empty() && things.iter().all(|thing| thing.name != name) {
            things.push(Thing { name: name.to_owned(), values: rest });
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

/// What is told in a stretch of one of the things, and belongs to another one.
fn in_unit(
    things: &[Thing],
    text: &str,
    unit: Span,
    elsewhere: &FxHashSet<String>,
) -> Option<Swap> {
    let words = unit.of(text);
    let mut named: Vec<(usize, usize, &Thing)> = Vec::new();
    for thing in things {
        let name = called(things, thing, words);
        let mut at = find(words, name);
        while let Some(place) = at {
            named.push((place, place + name.len(), thing));
            let behind = place + name.len();
            at = words.get(behind..).and_then(|rest| find(rest, name)).map(|next| behind + next);
        }
    }
    named.sort_by_key(|(at, _, _)| *at);
    let (first, _, _) = named.first().filter(|(_, _, one)| !is_moment(&one.name))?;
    // Where a value comes first, nobody knows whose it is.
    let owners = |value: &String| things.iter().filter(|t| t.values.contains(value)).count();
    if values(words.get(..*first)?).any(|value| owners(&value) == 1) {
        return None;
    }
    // "from A to B": of which of them is it told?
    let joined = named.windows(2).any(|pair| match pair {
        [(_, at, one), (next, _, two)] => {
            let between = words.get(*at..*next).unwrap_or_default();
            one.name != two.name && values(between).next().is_none()
        }
        _ => false,
    });
    if joined {
        return None;
    }
    named.iter().enumerate().find_map(|(nth, (_, behind, thing))| {
        let end = named.get(nth + 1).map_or(words.len(), |(next, _, _)| *next);
        let stretch = words.get(*behind..end)?;
        values(stretch).find_map(|told| {
            let mut owners = things.iter().filter(|other| other.values.contains(&told));
            let owner = owners.next()?;
            let only = owners.next().is_none() && owner.name != thing.name;
            let telling =
                !elsewhere.contains(&told) && !things.iter().any(|t| is_in(&t.name, &told));
            (only && telling).then(|| Swap {
                span: unit,
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
fn called<'a>(things: &'a [Thing], thing: &'a Thing, words: &str) -> &'a str {
    const SHORTEST_NAME: usize = 4;
    if find(words, &thing.name).is_some() {
        return &thing.name;
    }
    // "Water Resistance" is no water bottle.
    let alone = |part: &str| {
        let behind = find(words, part).and_then(|at| words.get(at + part.len()..));
        let next = behind.and_then(|behind| behind.strip_prefix(' '));
        !next.is_some_and(|next| next.starts_with(char::is_uppercase))
    };
    let only = |part: &&str| {
        part.len() >= SHORTEST_NAME
            && part.starts_with(char::is_uppercase)
            && things.iter().filter(|other| find(&other.name, part).is_some()).count() == 1
            && alone(part)
    };
    thing.name.split(' ').find(only).unwrap_or(&thing.name)
}

fn is_in(name: &str, value: &str) -> bool {
    name.to_lowercase().contains(value)
}

/// Where a text names a thing, in any case, with spaces for dashes.
pub(super) fn find(text: &str, name: &str) -> Option<usize> {
    if text.len() != text.to_lowercase().len() {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], " ");
    let (text, name) = (plain(text), plain(name));
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(name.as_str()).map(|(at, _)| at).find(|at| {
        edge(text.get(..*at).and_then(|before| before.chars().next_back()))
            && edge(text.get(at + name.len()..).and_then(|behind| behind.chars().next()))
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
    let edge = |c: char| c.is_whitespace() || "\"'{}[]();=|<>~*`:/".contains(c);
    text.split(edge)
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
