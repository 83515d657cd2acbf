//! What two numbers, or some of a row, give.

/// Of more numbers every sum is one of some of them.
pub(super) const MOST: usize = 10;

/// Whether one of some numbers in their order stands in a span.
pub(super) fn has_within(ordered: &[f64], (least, most): (f64, f64)) -> bool {
    let first = ordered.partition_point(|value| *value < least);
    ordered.get(first).is_some_and(|value| *value <= most)
}

/// Whether one of some numbers, and one of others that stand in their order, give one within a span as
/// a sum or a difference.
pub(super) fn has_sum(some: &[f64], ordered: &[f64], (least, most): (f64, f64)) -> bool {
    let is = |value: f64| (least..=most).contains(&value);
    some.iter().any(|one| {
        // What a large number is looked for by is rounded: only what is worked out counts.
        let gives = |two: &f64| is(one + two) || is((one - two).abs());
        let spans =
            [(least - one, most - one), (one + least, one + most), (one - most, one - least)];
        spans.iter().any(|(from, to)| {
            let first = ordered.partition_point(|value| value < from);
            ordered.iter().skip(first).take_while(|value| *value <= to).any(gives)
        })
    })
}

/// Whether the number is a share of one in the other, in per cent, or by so much more or less.
pub(super) fn shares(one: f64, two: f64, is: impl Fn(f64) -> bool) -> bool {
    let share = |one: f64, two: f64| {
        two != 0.0 && (is(100.0 * one / two) || is(100.0 * (one - two).abs() / two))
    };
    share(one, two) || share(two, one)
}

/// Whether two numbers that are both told give one in whatever way people work with them.
pub(super) fn products(one: f64, two: f64, is: impl Fn(f64) -> bool) -> bool {
    let parts = |one: f64, two: f64| {
        is(one * two / 100.0)
            || is(one * (100.0 - two) / 100.0)
            || is(one * (100.0 + two) / 100.0)
            || two != 0.0 && is(one / two)
    };
    is(one * two) || parts(one, two) || parts(two, one)
}

/// What some of a row sum up to; of a long row, what its first ones do.
pub(super) fn subset_sums(row: &[f64]) -> Vec<f64> {
    if row.len() <= MOST {
        let mut sums = vec![0.0];
        for value in row {
            sums.extend_from_within(..);
            let half = sums.len() / 2;
            sums.iter_mut().skip(half).for_each(|sum| *sum += value);
        }
        sums.remove(0);
        return sums;
    }
    let mut sum = 0.0;
    let first = row.iter().map(|value| {
        sum += value;
        sum
    });
    first.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_are_worked_out() {
        let span = |value: f64| (value - 0.5, value + 0.5);
        for (ordered, wanted, expected) in [
            (&[8.0, 49.0][..], 57.0, true),
            (&[8.0, 65.0], 57.0, true),
            (&[8.0, 66.0], 57.0, false),
            // Beside it a small number is none: an id, a time in nanoseconds, what has no end.
            (&[8.0, 1_146_712_345_678_901_234.0], 57.0, false),
            (&[8.0, 1.5e21], 4_321.0, false),
            (&[8.0, f64::INFINITY], 57.0, false),
            (&[], 57.0, false),
        ] {
            assert_eq!(
                has_sum(ordered, ordered, span(wanted)),
                expected,
                "{wanted} of {ordered:?}"
            );
        }
    }

    #[test]
    fn what_some_of_a_row_sum_up_to() {
        let mut sums = subset_sums(&[1.0, 2.0, 4.0]);
        sums.sort_unstable_by(f64::total_cmp);
        assert_eq!(sums, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(subset_sums(&[]), [0.0; 0]);
        assert_eq!(subset_sums(&[1.0; MOST + 1]).last(), Some(&11.0));
    }
}
