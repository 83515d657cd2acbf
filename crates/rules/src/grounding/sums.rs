//! What two numbers, or some of a row, give.

/// Of more numbers every sum is one of some of them.
const MOST: usize = 10;

/// Whether one of some numbers in their order stands in a span.
pub(super) fn has_within(ordered: &[f64], (least, most): (f64, f64)) -> bool {
    let first = ordered.partition_point(|value| *value < least);
    ordered.get(first).is_some_and(|value| *value <= most)
}

/// Whether one of some numbers, and one of others that stand in their order, give one within a span as
/// a sum or a difference.
pub(super) fn has_sum(some: &[f64], ordered: &[f64], (least, most): (f64, f64)) -> bool {
    some.iter().any(|one| {
        has_within(ordered, (least - one, most - one))
            || has_within(ordered, (one + least, one + most))
            || has_within(ordered, (one - most, one - least))
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
