//! Values of one thing that are told of another: "Gym: 9,735 kWh", where the record has that for the
//! pool hall.

use std::collections::BTreeMap;

use counterfoil_model::Span;

use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Mood, Prose};
use crate::values::{Figure, Leaf, Leaves, Source};

/// So many bytes before an answer are taken apart, and so many things of one kind compared.
const REACH: usize = 64 * 1024;
const MOST_THINGS: usize = 40;
/// A shorter text is in an answer by chance.
const SHORTEST: usize = 3;
/// A longer one is no value.
const LONGEST: usize = 60;
/// A smaller number is in an answer by chance: in hundredths.
const SMALLEST: i64 = 1_000;

/// A value that belongs to another thing than the one of which it is told.
pub(crate) struct Swapped {
    /// Where it is told.
    pub(crate) span: Span,
    /// The thing, and what the record has of it.
    pub(crate) thing: String,
    pub(crate) held: String,
    /// What is told, and whose it is.
    pub(crate) told: String,
    pub(crate) owner: String,
}

/// A thing of the record: its short values by their names.
type Thing = Vec<(String, String)>;

/// The values of an answer that are told of the wrong thing.
pub(crate) fn swapped(facts: &Facts<'_>, answer: &Answer<'_>) -> Vec<Swapped> {
    let prose = &answer.prose;
    if facts.runs_shell_before(answer.turn) || facts.delegates_before(answer.turn) {
        return Vec::new();
    }
    let said: Vec<&str> = facts
        .given()
        .near(answer.turn, REACH)
        .filter(|given| !matches!(given.source, Source::Result(_)))
        .map(|given| given.text)
        .collect();
    let mut found = Vec::new();
    for things in kinds(facts, answer.turn) {
        let Some(name) = identity(&things, prose.text) else { continue };
        for span in units(prose) {
            let text = span.of(prose.text);
            found.extend(
                in_unit(&things, &name, text, &said).map(|other| Swapped { span, ..other }),
            );
        }
    }
    found
}

/// The things that the results have, those of one kind together: with members of the same names.
fn kinds(facts: &Facts<'_>, turn: usize) -> Vec<Vec<Thing>> {
    let mut kinds: BTreeMap<Vec<String>, Vec<Thing>> = BTreeMap::new();
    for document in facts.given().documents("", turn, REACH) {
        for at in 0..document.nodes().len() {
            let thing = thing_at(&document, at);
            let names: Vec<String> = thing.iter().map(|(name, _)| name.clone()).collect();
            if names.len() > 1 {
                kinds.entry(names).or_default().push(thing);
            }
        }
    }
    let several = |things: &Vec<Thing>| (2..=MOST_THINGS).contains(&things.len());
    kinds.into_values().map(distinct).filter(several).collect()
}

fn distinct(mut things: Vec<Thing>) -> Vec<Thing> {
    things.sort();
    things.dedup();
    things
}

/// The short values of an object, and of the objects in it.
fn thing_at(document: &Leaves<'_>, at: usize) -> Thing {
    let nodes = document.nodes();
    if nodes.get(at).is_none_or(|node| node.leaf != Leaf::Object) {
        return Vec::new();
    }
    let own = nodes.iter().enumerate().filter(|(place, node)| node.parent == at && *place != at);
    let short = own.filter_map(|(_, node)| match node.leaf {
        Leaf::Text(value) | Leaf::Number(value) if value.len() <= LONGEST => {
            Some((node.name.to_owned(), value.to_owned()))
        }
        _ => None,
    });
    short.collect()
}

/// The member by whose values an answer tells the things apart: each thing has its own, and the
/// answer names at least one.
fn identity(things: &[Thing], text: &str) -> Option<String> {
    let first = things.first()?;
    let names = first.iter().map(|(name, _)| name);
    names
        .into_iter()
        .find(|name| {
            let mut values: Vec<&str> =
                things.iter().filter_map(|thing| value(thing, name)).collect();
            let named = values.iter().filter(|value| is_told(text, value)).count();
            let texts = values.iter().all(|value| value.chars().any(char::is_alphabetic));
            values.sort_unstable();
            values.dedup();
            texts && values.len() == things.len() && named > 0
        })
        .cloned()
}

fn value<'t>(thing: &'t Thing, name: &str) -> Option<&'t str> {
    thing.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// The stretches of an answer that tell of one thing: rows of tables, and clauses.
fn units(prose: &Prose<'_>) -> Vec<Span> {
    let mut spans = Vec::new();
    let in_table = |sentence: usize| {
        let block = prose.sentences.get(sentence).and_then(|s| prose.block_of(s));
        block.is_some_and(|block| matches!(block.kind, BlockKind::Cell { .. }))
    };
    let plain = prose
        .clauses
        .iter()
        .filter(|clause| clause.mood == Mood::Asserted && !in_table(clause.sentence));
    spans.extend(plain.map(|clause| clause.span));
    let mut start = 0;
    for line in prose.text.split_inclusive('\n') {
        if line.trim_start().starts_with('|') {
            spans.push(Span { start, end: start + line.len() });
        }
        start += line.len();
    }
    spans
}

/// What is told of the one thing that a stretch names, and belongs to another one.
fn in_unit(things: &[Thing], name: &str, text: &str, said: &[&str]) -> Option<Swapped> {
    let mut named =
        things.iter().filter(|thing| value(thing, name).is_some_and(|v| is_told(text, v)));
    let thing = named.next().filter(|_| named.next().is_none())?;
    let others = things.iter().filter(|other| *other != thing);
    others.into_iter().find_map(|other| {
        let wrong = |(member, told): &&(String, String)| {
            let Some(held) = value(thing, member) else { return false };
            member != name
                && tells(told)
                && is_told(text, told)
                && !is_told(text, held)
                && !thing.iter().any(|(_, own)| is_same(own, told))
                && !said.iter().any(|said| is_told(said, told))
                // Things that lead to each other: the legs of a way.
                && value(other, name).is_some_and(|owner| !is_same(owner, held))
        };
        let (member, told) = other.iter().find(wrong)?;
        Some(Swapped {
            span: Span { start: 0, end: 0 },
            thing: value(thing, name)?.to_owned(),
            held: value(thing, member)?.to_owned(),
            told: told.clone(),
            owner: value(other, name)?.to_owned(),
        })
    })
}

/// Whether a value tells anything: no short text, no small number, no state that many things have.
fn tells(value: &str) -> bool {
    match Figure::parse(value) {
        Some(figure) => figure.0.abs() >= SMALLEST,
        None => value.len() >= SHORTEST && value.chars().any(char::is_uppercase),
    }
}

fn is_same(one: &str, other: &str) -> bool {
    match (Figure::parse(one), Figure::parse(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.eq_ignore_ascii_case(other),
    }
}

/// Whether a text tells a value: the number however it is written, the words one behind the other.
fn is_told(text: &str, value: &str) -> bool {
    if let Some(figure) = Figure::parse(value) {
        return numbers(text).any(|other| other == figure);
    }
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
    let (lower, wanted) = (plain(text), plain(value));
    value.len() >= SHORTEST
        && lower.match_indices(&*wanted).any(|(at, _)| {
            let before = lower.get(..at).and_then(|before| before.chars().next_back());
            let behind = lower.get(at + wanted.len()..).and_then(|rest| rest.chars().next());
            edge(before) && edge(behind)
        })
}

/// The numbers of a text that are no part of a word, a day or a time.
fn numbers(text: &str) -> impl Iterator<Item = Figure> {
    let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let joins = |c: char| c.is_alphanumeric() || matches!(c, ':' | '/' | '-' | '_' | '–');
    let runs = text.split(move |c: char| !(part(c) || joins(c)));
    runs.filter(move |run| run.chars().all(part))
        .filter_map(|run| Figure::parse(run.trim_matches(['.', ','])))
}
