//! Values that are worked out from other values.

use super::figure::Figure;

/// So many figures are worked with at most; a longer list grounds only what it holds.
const MOST: usize = 48;
/// A figure may be so many times another: pieces, passengers, nights.
const TIMES: std::ops::RangeInclusive<i64> = 2..=12;
/// Rounding of parts may move a result by so many hundredths.
const ROUNDING: i64 = 2;

/// What a figure may be worked out from.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Figures in an order in which neighbours may be summed up: those beside it, those of the
    /// things that are named beside it, those of one list.
    pub(crate) rows: Vec<Vec<Figure>>,
    /// Figures beside it that are given in per cent.
    pub(crate) shares: Vec<Figure>,
}

impl Sources {
    /// Whether the figure is a sum of neighbours, a multiple, a part, a share, or the difference between
    /// one of these sums and another figure or sum.
    pub(crate) fn give(&self, figure: Figure) -> bool {
        let wanted = figure.0.abs();
        let near = |found: i64| (found.abs() - wanted).abs() <= ROUNDING;
        let rows = || self.rows.iter().map(|row| row.get(..row.len().min(MOST)).unwrap_or(row));
        let sums: Vec<i64> = rows().flat_map(sums_of_neighbours).collect();
        let exact = |found: i64| found.abs() == wanted;
        let times = |value: &Figure| { TIMES }.any(|n| value.0.checked_mul(n).is_some_and(exact));
        // "$8.25 a month" of $99 a year.
        let part = |value: &Figure| {
            { TIMES }.any(|n| (wanted.saturating_mul(n) - value.0.abs()).abs() * 2 <= n)
        };
        let share = |value: &i64| {
            self.shares.iter().any(|Figure(percent)| {
                let part = i128::from(*value) * i128::from(*percent) / 10_000;
                i64::try_from(part).is_ok_and(|part| {
                    near(part) || near(value - part) || value.checked_add(part).is_some_and(near)
                })
            })
        };
        if sums.iter().any(|sum| exact(*sum)) || sums.iter().any(share) {
            return true;
        }
        if rows().flatten().any(|value| times(value) || part(value)) {
            return true;
        }
        // The difference of two sums, at least one of which is a figure that stands there.
        let mut hints = Hints::default();
        for sum in &sums {
            hints.add(*sum);
        }
        rows().flatten().any(|Figure(a)| {
            let other = [a - wanted, a + wanted];
            other.into_iter().any(|b| hints.may_have(b) && sums.contains(&b))
        })
    }
}

/// Which numbers are surely not among many: a bit for each remainder.
#[derive(Debug, Default)]
struct Hints([u64; 32]);

impl Hints {
    /// The word and the bit of a number.
    fn place(number: i64) -> (usize, u32) {
        #[expect(clippy::cast_sign_loss, reason = "any bits will do")]
        let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53;
        ((mixed / 64) as usize, (mixed % 64) as u32)
    }

    fn add(&mut self, number: i64) {
        let (word, bit) = Self::place(number);
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << bit;
        }
    }

    fn may_have(&self, number: i64) -> bool {
        let (word, bit) = Self::place(number);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }
}

fn sums_of_neighbours(row: &[Figure]) -> Vec<i64> {
    let mut sums = Vec::with_capacity(row.len() * (row.len() + 1) / 2);
    for from in 0..row.len() {
        let mut sum = 0_i64;
        for Figure(next) in row.iter().skip(from) {
            sum = sum.saturating_add(*next);
            sums.push(sum);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivations() {
        for (wanted, rows, shares, expected) in [
            (78_165, &[&[18867_i64, 14945, 19215, 25138][..]][..], &[][..], true),
            (2_255, &[&[21988, 19733]], &[], true),
            (3_000, &[&[21988, 19733]], &[], false),
            (15_000, &[&[5000]], &[], true),
            (1_500, &[&[10000]], &[1500], true),
            (8_500, &[&[10000]], &[1500], true),
            (11_500, &[&[10000]], &[1500], true),
            (20_100, &[&[29900], &[50000]], &[], true),
            (825, &[&[9900]], &[], true),
            (826, &[&[9900]], &[], false),
            (3_333, &[&[9999]], &[], true),
            (500, &[], &[], false),
        ] {
            let figures = |all: &[i64]| all.iter().map(|f| Figure(*f)).collect::<Vec<_>>();
            let rows = rows.iter().map(|row| figures(row)).collect();
            let sources = Sources { rows, shares: figures(shares) };
            assert_eq!(sources.give(Figure(wanted)), expected, "{wanted} of {sources:?}");
        }
    }
}
