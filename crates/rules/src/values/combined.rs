//! What may be worked out from a few numbers of the record, whatever they belong to.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::figure::{Figure, each_figure};
use super::given::{Given, Source};
use super::leaves::Leaf;

/// So many bytes of results before a message may give what an amount follows from.
const REACH: usize = 32 * 1024;
/// Where the record has more numbers, almost everything would follow from them.
const MOST: usize = 12;
/// An object with more numbers holds no plain account.
const FEW: usize = 3;
/// Whole numbers from here on, in hundredths, may be cents.
const IN_CENTS: i64 = 10_000;
/// Longer numbers are ids.
const LARGEST: i64 = 1_000_000_000;
/// More pieces than this, in hundredths, nobody counts.
const MOST_PIECES: i64 = 6_000;
/// Words in the names of members that hold a rate of tax.
const TAXES: [&str; 6] = ["vat", "tax", "gst", "mwst", "iva", "tva"];
/// Rounding of parts may move a result by so many hundredths.
const ROUNDING: i64 = 2;

/// The amounts of the results near a message, and those that the answer says itself.
#[derive(Debug, Default)]
pub(crate) struct Combined {
    /// In hundredths, ascending, each once.
    amounts: Vec<i64>,
    /// Numbers of pieces, and shares in per cent, in hundredths.
    factors: Vec<i64>,
    recorded: Rc<Recorded>,
}

/// What the results near a message give, whatever an answer says.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The amounts in hundredths, ascending, each once, however many.
    held: BTreeSet<i64>,
    /// Numbers of pieces, and shares in per cent, in hundredths; of many so many that they are too
    /// many.
    factors: Vec<i64>,
    /// Sums of numbers that stand behind each other in a list or a text.
    sums: BTreeSet<i64>,
    /// Rates of tax in hundredths of a per cent.
    taxes: Vec<i64>,
}

impl Recorded {
    /// Of the results as far as [`REACH`] goes back.
    pub(super) fn of(given: &Given<'_>, turn: usize) -> Self {
        let sheets = given.sheets(turn, REACH);
        let (mut amounts, mut factors) = (BTreeSet::new(), BTreeSet::new());
        let (mut sums, mut taxes) = (BTreeSet::new(), Vec::new());
        // The numbers of one object: what is due less what is paid.
        let mut objects: BTreeMap<(usize, usize), Vec<i64>> = BTreeMap::new();
        for sheet in &sheets {
            for (object, leaf) in sheet.columns().iter().flat_map(|column| &column.cells) {
                let number =
                    if let Leaf::Number(number) = leaf { Figure::parse(number) } else { None };
                let plain = number.filter(|Figure(figure)| (1..LARGEST).contains(figure));
                let numbers = objects.entry((sheet.execution, *object)).or_default();
                numbers.extend(plain.map(|Figure(figure)| figure));
            }
        }
        for numbers in objects.values().filter(|numbers| numbers.len() <= FEW) {
            let pairs = numbers.iter().flat_map(|a| numbers.iter().map(move |b| a - b));
            sums.extend(pairs.filter(|left| *left > 0));
        }
        for column in sheets.iter().flat_map(|sheet| sheet.columns()) {
            let (mut row, mut cents) = (Vec::new(), Vec::new());
            for (_, leaf) in &column.cells {
                let (number, priced) = match leaf {
                    Leaf::Number(number) => (Figure::parse(number), number.contains('.')),
                    Leaf::Text(text) => (Figure::of_money(text), true),
                    _ => continue,
                };
                let Some(Figure(figure)) = number else { continue };
                if !(1..LARGEST).contains(&figure.abs()) {
                    continue;
                }
                if column.is_amount() || priced {
                    amounts.insert(figure.abs());
                    row.push(figure);
                }
                if column.words.iter().any(|word| TAXES.contains(&word.as_str())) {
                    taxes.extend((figure < MOST_PIECES).then_some(figure));
                }
                factors.insert(figure.abs());
                cents.extend((figure.abs() >= IN_CENTS).then_some(figure / 100));
            }
            add_sums(&row, &mut sums);
            // Some services count cents.
            add_sums(&cents, &mut sums);
        }
        let texts = given.near(turn, REACH).filter(|given| {
            matches!(given.source, Source::Result(_))
                && !given.text.trim_start().starts_with(['{', '['])
        });
        for text in texts {
            let mut row = Vec::new();
            each_figure(text.text, |Figure(figure)| row.push(figure));
            row.retain(|figure| (1..LARGEST).contains(&figure.abs()));
            if row.len() <= MOST {
                amounts.extend(row.iter().copied().filter(|figure| figure.abs() > 1_200));
                factors.extend(row.iter().copied());
            } else {
                amounts.extend(written_as_amounts(text.text));
            }
            row.retain(|figure| figure % 100 != 0);
            add_sums(&row, &mut sums);
            // "M-1 $35.00; M-2 $60.00": what is no amount may stand between.
            let paid: Vec<i64> = written_as_amounts(text.text).take(MOST + 1).collect();
            add_sums(&paid, &mut sums);
        }
        let factors = factors.into_iter().filter(|factor| *factor <= MOST_PIECES);
        Self { held: amounts, factors: factors.take(MOST + 1).collect(), sums, taxes }
    }
}

impl Combined {
    /// Of the results near a message and what an answer says. Of none of them, where there are many
    /// amounts.
    pub(crate) fn of(given: &Given<'_>, turn: usize, said: &[Figure]) -> Self {
        let recorded = given.recorded(turn);
        let few = recorded.held.len() <= MOST;
        let mut amounts = if few { recorded.held.clone() } else { BTreeSet::new() };
        let mut factors: BTreeSet<i64> = recorded.factors.iter().copied().collect();
        for Figure(figure) in said {
            if figure.abs() <= MOST_PIECES {
                factors.insert(figure.abs());
            }
            if amounts.len() < MOST && figure % 100 != 0 {
                amounts.insert(figure.abs());
            }
        }
        let factors = if factors.len() > MOST { Vec::new() } else { factors.into_iter().collect() };
        Self { amounts: amounts.into_iter().collect(), factors, recorded }
    }

    /// The amount of the results of which two digits side by side changed places in this one.
    pub(crate) fn misread(&self, figure: Figure) -> Option<Figure> {
        let swapped = |held: &&i64| has_swapped(figure.0.unsigned_abs(), held.unsigned_abs());
        self.recorded.held.iter().find(swapped).map(|held| Figure(*held))
    }

    /// Whether the figure is a sum of up to three of them, a difference, so many times one of them,
    /// or a share in per cent.
    pub(crate) fn give(&self, figure: Figure) -> bool {
        let wanted = figure.0.abs();
        // Nothing follows from itself.
        let other = |known: &&i64| **known != wanted;
        let near = |found: i64| (found - wanted).abs() <= ROUNDING;
        let holds = |value: i64| value != wanted && self.amounts.binary_search(&value).is_ok();
        let made_by = |factor: i64, a: i64| {
            let whole = factor % 100 == 0 && factor >= 200;
            let part = i128::from(a) * i128::from(factor) / 10_000;
            let share = i64::try_from(part).is_ok_and(|part| near(part) || near(a - part));
            // "€24.50 a bag", of 28 bags for €686; "€89 an hour", of 3.5 hours for €311.50.
            let each = || {
                let all = wanted.checked_mul(factor).zip(a.checked_mul(100));
                let part = factor % 25 == 0 && factor > 100;
                part && all.is_some_and(|(all, a)| (all - a).abs() * 2 <= factor)
            };
            share || each() || (whole && a.checked_mul(factor / 100) == Some(wanted))
        };
        // "€76.16 gross", of €64.00 and 19% of tax.
        let taxed = |a: i64| {
            self.recorded.taxes.iter().any(|percent| {
                let tax = i128::from(a) * i128::from(*percent) / 10_000;
                i64::try_from(tax).is_ok_and(|tax| near(a + tax))
            })
        };
        if self.recorded.sums.contains(&wanted) {
            return true;
        }
        self.amounts.iter().enumerate().filter(|(_, a)| other(a)).any(|(at, a)| {
            taxed(*a)
                || self.factors.iter().filter(other).any(|factor| made_by(*factor, *a))
                || self.amounts.iter().skip(at).filter(other).any(|b| {
                    let three = || holds(wanted - a - b) || holds(wanted + a + b);
                    a + b == wanted || b - a == wanted || three()
                })
        })
    }
}

/// The numbers of a text that are written with two places: those of a table of prices.
fn written_as_amounts(text: &str) -> impl Iterator<Item = i64> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '|' | '(' | ')' | ';'));
    words.filter_map(|word| {
        let word = word.trim_end_matches(['.', ',', ':']);
        if let Some(Figure(paid)) = Figure::of_money(word) {
            return Some(paid.abs());
        }
        let (_, places) = word.rsplit_once('.')?;
        let amount = places.len() == 2 && places.bytes().all(|b| b.is_ascii_digit());
        Some(Figure::parse(word).filter(|_| amount)?.0.abs())
    })
}

/// Whether two numbers of one length differ by two digits that changed places.
fn has_swapped(mut one: u64, mut other: u64) -> bool {
    // The sum of the digits stays.
    if one == other || !one.abs_diff(other).is_multiple_of(9) || one < 1_000 {
        return false;
    }
    while one % 10 == other % 10 {
        (one, other) = (one / 10, other / 10);
    }
    let (tail, held) = (one % 100, other % 100);
    one / 100 == other / 100 && tail / 10 == held % 10 && tail % 10 == held / 10
}

/// The sums of what stands behind each other, of short rows.
fn add_sums(row: &[i64], sums: &mut BTreeSet<i64>) {
    if row.len() > MOST {
        return;
    }
    for from in 0..row.len() {
        let mut sum = 0_i64;
        for next in row.iter().skip(from) {
            sum = sum.saturating_add(next.abs());
            sums.insert(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_changed_places() {
        let held = BTreeSet::from([8_999, 15_420, 12_345]);
        let recorded = Rc::new(Recorded { held, ..Recorded::default() });
        let record = Combined { recorded, ..Combined::default() };
        for (said, expected) in [
            (9_899, Some(8_999)),
            (14_520, Some(15_420)),
            (12_354, Some(12_345)),
            (8_998, None),
            (15_240, Some(15_420)),
            (12_543, None),
            (8_999, None),
        ] {
            assert_eq!(record.misread(Figure(said)), expected.map(Figure), "{said}");
        }
    }

    #[test]
    fn what_follows_from_few_numbers() {
        let amounts = vec![1_250, 6_200, 7_950, 14_800, 61_230];
        let record = Combined { amounts, factors: vec![300], ..Combined::default() };
        for (wanted, expected) in [
            (14_150, true),
            (75_380, true),
            (3_750, true),
            (44_400, true),
            (1_750, true),
            (15_150, false),
            (13_990, false),
        ] {
            assert_eq!(record.give(Figure(wanted)), expected, "{wanted}");
        }
    }
}
