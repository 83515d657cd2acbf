//! The numbers of a session, and what follows from them.

use std::collections::BTreeMap;

use super::number::{Told, number};
use super::sums::{is_subset_sum, products, shares, sums};
use crate::facts::Facts;
use crate::prose::sets;
use crate::values::{Leaf, Node, Source, whole};

/// So many bytes before an answer are read.
const REACH: usize = 32 * 1024;
/// And so many calls.
const MOST_CALLS: usize = 64;
/// With more numbers, everything follows from something.
pub(super) const MOST: usize = 160;
/// So few numbers may all have been compared.
const FEW: usize = 40;

/// What may explain a number.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The numbers of the texts.
    pub(super) numbers: Vec<f64>,
    /// Those of the members of one name.
    columns: BTreeMap<String, Vec<f64>>,
    /// Those of one object.
    objects: Vec<Vec<f64>>,
    /// Those of one line of a text.
    lines: Vec<Vec<f64>>,
    /// Those of one result.
    documents: Vec<Vec<f64>>,
    /// How long its lists are.
    lists: Vec<f64>,
    /// So many of anything there are at most.
    most: f64,
    /// All the digits of the texts, for numbers that are told by their end.
    digits: String,
}

impl Numbers {
    pub(super) fn of(facts: &Facts<'_>, turn: usize) -> Self {
        let mut known = Self::default();
        known.count(facts.record().count_before(turn));
        for given in facts.given().near(turn, REACH) {
            known.read(given.text);
            if let Source::Result(at) = given.source {
                known.read_document(given.text);
                match facts.leaves(at) {
                    Some(leaves) => known.read_nodes(leaves.nodes()),
                    None => known.read_lines(given.text),
                }
            }
        }
        // What was called and did not come out well was given, too.
        for (execution, _) in facts.deeds_before(turn).take(MOST_CALLS) {
            known.read(execution.call.map_or("", |call| call.arguments.as_str()));
        }
        known.numbers.sort_by(f64::total_cmp);
        known.numbers.dedup();
        known
    }

    fn count(&mut self, count: usize) {
        self.most = self.most.max(count as f64);
    }

    fn read(&mut self, text: &str) {
        // `C-14` and `88-1204` are names.
        let edge = |c: char| c.is_whitespace() || "\"'{}[]():;=|<>~+/".contains(c);
        let words = text.split(edge).flat_map(|word| word.split("->"));
        self.numbers.extend(words.filter_map(number).map(|(value, _)| value));
        for word in text.split(|c: char| !c.is_alphabetic()) {
            self.numbers.extend(whole(word).map(|n| n as f64));
        }
        self.digits.extend(text.chars().map(|c| if c.is_ascii_digit() { c } else { ' ' }));
        self.digits.push(' ');
        self.read_days(text);
    }

    fn read_lines(&mut self, text: &str) {
        let rows = text.rsplit_once('(').and_then(|(_, end)| end.split_once(" row"));
        match rows.and_then(|(rows, _)| rows.parse().ok()) {
            // "(5 rows)"
            Some(rows) => self.count(rows),
            None => self.count(text.lines().filter(|line| !line.trim().is_empty()).count()),
        }
        for line in text.lines().take(MOST) {
            let words = line.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
            let numbers: Vec<f64> = words.filter_map(number).map(|(value, _)| value).collect();
            if numbers.len() > 1 {
                self.lines.push(numbers);
            }
        }
    }

    fn read_document(&mut self, text: &str) {
        let edge = |c: char| c.is_whitespace() || "\"'{}[]():;=|<>~+/".contains(c);
        let mut numbers: Vec<f64> =
            text.split(edge).filter_map(number).map(|(value, _)| value).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        if numbers.len() <= MOST {
            self.documents.push(numbers);
        }
    }

    /// The days of the months that a text names: "24 June", of `2026-06-24`.
    fn read_days(&mut self, text: &str) {
        let words = text.split(|c: char| !(c.is_ascii_digit() || c == '-'));
        let dates = words.filter(|word| word.len() == 10 && word.matches('-').count() == 2);
        let days = dates.filter_map(|date| date.rsplit('-').next());
        self.numbers.extend(days.filter_map(|day| day.parse::<f64>().ok()));
    }

    fn read_nodes(&mut self, nodes: &[Node<'_>]) {
        let mut objects: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut within: BTreeMap<usize, usize> = BTreeMap::new();
        for node in nodes {
            match node.leaf {
                Leaf::List(count) => {
                    self.count(count);
                    self.lists.push((count as f64).min(MOST as f64));
                }
                Leaf::Object => *within.entry(node.parent).or_default() += 1,
                Leaf::Number(text) | Leaf::Text(text) => {
                    let Some((value, _)) = number(text) else { continue };
                    let parent = nodes.get(node.parent).map_or("", |parent| parent.name);
                    let name = if node.name.is_empty() { parent } else { node.name };
                    let column = self.columns.entry(name.to_owned()).or_default();
                    if column.len() < MOST {
                        column.push(value);
                    }
                    objects.entry(node.parent).or_default().push(value);
                }
                _ => {}
            }
        }
        self.count(within.into_values().max().unwrap_or(0));
        self.objects.extend(objects.into_values().filter(|object| object.len() > 1));
    }

    /// Whether the session has the number, in whatever unit, or so many of something.
    pub(super) fn has(&self, told: &Told<'_>) -> bool {
        let counted = told.decimals == 0 && !told.percent && told.value <= self.most;
        counted || self.numbers.iter().any(|known| self.is_same(told, *known)) || self.ends(told)
    }

    /// "ending in 341".
    fn ends(&self, told: &Told<'_>) -> bool {
        let digits: String = told.text.chars().filter(char::is_ascii_digit).collect();
        digits.len() > 2 && self.digits.contains(&format!("{digits} "))
    }

    fn is_same(&self, told: &Told<'_>, known: f64) -> bool {
        const MINUTES: [f64; 2] = [60.0, 3600.0];
        const THOUSANDS: [f64; 5] = [1e2, 1e3, 1e6, 1e9, 1e12];
        const BINARY: [f64; 4] = [1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0];
        const MEASURES: [f64; 6] = [1.609_344, 2.204_62, 2.54, 0.3048, 3.785_41, 0.4536];
        let scaled = |factor: f64| told.is(known * factor) || told.is(known / factor);
        if told.is(known) {
            return true;
        }
        // So many things are so many in every unit.
        if told.is_plural() {
            return false;
        }
        let measured = sets::UNITS.list.contains(&told.unit.as_str());
        let mut units = MINUTES.iter().chain(&THOUSANDS).chain(&BINARY);
        units.any(|unit| scaled(*unit))
            || measured && MEASURES.iter().any(|unit| scaled(*unit))
            || told.percent && told.is(100.0 - known)
            || measured && (told.is(known * 1.8 + 32.0) || told.is((known - 32.0) / 1.8))
    }

    /// Whether a number follows from one that is explained.
    pub(super) fn gives(&self, told: &Told<'_>, explained: &[f64]) -> bool {
        let is = |value: f64| told.is(value);
        among(explained, explained, products, &is)
            || among(explained, &self.numbers, sums, &is)
            || told.percent && among(explained, &self.numbers, shares, &is)
    }

    /// Whether a number follows from the session alone: from numbers of one row, one result, or from
    /// any two where there are few.
    pub(super) fn gives_alone(&self, told: &Told<'_>) -> bool {
        let is = |value: f64| told.is(value);
        let share = |of: &f64| (1..=(*of as u32)).any(|some| is(100.0 * f64::from(some) / of));
        if told.percent && self.lists.iter().any(share) {
            return true;
        }
        // Where there are few, any two of them may have been compared.
        if self.numbers.len() <= FEW && among(&self.numbers, &self.numbers, sums, &is) {
            return true;
        }
        let scaled = |value: f64| is(value) || is(value * 1e3) || is(value / 1e3);
        let rows = self.objects.iter().chain(self.columns.values()).chain(&self.lines);
        let in_one = |doc: &Vec<f64>| {
            among(doc, doc, sums, &is) || told.percent && among(doc, doc, shares, &is)
        };
        if self.documents.iter().any(in_one) {
            return true;
        }
        rows.into_iter().any(|row| {
            let total: f64 = row.iter().sum();
            is(total / row.len().max(1) as f64)
                || among(row, row, sums, &is)
                || told.percent
                    && (among(row, row, shares, &is) || among(row, &[total], shares, &is))
                || is_subset_sum(row, &scaled)
        })
    }
}

type Give = fn(f64, f64, &dyn Fn(f64) -> bool) -> bool;

/// Whether one number of each give one.
fn among(one: &[f64], two: &[f64], give: Give, is: &dyn Fn(f64) -> bool) -> bool {
    one.iter().any(|one| two.iter().any(|two| give(*one, *two, is)))
}
