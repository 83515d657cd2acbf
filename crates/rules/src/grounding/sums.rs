//! What two numbers, or some of a row, give.

/// Of more numbers every sum is one of some of them.
const MOST: usize = 10;

/// Whether two numbers give one as a sum or a difference.
pub(super) fn sums(one: f64, two: f64, is: &dyn Fn(f64) -> bool) -> bool {
    is(one + two) || is((one - two).abs())
}

/// Whether the number is a share of one in the other, in per cent, or by so much more or less.
pub(super) fn shares(one: f64, two: f64, is: &dyn Fn(f64) -> bool) -> bool {
    let share = |one: f64, two: f64| {
        two != 0.0 && (is(100.0 * one / two) || is(100.0 * (one - two).abs() / two))
    };
    share(one, two) || share(two, one)
}

/// Whether two numbers that are both told give one in whatever way people work with them.
pub(super) fn products(one: f64, two: f64, is: &dyn Fn(f64) -> bool) -> bool {
    let parts = |one: f64, two: f64| {
        is(one * two / 100.0)
            || is(one * (100.0 - two) / 100.0)
            || is(one * (100.0 + two) / 100.0)
            || two != 0.0 && is(one / two)
    };
    is(one * two) || parts(one, two) || parts(two, one)
}

/// Whether some of a row sum up to a number.
pub(super) fn is_subset_sum(row: &[f64], is: &impl Fn(f64) -> bool) -> bool {
    let total: f64 = row.iter().sum();
    if is(total) {
        return true;
    }
    if row.len() > MOST {
        let mut sum = 0.0;
        return row.iter().any(|value| {
            sum += value;
            is(sum)
        });
    }
    (1_u32..1 << row.len()).any(|some| {
        let chosen = row.iter().enumerate().filter(|(at, _)| some & (1 << at) != 0);
        is(chosen.map(|(_, value)| value).sum())
    })
}
