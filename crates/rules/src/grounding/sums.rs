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

/// Puts numbers in their order, each once.
pub(super) fn sort(numbers: &mut Vec<f64>) {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.dedup();
}

/// Whether one of some numbers, and one of others that stand in their order, give one within a span in
/// whatever way people work with them.
pub(super) fn has_product(
    some: &[f64],
    ordered: &[f64],
    (least, most): (f64, f64),
    is: impl Fn(f64) -> bool,
) -> bool {
    some.iter().any(|&one| {
        // Where the other one may be, of `one * two`, `one * two / 100`, and so on.
        let of = |from: f64, to: f64, by: f64| (from / by, to / by);
        let less = of(100.0 * least, 100.0 * most, one);
        let spans = [
            of(least, most, one),
            less,
            (100.0 - less.1, 100.0 - less.0),
            (less.0 - 100.0, less.1 - 100.0),
            of(100.0 * least, 100.0 * most, 100.0 - one),
            of(100.0 * least, 100.0 * most, 100.0 + one),
            divided(one, least, most),
            (least * one, most * one),
        ];
        has_one(ordered, &spans, |two| products(one, two, &is))
    })
}

/// Whether one of some numbers is a share of one of others that stand in their order, or the other way
/// round.
pub(super) fn has_share(
    some: &[f64],
    ordered: &[f64],
    (least, most): (f64, f64),
    is: impl Fn(f64) -> bool,
) -> bool {
    let (least, most) = (least / 100.0, most / 100.0);
    some.iter().any(|&one| {
        let spans = [
            divided(one, least, most),
            divided(one, 1.0 + least, 1.0 + most),
            divided(one, 1.0 - most, 1.0 - least),
            (one * least, one * most),
            (one * (1.0 + least), one * (1.0 + most)),
            (one * (1.0 - most), one * (1.0 - least)),
        ];
        has_one(ordered, &spans, |two| shares(one, two, &is))
    })
}

/// What a number may be divided by to give one of a span.
fn divided(one: f64, least: f64, most: f64) -> (f64, f64) {
    (one / most, if least > 0.0 { one / least } else { f64::INFINITY })
}

/// Whether a number that stands in one of the spans gives what is wanted. What ends a span is worked
/// out, and may be off by its last digits.
fn has_one(ordered: &[f64], spans: &[(f64, f64)], gives: impl Fn(f64) -> bool) -> bool {
    const OFF: f64 = 1e-9;
    spans.iter().any(|(one, other)| {
        let (from, to) = if one <= other { (*one, *other) } else { (*other, *one) };
        // A span that goes through zero, or has no end: all of them.
        let whole = !from.is_finite() || !to.is_finite();
        let (from, to) = (from - from.abs() * OFF, to + to.abs() * OFF);
        let first = if whole { 0 } else { ordered.partition_point(|value| *value < from) };
        let rest = ordered.iter().skip(first);
        rest.take_while(|value| whole || **value <= to).any(|value| gives(*value))
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
fn products(one: f64, two: f64, is: impl Fn(f64) -> bool) -> bool {
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

    /// Looking only where the other number may stand finds what trying all of them finds.
    #[test]
    fn products_and_shares_are_found_wherever_they_are() {
        let numbers = [0.0, 0.5, 1.0, 3.0, 7.25, 12.0, 20.0, 48.0, 99.0, 100.0, 110.0, 1204.0, 1e9];
        for wanted in [0.0, 0.2, 1.0, 3.5, 9.0, 20.0, 36.0, 50.0, 80.0, 99.9, 132.0, 150.0, 1e10] {
            for near in [0.005, 0.5, 20.0] {
                let span = (wanted - near, wanted + near);
                let is = |value: f64| (span.0..=span.1).contains(&value);
                let any = |gives: &dyn Fn(f64, f64) -> bool| {
                    numbers.iter().any(|one| numbers.iter().any(|two| gives(*one, *two)))
                };
                let product = any(&|one, two| products(one, two, is));
                assert_eq!(has_product(&numbers, &numbers, span, is), product, "{span:?}");
                let share = any(&|one, two| shares(one, two, is));
                assert_eq!(has_share(&numbers, &numbers, span, is), share, "{span:?}");
                for one in numbers {
                    let product = numbers.iter().any(|two| products(one, *two, is));
                    assert_eq!(has_product(&[one], &numbers, span, is), product, "{one} {span:?}");
                    let share = numbers.iter().any(|two| shares(one, *two, is));
                    assert_eq!(has_share(&[one], &numbers, span, is), share, "{one} {span:?}");
                }
            }
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
