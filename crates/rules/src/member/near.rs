//! What the results near an answer hold, taken apart once for all its values.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use counterfoil_model::Role;
use rustc_hash::FxHashMap;

use super::flag::Flags;
use super::quantity::{Quantity, Unit};
use crate::facts::{Answer, Facts, words_of};
use crate::values::{Leaf, Source, When, each_moment};

/// So many bytes of results before an answer are looked through for members.
const REACH: usize = 32 * 1024;
/// A name with more words, or a longer text, names nothing.
const LONGEST_NAME: usize = 60;
/// A longer text is no date or time.
const LONGEST_MOMENT: usize = 40;

/// The results before an answer.
#[derive(Debug)]
pub(super) struct Near<'f, 't> {
    facts: &'f Facts<'t>,
    turn: usize,
    read: Rc<Sheaf<'t>>,
}

/// The results near a message, as far as anybody asked.
#[derive(Debug)]
pub(crate) struct Sheaf<'t> {
    /// Behind each other, to be searched in one sweep.
    text: String,
    /// By a word that somebody looked for: whether it holds it.
    words: RefCell<FxHashMap<String, bool>>,
    moments: OnceCell<Vec<When>>,
    members: OnceCell<Members<'t>>,
    flags: OnceCell<Flags<'t>>,
}

impl Sheaf<'_> {
    fn of(facts: &Facts<'_>, turn: usize) -> Self {
        let near = facts.given().near(turn, REACH);
        let mut text = String::new();
        for result in near.filter(|text| matches!(text.source, Source::Result(_))) {
            text.push_str(result.text);
            // No word goes over the end of a result.
            text.push('\0');
        }
        Self {
            text,
            words: RefCell::default(),
            moments: OnceCell::new(),
            members: OnceCell::new(),
            flags: OnceCell::new(),
        }
    }
}

impl<'f, 't> Near<'f, 't> {
    pub(super) fn of(facts: &'f Facts<'t>, answer: &Answer<'t>) -> Self {
        let turn = answer.turn;
        Self { facts, turn, read: facts.sheaf().get(turn, || Sheaf::of(facts, turn)) }
    }

    /// Whether a result holds a text.
    pub(super) fn holds(&self, text: &str) -> bool {
        if let Some(known) = self.read.words.borrow().get(text) {
            return *known;
        }
        let found = memchr::memmem::find(self.read.text.as_bytes(), text.as_bytes()).is_some();
        self.read.words.borrow_mut().insert(text.to_owned(), found);
        found
    }

    /// Their members that are `true` or `false`.
    pub(super) fn flags(&self) -> &Flags<'t> {
        self.read.flags.get_or_init(|| Flags::of(self.facts, self.turn, REACH))
    }

    /// Their members.
    pub(super) fn members(&self) -> &Members<'t> {
        self.read.members.get_or_init(|| Members::of(self.facts, self.turn))
    }

    /// Whether anything that the agent was given has the day or time.
    pub(super) fn gives_moment(&self, when: When) -> bool {
        self.moments().iter().any(|given| given.agrees(when))
    }

    /// The results alone, newest first.
    pub(super) fn results(&self) -> impl Iterator<Item = &'t str> {
        let near = self.facts.given().near(self.turn, 2 * REACH);
        near.filter(|text| matches!(text.source, Source::Result(_))).map(|given| given.text)
    }

    /// What the user said, newest first.
    pub(super) fn told(&self) -> impl Iterator<Item = &'t str> {
        let messages = self.facts.transcript().messages.get(..self.turn).unwrap_or_default();
        messages.iter().rev().filter(|m| m.role == Role::User).map(|m| m.text.as_str())
    }

    /// What the agent was given, newest first.
    pub(super) fn given(&self) -> impl Iterator<Item = &'t str> {
        self.facts.given().near(self.turn, 2 * REACH).map(|given| given.text)
    }

    /// The days and times in it, each once.
    pub(super) fn moments(&self) -> &[When] {
        self.read.moments.get_or_init(|| {
            let mut moments = Vec::new();
            for given in self.given() {
                each_moment(given, |moment| {
                    if !moments.contains(&moment.when) {
                        moments.push(moment.when);
                    }
                });
            }
            moments
        })
    }
}

/// The members of the JSON results near an answer, by name.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    /// How many results are JSON.
    results: usize,
    members: Vec<Member<'t>>,
    /// By result: the kind of thing that it is about, `order` for `order_id`, and what the name of
    /// the tool says.
    kinds: Vec<Vec<String>>,
    /// Values in each result.
    sizes: Vec<usize>,
    /// By the first word of a text value, in lower case.
    names: HashMap<String, Vec<Name<'t>>>,
}

/// The members of one name.
#[derive(Debug)]
pub(super) struct Member<'t> {
    /// As written.
    pub(super) name: &'t str,
    /// Its words, in lower case.
    pub(super) words: Vec<String>,
    /// In the order of the results, newest first.
    pub(super) cells: Vec<Cell<'t>>,
    /// What numbers are given in that do not say it.
    unit: Option<Unit>,
    numbers: OnceCell<Vec<Option<Quantity>>>,
    long_numbers: OnceCell<Vec<(usize, Quantity)>>,
    moments: OnceCell<Vec<(usize, When)>>,
}

/// One value of a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'t> {
    /// The result that holds it.
    pub(super) result: usize,
    /// The place of the member among those of its result.
    pub(super) place: usize,
    /// The object that it belongs to.
    pub(super) object: usize,
    /// The value.
    pub(super) leaf: Leaf<'t>,
}

/// A text value that may name a thing.
#[derive(Debug)]
pub(super) struct Name<'t> {
    /// The text.
    pub(super) value: &'t str,
    /// The member that has it.
    pub(super) member: usize,
    /// The results that hold it, ascending.
    results: Vec<usize>,
}

impl<'t> Members<'t> {
    fn of(facts: &Facts<'t>, turn: usize) -> Self {
        let mut all = Self::default();
        let mut places: HashMap<&'t str, usize> = HashMap::new();
        for (result, sheet) in facts.given().sheets(turn, REACH).iter().enumerate() {
            all.results += 1;
            let columns = sheet.columns();
            let mut kind = columns.iter().find_map(|c| kind(&c.words)).unwrap_or_default();
            kind.extend(facts.deed(sheet.execution).into_iter().flat_map(|(_, d)| nouns(&d.tool)));
            all.kinds.push(kind);
            all.sizes.push(columns.iter().map(|column| column.cells.len()).sum());
            for (place, column) in columns.iter().enumerate() {
                let at = *places.entry(column.name).or_insert(all.members.len());
                if at == all.members.len() {
                    all.members.push(Member::new(column.name, column.words.clone()));
                }
                let Some(member) = all.members.get_mut(at) else { continue };
                for &(object, leaf) in &column.cells {
                    member.cells.push(Cell { result, place, object, leaf });
                    if let Leaf::Text(value) = leaf
                        && let Some(first) = first_word(value)
                    {
                        let names = all.names.entry(first).or_default();
                        Name::note(names, value, at, result);
                    }
                }
            }
        }
        all
    }

    /// All of them, in the order in which they are met.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Member<'t>> {
        self.members.iter()
    }

    /// Whether a result holds more values than so many.
    pub(super) fn has_more_than(&self, values: usize) -> bool {
        self.sizes.iter().any(|size| *size > values)
    }

    /// The kind of thing that a result is about.
    pub(super) fn kind(&self, result: usize) -> &[String] {
        self.kinds.get(result).map(Vec::as_slice).unwrap_or_default()
    }

    /// The texts that begin with this word, given in lower case, each with its member.
    pub(super) fn beginning_with(
        &self,
        word: &str,
    ) -> impl Iterator<Item = (&'t str, &Member<'t>)> {
        let names = self.names.get(word).map(Vec::as_slice).unwrap_or_default();
        names.iter().filter_map(|name| Some((name.value, self.members.get(name.member)?)))
    }

    /// The results in which a text value is this one word, given in lower case, but for a `#`
    /// before it.
    pub(super) fn naming(&self, word: &str) -> impl Iterator<Item = usize> {
        let names = self.names.get(word).map(Vec::as_slice).unwrap_or_default();
        let names = names.iter().filter(move |name| {
            let value = name.value.trim_start_matches('#');
            // The key is its first word.
            value.len() == word.len() && value.eq_ignore_ascii_case(word)
        });
        names.flat_map(|name| name.results.iter().copied())
    }
}

impl<'t> Member<'t> {
    fn new(name: &'t str, words: Vec<String>) -> Self {
        let unit = words.last().and_then(|word| Unit::of(word));
        let (numbers, moments) = (OnceCell::new(), OnceCell::new());
        let long_numbers = OnceCell::new();
        Self { name, words, cells: Vec::new(), unit, numbers, long_numbers, moments }
    }

    /// The numbers of which two digits may have been swapped, each with its cell.
    pub(super) fn long_numbers(&self) -> &[(usize, Quantity)] {
        self.long_numbers.get_or_init(|| {
            let held = self.numbers().iter().enumerate();
            let held = held.filter_map(|(at, number)| Some((at, (*number)?)));
            held.filter(|(_, number)| number.may_be_swapped()).collect()
        })
    }

    /// The number that each cell holds.
    pub(super) fn numbers(&self) -> &[Option<Quantity>] {
        let number = |cell: &Cell<'_>| {
            let (Leaf::Number(text) | Leaf::Text(text)) = cell.leaf else { return None };
            let number = Quantity::parse(text)?;
            Some(Quantity { unit: number.unit.or(self.unit), ..number })
        };
        self.numbers.get_or_init(|| self.cells.iter().map(number).collect())
    }

    /// The days and times in the cells, each with its cell.
    pub(super) fn moments(&self) -> &[(usize, When)] {
        self.moments.get_or_init(|| {
            let mut moments = Vec::new();
            for (at, cell) in self.cells.iter().enumerate() {
                if let Leaf::Text(text) = cell.leaf
                    && text.len() <= LONGEST_MOMENT
                {
                    each_moment(text, |moment| moments.push((at, moment.when)));
                }
            }
            moments
        })
    }

    /// The days and times in one cell.
    pub(super) fn moments_in(&self, cell: usize) -> impl Iterator<Item = When> {
        let from = self.moments().partition_point(|(at, _)| *at < cell);
        let behind = self.moments().get(from..).unwrap_or_default().iter();
        behind.take_while(move |(at, _)| *at == cell).map(|(_, when)| *when)
    }
}

impl<'t> Name<'t> {
    /// Notes that a result holds a value.
    fn note(names: &mut Vec<Self>, value: &'t str, member: usize, result: usize) {
        match names.iter_mut().find(|name| name.member == member && name.value == value) {
            Some(name) if name.results.last() == Some(&result) => {}
            Some(name) => name.results.push(result),
            None => names.push(Self { value, member, results: vec![result] }),
        }
    }
}

/// The words before `id` in the name of a member that holds one.
fn kind(words: &[String]) -> Option<Vec<String>> {
    let (last, kind) = words.split_last()?;
    let numbers = matches!(last.as_str(), "id" | "number" | "no" | "code" | "ref");
    (numbers && !kind.is_empty()).then(|| kind.to_vec())
}

/// What a tool is about by its name: `parcel` for `track_parcel`.
fn nouns(tool: &str) -> impl Iterator<Item = String> {
    const VAGUE: [&str; 10] =
        ["details", "info", "status", "state", "data", "list", "all", "by", "id", "for"];
    words_of(tool).into_iter().skip(1).filter(|word| !VAGUE.contains(&word.as_str()))
}

/// The first word of a text that can name a thing, in lower case.
fn first_word(text: &str) -> Option<String> {
    if text.len() > LONGEST_NAME || text.contains('\\') {
        return None;
    }
    let word = text.trim_start_matches('#').split_whitespace().next()?;
    (word.len() > 1).then(|| word.to_ascii_lowercase())
}
