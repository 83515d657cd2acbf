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
    kinds: Vec<Vec<Thing>>,
    /// The values that somebody said.
    told: FxHashSet<String>,
}

/// What is known of one thing.
#[derive(Debug)]
struct Thing {
    name: String,
    values: BTreeSet<String>,
}

pub(crate) fn swapped(facts: &Facts<'_>, answer: &Answer<'_>) -> Vec<Swapped> {
    if facts.delegates_before(answer.turn) {
        return Vec::new();
    }
    let make = || Things { kinds: kinds(facts, answer.turn), told: told(facts, answer.turn) };
    let things = facts.things(answer.turn, make);
    let beside = |swap: &Swapped| {
        facts.deeds_before(answer.turn).any(|(execution, _)| {
            let args = execution.call.map_or("", |call| call.arguments.as_str());
            let texts = [args, execution.text()];
            find(args, &swap.thing).is_some()
                && texts.iter().any(|text| held(text).any(|value| value == swap.told))
        })
    };
    let units = units(&answer.prose);
    let mut found = Vec::new();
    for kind in &things.kinds {
        for unit in &units {
            let swap = in_unit(kind, answer.prose.text, *unit, &things.told);
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

/// Things of one kind: those that one tool looked up, objects with members of the same names, and the
/// lines of a text.
fn kinds(facts: &Facts<'_>, turn: usize) -> Vec<Vec<Thing>> {
    let mut looked: BTreeMap<(String, String), BTreeMap<String, BTreeSet<String>>> =
        BTreeMap::new();
    let mut shapes: BTreeMap<Vec<String>, Vec<Vec<(String, String)>>> = BTreeMap::new();
    let mut kinds = Vec::new();
    for (execution, deed) in facts.deeds_before(turn).take(MOST_THINGS * 2) {
        if !deed.status().succeeded() {
            continue;
        }
        let args = execution.call.map_or("", |call| call.arguments.as_str());
        if let Some(leaves) = Leaves::of(args) {
            for node in leaves.nodes() {
                let (Leaf::Text(value) | Leaf::Number(value)) = node.leaf else { continue };
                if value.len() <= LONGEST && !value.is_empty() {
                    let key = (execution.tool().to_owned(), node.name.to_owned());
                    let things = looked.entry(key).or_default();
                    let own = things.entry(value.to_owned()).or_default();
                    own.extend(held(execution.text()));
                    own.extend(held(args));
                }
            }
        }
        match Leaves::of(execution.text()) {
            Some(leaves) => {
                for object in objects(&leaves) {
                    let names = object.iter().map(|(name, _)| name.clone()).collect();
                    shapes.entry(names).or_default().push(object);
                }
            }
            None => kinds.push(lines(execution.text())),
        }
    }
    for (_, mut items) in shapes {
        items.sort();
        items.dedup();
        if (2..=MOST_THINGS).contains(&items.len()) {
            kinds.extend(told_apart(&items));
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

/// The short members of each object.
fn objects(leaves: &Leaves<'_>) -> Vec<Vec<(String, String)>> {
    let nodes = leaves.nodes();
    let own = |children: &Vec<usize>| {
        let members = children.iter().filter_map(|at| nodes.get(*at));
        let short = members.filter_map(|node| match node.leaf {
            Leaf::Text(value) | Leaf::Number(value) if value.len() <= LONGEST => {
                Some((node.name.to_owned(), value.to_owned()))
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
fn told_apart(items: &[Vec<(String, String)>]) -> Vec<Vec<Thing>> {
    let value = |item: &[(String, String)], name: &str| {
        item.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    };
    let names = items.first().into_iter().flatten().map(|(name, _)| name.as_str());
    let differs = |name: &&str| {
        let mut values: Vec<String> = items.iter().filter_map(|item| value(item, name)).collect();
        let texts = values.iter().all(|value| value.contains(char::is_alphabetic));
        values.sort();
        values.dedup();
        texts && values.len() == items.len()
    };
    let things = |name: &str| {
        let thing = |item: &Vec<(String, String)>| {
            let others = item.iter().filter(|(own, _)| own != name);
            let values = others.flat_map(|(_, value)| held(value)).collect();
            Some(Thing { name: value(item, name)?, values })
        };
        items.iter().filter_map(thing).collect()
    };
    names.filter(differs).map(things).collect()
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
) -> Option<Swapped> {
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
        let next = named.get(nth + 1).map(|(_, _, next)| &next.values);
        let last = values(stretch).last().filter(|_| stretch.ends_with([' ']));
        values(stretch).find_map(|told| {
            let mut owners = things.iter().filter(|other| other.values.contains(&told));
            let owner = owners.next()?;
            let only = owners.next().is_none() && owner.name != thing.name;
            let telling =
                !elsewhere.contains(&told) && !things.iter().any(|t| is_in(&t.name, &told));
            let of_next =
                last.as_ref() == Some(&told) && next.is_some_and(|next| next.contains(&told));
            (only && telling && !of_next).then(|| Swapped {
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
