//! The things that a session tells of, of which one may be taken for another, each with its values.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::{held, in_plain, marks, values};
use crate::facts::Facts;
use crate::grounding::number::number;
use crate::values::{Leaf, Leaves, Recent, Source};

/// So many bytes before an answer are read, and so many things of one kind compared.
const REACH: usize = 32 * 1024;
const MOST_THINGS: usize = 24;
/// A longer text is no value.
const LONGEST: usize = 60;

/// What a session tells of things, of which one may be taken for another.
#[derive(Debug)]
pub(crate) struct Things<'t> {
    pub(super) kinds: Vec<Kind<'t>>,
    /// The values that somebody said.
    told: OnceCell<FxHashSet<String>>,
}

impl<'t> Things<'t> {
    pub(super) fn of(facts: &Facts<'t>, turn: usize) -> Self {
        Self { kinds: kinds(facts, turn), told: OnceCell::new() }
    }

    /// Whether somebody said the value.
    pub(super) fn is_told(&self, facts: &Facts<'_>, turn: usize, value: &str) -> bool {
        self.told.get_or_init(|| told(facts, turn)).contains(value)
    }
}

/// Things of one kind: those that one tool looked up, objects with members of the same names, and the
/// lines of a text.
#[derive(Debug)]
pub(super) struct Kind<'t>(pub(super) Rc<[Thing<'t>]>);

impl Kind<'_> {
    /// The legs of a way lead to each other.
    pub(super) fn is_way(&self) -> bool {
        let to = |one: &Thing<'_>, two: &Thing<'_>| {
            one.name != two.name && held(two.name).any(|word| one.has(&word))
        };
        self.0.iter().any(|one| self.0.iter().any(|two| to(one, two)))
    }
}

/// What is known of one thing.
#[derive(Debug)]
pub(super) struct Thing<'t> {
    called: Rc<Name<'t>>,
    /// Every text that tells of it.
    texts: Vec<Rc<Texts<'t>>>,
}

/// What a thing is called.
#[derive(Debug)]
pub(super) struct Name<'t> {
    pub(super) name: &'t str,
    /// The same in small letters, with spaces for dashes.
    pub(super) plain: String,
    /// The marks of its words.
    pub(super) words: Vec<u64>,
}

impl<'t> Name<'t> {
    fn of(name: &'t str) -> Rc<Self> {
        let plain = in_plain(name);
        Rc::new(Self { name, words: marks(&plain).collect(), plain })
    }
}

impl<'t> Deref for Thing<'t> {
    type Target = Name<'t>;

    fn deref(&self) -> &Name<'t> {
        &self.called
    }
}

impl Thing<'_> {
    /// Whether a text that tells of it has the value.
    pub(super) fn has(&self, value: &str) -> bool {
        self.texts.iter().any(|texts| texts.values().contains(value))
    }
}

/// Texts and their values, which are read when the first name of a thing stands in an answer.
#[derive(Debug)]
struct Texts<'t> {
    texts: Vec<&'t str>,
    values: OnceCell<FxHashSet<String>>,
}

impl<'t> Texts<'t> {
    fn of(texts: Vec<&'t str>) -> Rc<Self> {
        Rc::new(Self { texts, values: OnceCell::new() })
    }

    fn values(&self) -> &FxHashSet<String> {
        self.values.get_or_init(|| self.texts.iter().flat_map(|text| held(text)).collect())
    }
}

/// What was read of the latest calls, for the answers behind each of them.
#[derive(Debug, Default)]
pub(crate) struct ReadCalls<'t> {
    /// Arguments and result.
    texts: Recent<Texts<'t>>,
    /// The short arguments by their names.
    arguments: Recent<[(&'t str, Rc<Name<'t>>)]>,
    /// The objects of a result.
    objects: Recent<[Object<'t>]>,
    /// The things that begin the lines of a result that is no JSON.
    lines: Recent<[Thing<'t>]>,
}

impl ReadCalls<'_> {
    fn forget_before(&self, oldest: usize) {
        self.texts.forget_before(oldest);
        self.arguments.forget_before(oldest);
        self.objects.forget_before(oldest);
        self.lines.forget_before(oldest);
    }
}

/// The short members of an object.
#[derive(Debug)]
struct Object<'t> {
    names: Rc<[&'t str]>,
    values: Vec<&'t str>,
}

impl<'t> Object<'t> {
    fn members(&self) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.names.iter().copied().zip(self.values.iter().copied())
    }

    fn value(&self, name: &str) -> Option<&'t str> {
        self.members().find(|(own, _)| *own == name).map(|(_, value)| value)
    }
}

/// The values that somebody said.
fn told(facts: &Facts<'_>, turn: usize) -> FxHashSet<String> {
    let told = facts.given().near(turn, REACH).filter(|given| given.source == Source::Told);
    told.flat_map(|given| values(given.text)).collect()
}

/// All kinds of things of which the latest calls tell.
fn kinds<'t>(facts: &Facts<'t>, turn: usize) -> Vec<Kind<'t>> {
    let count = facts.record().count_before(turn);
    let oldest = count.saturating_sub(MOST_THINGS * 2);
    facts.read_calls().forget_before(oldest);
    let well = |at: &usize| facts.deed(*at).is_some_and(|(_, deed)| deed.status().succeeded());
    let calls: Vec<usize> = (oldest..count).rev().filter(well).collect();
    let mut kinds: Vec<Rc<[Thing<'t>]>> = Vec::new();
    let mut objects: Vec<Rc<[Object<'t>]>> = Vec::new();
    for at in &calls {
        match facts.leaves(*at) {
            Some(leaves) => {
                objects.push(facts.read_calls().objects.get(*at, || objects_in(&leaves).into()));
            }
            None => {
                kinds.push(facts.read_calls().lines.get(*at, || lines(text(facts, *at)).into()))
            }
        }
    }
    let mut shapes: BTreeMap<&[&str], Vec<&Object<'t>>> = BTreeMap::new();
    for object in objects.iter().flat_map(|objects| objects.iter()) {
        shapes.entry(&object.names).or_default().push(object);
    }
    for mut items in shapes.into_values() {
        items.sort_unstable_by_key(|item| &item.values);
        items.dedup_by_key(|item| &item.values);
        if (2..=MOST_THINGS).contains(&items.len()) {
            kinds.extend(told_apart(&items));
        }
    }
    kinds.extend(looked_up(facts, &calls));
    kinds.retain(|things| (2..=MOST_THINGS).contains(&things.len()));
    kinds.into_iter().map(Kind).collect()
}

/// The result of a call.
fn text<'t>(facts: &Facts<'t>, at: usize) -> &'t str {
    facts.record().executions().get(at).map_or("", |execution| execution.text())
}

/// The values of an argument by what they are, each with the calls that had it.
type Looked<'t> = BTreeMap<&'t str, (Rc<Name<'t>>, Vec<usize>)>;

/// The things for which one tool was called, by each of its arguments.
fn looked_up<'t>(facts: &Facts<'t>, calls: &[usize]) -> Vec<Rc<[Thing<'t>]>> {
    let mut looked: BTreeMap<(&str, &str), Looked<'t>> = BTreeMap::new();
    let read = facts.read_calls();
    for at in calls {
        let Some((execution, _)) = facts.deed(*at) else { continue };
        for (name, value) in &*read.arguments.get(*at, || arguments(args(facts, *at)).into()) {
            let things = looked.entry((execution.tool(), name)).or_default();
            let (_, told) =
                things.entry(value.name).or_insert_with(|| (Rc::clone(value), Vec::new()));
            if told.last() != Some(at) {
                told.push(*at);
            }
        }
    }
    let texts =
        |at: &usize| read.texts.get(*at, || Texts::of(vec![args(facts, *at), text(facts, *at)]));
    let some = |things: &Looked<'t>| (2..=MOST_THINGS).contains(&things.len());
    let kind = |things: Looked<'t>| {
        let things = things.into_values();
        things.map(|(called, at)| Thing { called, texts: at.iter().map(texts).collect() }).collect()
    };
    looked.into_values().filter(some).map(kind).collect()
}

/// The arguments of a call.
fn args<'t>(facts: &Facts<'t>, at: usize) -> &'t str {
    facts.record().executions().get(at).map_or("", |execution| execution.arguments())
}

/// The short values among arguments, each with its name.
fn arguments(args: &str) -> Vec<(&str, Rc<Name<'_>>)> {
    let leaves = Leaves::of(args);
    let nodes = leaves.iter().flat_map(Leaves::nodes);
    let short = nodes.filter_map(|node| match node.leaf {
        Leaf::Text(value) | Leaf::Number(value) => Some((node.name, value)),
        _ => None,
    });
    let short = short.filter(|(_, value)| (1..=LONGEST).contains(&value.len()));
    short.map(|(name, value)| (name, Name::of(value))).collect()
}

/// The objects of a result, each with its short members.
fn objects_in<'t>(leaves: &Leaves<'t>) -> Vec<Object<'t>> {
    let nodes = leaves.nodes();
    let own = |children: &Vec<usize>| {
        let members = children.iter().filter_map(|at| nodes.get(*at));
        let short = members.filter_map(|node| match node.leaf {
            Leaf::Text(value) | Leaf::Number(value) if value.len() <= LONGEST => {
                Some((node.name, value))
            }
            _ => None,
        });
        let (names, values): (Vec<_>, Vec<_>) = short.unzip();
        Object { names: names.into(), values }
    };
    let children = leaves.by_parent();
    let objects = nodes.iter().zip(&children).filter(|(node, _)| node.leaf == Leaf::Object);
    objects.map(|(_, children)| own(children)).filter(|own| own.values.len() > 1).collect()
}

/// Objects with members of the same names, told apart by each member in which they all differ.
fn told_apart<'t>(items: &[&Object<'t>]) -> Vec<Rc<[Thing<'t>]>> {
    let names = items.first().into_iter().flat_map(|item| item.names.iter().copied());
    let differs = |name: &&str| {
        let mut values: Vec<&str> = items.iter().filter_map(|item| item.value(name)).collect();
        let texts = values.iter().all(|value| value.contains(char::is_alphabetic));
        values.sort_unstable();
        values.dedup();
        texts && values.len() == items.len()
    };
    let things = |name: &str| {
        let thing = |item: &&Object<'t>| {
            let others = item.members().filter(|(own, _)| *own != name);
            let others = others.map(|(_, value)| value).collect();
            Some(Thing { called: Name::of(item.value(name)?), texts: vec![Texts::of(others)] })
        };
        items.iter().filter_map(thing).collect()
    };
    names.filter(differs).map(things).collect()
}

/// The things that begin the lines of a text, each before figures; more than can be compared are not
/// read.
fn lines(text: &str) -> Vec<Thing<'_>> {
    let gap = |c: char| c.is_whitespace() || c == '|';
    let mut things: Vec<Thing<'_>> = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches(gap);
        let (name, rest) = line.split_once(gap).unwrap_or((line, ""));
        let name = name.trim_end_matches(':');
        let named = name.len() > 2 && name.starts_with(|c: char| c.is_alphabetic());
        if !named || things.iter().any(|thing| thing.name == name) {
            continue;
        }
        let mut words = rest.split(gap).filter(|word| !word.is_empty());
        if words.all(|word| number(word).is_some()) && held(rest).next().is_some() {
            things.push(Thing { called: Name::of(name), texts: vec![Texts::of(vec![rest])] });
        }
        if things.len() > MOST_THINGS {
            break;
        }
    }
    things
}
