//! The numbers of a session, and what follows from them.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::number::{Told, is_mark, number};
use super::sums::{self, has_product, has_share, has_sum, has_within, shares, sort, subset_sums};
use crate::facts::Facts;
use crate::prose::sets;
use crate::values::{Leaf, Node, Source, whole};

/// So many bytes before an answer are read.
const REACH: usize = 32 * 1024;
/// And so many calls.
const MOST_CALLS: usize = 64;
/// With more numbers, everything follows from something.
pub(super) const MOST: usize = 160;
/// Fewer digits tell no number by its end.
const FEWEST_DIGITS: usize = 3;
/// So many sums may stand in no order.
const MOST_UNSORTED: usize = 64 * 1024;
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
    totals: OnceCell<Totals>,
}

/// What the rows of a session come to, in order.
#[derive(Debug, Default)]
struct Totals {
    /// The means of rows, and what two numbers of a short row give.
    plain: Vec<f64>,
    /// What some of a row sum up to: that may be told in thousands.
    sums: Vec<f64>,
    /// The rows that are long.
    long: Vec<Vec<f64>>,
}

impl Numbers {
    pub(super) fn of(facts: &Facts<'_>, turn: usize) -> Self {
        let mut known = Self::default();
        known.count(facts.record().count_before(turn));
        for given in facts.given().near(turn, REACH) {
            let numbers = known.read(given.text);
            if let Source::Result(at) = given.source {
                known.add_document(numbers);
                match facts.leaves(at) {
                    Some(leaves) => known.read_nodes(leaves.nodes()),
                    None => known.read_lines(given.text),
                }
            }
            sort(&mut known.numbers);
            // Whatever else there is, nothing can be told of so many.
            if known.numbers.len() > MOST {
                return known;
            }
        }
        // What was called and did not come out well was given, too.
        for (execution, _) in facts.deeds_before(turn).take(MOST_CALLS) {
            known.read(execution.arguments());
        }
        sort(&mut known.numbers);
        known
    }

    fn count(&mut self, count: usize) {
        self.most = self.most.max(count as f64);
    }

    /// Reads a text; the numbers that stand in it as such.
    fn read(&mut self, text: &str) -> Vec<f64> {
        let mut numbers = Vec::new();
        // `C-14` and `88-1204` are names.
        for word in text.split(|c: char| is_mark(c) || c == '+' || c.is_whitespace()) {
            if word.bytes().any(|b| b.is_ascii_digit()) {
                numbers.extend(number(word).map(|(value, _)| value));
                self.read_digits(word);
            }
            for word in word.split(|c: char| !c.is_alphabetic()) {
                self.numbers.extend(whole(word).map(|n| n as f64));
            }
        }
        self.numbers.extend(&numbers);
        numbers
    }

    /// The digits of a word; and the days of the months that it names: "24 June", of `2026-06-24`.
    fn read_digits(&mut self, word: &str) {
        for digits in word.split(|c: char| !c.is_ascii_digit()) {
            if digits.len() >= FEWEST_DIGITS {
                self.digits.push_str(digits);
                self.digits.push(' ');
            }
        }
        let dates = word.split(|c: char| !(c.is_ascii_digit() || c == '-'));
        let dates = dates.filter(|date| date.len() == 10 && date.matches('-').count() == 2);
        let days = dates.filter_map(|date| date.rsplit('-').next());
        self.numbers.extend(days.filter_map(|day| day.parse::<f64>().ok()));
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

    fn add_document(&mut self, mut numbers: Vec<f64>) {
        sort(&mut numbers);
        if numbers.len() <= MOST {
            self.documents.push(numbers);
        }
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
        counted || self.has_same(told) || self.ends(told)
    }

    /// "ending in 341".
    fn ends(&self, told: &Told<'_>) -> bool {
        let digits: String = told.text.chars().filter(char::is_ascii_digit).collect();
        digits.len() >= FEWEST_DIGITS && self.digits.contains(&format!("{digits} "))
    }

    /// Whether a number of the session is that one, in this unit or another.
    fn has_same(&self, told: &Told<'_>) -> bool {
        const MINUTES: [f64; 2] = [60.0, 3600.0];
        const THOUSANDS: [f64; 5] = [1e2, 1e3, 1e6, 1e9, 1e12];
        const BINARY: [f64; 4] = [1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0];
        const MEASURES: [f64; 6] = [1.609_344, 2.204_62, 2.54, 0.3048, 3.785_41, 0.4536];
        let (least, most) = told.span;
        let has = |least: f64, most: f64| has_within(&self.numbers, (least, most));
        if has(least, most) {
            return true;
        }
        // So many things are so many in every unit.
        if told.is_plural() {
            return false;
        }
        let scaled = |unit: &f64| has(least / unit, most / unit) || has(least * unit, most * unit);
        let measured = sets::UNITS.list.contains(&told.unit.as_str());
        MINUTES.iter().chain(&THOUSANDS).chain(&BINARY).any(scaled)
            || measured && MEASURES.iter().any(scaled)
            || told.percent && has(100.0 - most, 100.0 - least)
            || measured && has((least - 32.0) / 1.8, (most - 32.0) / 1.8)
            || measured && has(least * 1.8 + 32.0, most * 1.8 + 32.0)
    }

    /// Whether a number follows from one that is explained. These stand in their order.
    pub(super) fn gives(&self, told: &Told<'_>, explained: &[f64]) -> bool {
        let is = |value: f64| told.is(value);
        has_product(explained, explained, told.span, is)
            || has_sum(explained, &self.numbers, told.span)
            || told.percent && has_share(explained, &self.numbers, told.span, is)
    }

    /// Whether a number follows from the session alone: from numbers of one row, one result, or from
    /// any two where there are few.
    pub(super) fn gives_alone(&self, told: &Told<'_>) -> bool {
        let (least, most) = told.span;
        // Where there are few, any two of them may have been compared.
        if self.numbers.len() <= FEW && has_sum(&self.numbers, &self.numbers, told.span) {
            return true;
        }
        let totals = self.totals.get_or_init(|| Totals::of(self.rows()));
        has_within(&totals.plain, told.span)
            || [1.0, 1e3, 1e-3].iter().any(|by| has_within(&totals.sums, (least * by, most * by)))
            || totals.long.iter().chain(&self.documents).any(|row| has_sum(row, row, told.span))
            || told.percent && self.gives_share(told)
    }

    /// Whether a share of something in the session alone is that many per cent.
    fn gives_share(&self, told: &Told<'_>) -> bool {
        let is = |value: f64| told.is(value);
        let of_list = |of: &f64| (1..=(*of as u32)).any(|some| is(100.0 * f64::from(some) / of));
        let in_row = |row: &[f64]| among(row, row, |one, two| shares(one, two, is));
        let of_all = |row: &[f64]| {
            let total: f64 = row.iter().sum();
            row.iter().any(|one| shares(*one, total, is))
        };
        self.lists.iter().any(of_list)
            || self.documents.iter().any(|doc| has_share(doc, doc, told.span, is))
            || self.rows().any(|row| in_row(row) || of_all(row))
    }

    /// The rows of the session, each in its order: objects, columns, lines.
    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        let rows = self.objects.iter().chain(self.columns.values()).chain(&self.lines);
        rows.map(Vec::as_slice)
    }
}

impl Totals {
    fn of<'r>(rows: impl Iterator<Item = &'r [f64]>) -> Self {
        let mut rows: Vec<&[f64]> = rows.collect();
        rows.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
        rows.dedup();
        let (mut totals, mut fill) = (Self::default(), MOST_UNSORTED);
        for row in rows {
            let total: f64 = row.iter().sum();
            totals.plain.push(total / row.len().max(1) as f64);
            totals.sums.extend(subset_sums(row));
            // Rows of few numbers come to the same again and again.
            if totals.sums.len() + totals.plain.len() > fill {
                sort(&mut totals.plain);
                sort(&mut totals.sums);
                fill = 2 * (totals.sums.len() + totals.plain.len()).max(MOST_UNSORTED);
            }
            let mut ordered = row.to_vec();
            sort(&mut ordered);
            if row.len() > sums::MOST {
                totals.long.push(ordered);
                continue;
            }
            for one in row {
                totals.plain.extend(row.iter().flat_map(|two| [one + two, (one - two).abs()]));
            }
        }
        sort(&mut totals.plain);
        sort(&mut totals.sums);
        totals
    }
}

/// Whether one number of each give what is wanted.
fn among(one: &[f64], two: &[f64], gives: impl Fn(f64, f64) -> bool) -> bool {
    one.iter().any(|one| two.iter().any(|two| gives(*one, *two)))
}
