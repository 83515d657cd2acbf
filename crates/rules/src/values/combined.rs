//! What may be worked out from a few numbers of the record, whatever they belong to.

use std::collections::BTreeSet;

use super::figure::{Figure, each_figure};
use super::given::{Given, Source};
use super::leaves::Leaf;

/// Where the record has more numbers, almost everything would follow from them.
const MOST: usize = 12;
/// Whole numbers from here on, in hundredths, may be cents.
const IN_CENTS: i64 = 10_000;
/// Longer numbers are ids.
const LARGEST: i64 = 1_000_000_000;
/// More pieces than this, in hundredths, nobody counts.
const MOST_PIECES: i64 = 6_000;
/// Rounding of parts may move a result by so many hundredths.
const ROUNDING: i64 = 2;

/// The amounts of the results near a message, and those that the answer says itself.
#[derive(Debug, Default)]
pub(crate) struct Combined {
    /// In hundredths, ascending, each once.
    amounts: Vec<i64>,
    /// Numbers of pieces, and shares in per cent, in hundredths.
    factors: Vec<i64>,
    /// Sums of numbers that stand behind each other in a list or a text.
    sums: BTreeSet<i64>,
}

impl Combined {
    /// Of the results as far as so many bytes reach back. Of none, where there are many amounts.
    pub(crate) fn of(given: &Given<'_>, turn: usize, bytes: usize, said: &[Figure]) -> Self {
        let sheets = given.sheets(turn, bytes);
        let (mut amounts, mut factors) = (BTreeSet::new(), BTreeSet::new());
        let mut sums = BTreeSet::new();
        for column in sheets.iter().flat_map(|sheet| sheet.columns()) {
            let (mut row, mut cents) = (Vec::new(), Vec::new());
            for (_, leaf) in &column.cells {
                let Leaf::Number(number) = leaf else { continue };
                let Some(Figure(figure)) = Figure::parse(number) else { continue };
                if !(1..LARGEST).contains(&figure.abs()) {
                    continue;
                }
                if column.is_amount() || number.contains('.') {
                    amounts.insert(figure.abs());
                    row.push(figure);
                }
                factors.insert(figure.abs());
                cents.extend((figure.abs() >= IN_CENTS).then_some(figure / 100));
            }
            add_sums(&row, &mut sums);
            // Some services count cents.
            add_sums(&cents, &mut sums);
        }
        let texts = given.near(turn, bytes).filter(|given| {
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
            }
            row.retain(|figure| figure % 100 != 0);
            add_sums(&row, &mut sums);
        }
        if amounts.len() > MOST {
            amounts.clear();
        }
        for Figure(figure) in said {
            factors.insert(figure.abs());
            if amounts.len() < MOST && figure % 100 != 0 {
                amounts.insert(figure.abs());
            }
        }
        factors.retain(|factor| *factor <= MOST_PIECES);
        let factors = if factors.len() > MOST { Vec::new() } else { factors.into_iter().collect() };
        Self { amounts: amounts.into_iter().collect(), factors, sums }
    }

    /// Whether the figure is a sum of up to three of them, a difference, so many times one of them,
    /// or a share in per cent.
    pub(crate) fn give(&self, figure: Figure) -> bool {
        let wanted = figure.0.abs();
        // Nothing follows from itself.
        let other = |known: &&i64| **known != wanted;
        let near = |found: i64| (found - wanted).abs() <= ROUNDING;
        let holds = |value: i64| {
            let at = self.amounts.partition_point(|known| *known < value - ROUNDING);
            let known = self.amounts.iter().skip(at).find(other);
            known.is_some_and(|known| *known <= value + ROUNDING)
        };
        let made_by = |factor: i64, a: i64| {
            let whole = factor % 100 == 0 && factor >= 200;
            let part = i128::from(a) * i128::from(factor) / 10_000;
            let share = i64::try_from(part).is_ok_and(|part| near(part) || near(a - part));
            share || (whole && a.checked_mul(factor / 100).is_some_and(near))
        };
        if self.sums.range(wanted - ROUNDING..=wanted + ROUNDING).next().is_some() {
            return true;
        }
        self.amounts.iter().enumerate().filter(|(_, a)| other(a)).any(|(at, a)| {
            self.factors.iter().filter(other).any(|factor| made_by(*factor, *a))
                || self
                    .amounts
                    .iter()
                    .skip(at)
                    .filter(other)
                    .any(|b| near(a + b) || near(b - a) || holds(wanted - a - b))
        })
    }
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
