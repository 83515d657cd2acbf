//! Values that an answer works out before everybody's eyes: "€12,000 at 0.85 is €10,200, and 6.5% of
//! that is €663".

use super::figure::Figure;

/// So many numbers are worked with at most; where there are more, chance finds everything.
const MOST: usize = 24;
const MOST_GIVEN: usize = 160;
/// A factor below this is the same as many by chance.
const SMALLEST: i64 = 1_200;

/// Whether a number is a product or a share of two that the answer tells, or so many per cent of one
/// of them, less or more, as it was told that it is. Each number once.
pub(crate) fn is_worked_out(
    wanted: Figure,
    told: &[Figure],
    percents: &[Figure],
    given: &[Figure],
) -> bool {
    if told.len() > MOST || percents.len() > MOST {
        return false;
    }
    // "her 25%", of the two hours that the record has as 120 minutes
    let shares = || percents.iter().filter(|percent| told.contains(percent));
    let given = given.iter().take(MOST_GIVEN).filter(|value| value.0.abs() >= SMALLEST);
    if given.into_iter().any(|value| shares().any(|share| is_share(wanted, *value, *share))) {
        return true;
    }
    let other =
        |figure: &&Figure| **figure != wanted && !matches!(figure.0.abs(), 0 | 100 | 10_000);
    let told = || told.iter().filter(other);
    // Of two small numbers anything may be the product.
    let tells = |a: Figure, b: Figure| {
        let whole = |figure: Figure| figure.0 % 100 == 0;
        !(whole(a) && whole(b)) || a.0.abs().min(b.0.abs()) >= SMALLEST
    };
    told().any(|one| {
        let mut others = told().filter(|two| one < two && tells(*one, **two));
        others.any(|two| is_product(wanted, *one, *two))
            || percents.iter().any(|percent| is_share(wanted, *one, *percent))
    })
}

/// Whether a number is the sum or the difference of two that the answer tells, and that it was given.
/// Small ones are that by chance. Both sorted.
pub(crate) fn is_gap(wanted: Figure, told: &[Figure], given: &[Figure]) -> bool {
    const LEAST: i64 = 10_000;
    if wanted.0 < LEAST || told.len() > MOST {
        return false;
    }
    let large = |figure: &&Figure| {
        figure.0 >= LEAST && **figure != wanted && given.binary_search(figure).is_ok()
    };
    let known: Vec<i64> = told.iter().filter(large).map(|figure| figure.0).collect();
    known.iter().any(|a| known.iter().any(|b| a + b == wanted.0 || a - b == wanted.0))
}

/// Hundredths of hundredths; pence of pounds, and per cent, are a hundred times less.
fn is_product(wanted: Figure, one: Figure, two: Figure) -> bool {
    let product = i128::from(one.0) * i128::from(two.0);
    [100, 10_000].iter().any(|of| (product - i128::from(wanted.0.abs()) * of).abs() <= *of)
}

fn is_share(wanted: Figure, value: Figure, Figure(percent): Figure) -> bool {
    let (wanted, value) = (i128::from(wanted.0.abs()), i128::from(value.0));
    let parts = [percent, 10_000 - percent, 10_000 + percent];
    (1..10_000).contains(&percent)
        && parts.iter().any(|part| (value * i128::from(*part) - wanted * 10_000).abs() <= 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences() {
        for (wanted, told, given, expected) in [
            (50_700, &[997_500, 1_048_200][..], &[997_500, 1_048_200][..], true),
            (2_045_700, &[997_500, 1_048_200], &[997_500, 1_048_200], true),
            (50_800, &[997_500, 1_048_200], &[997_500, 1_048_200], false),
            // One of them was made up, too.
            (50_700, &[997_500, 1_048_200], &[997_500], false),
            // Of 8 and 3, 5 is the difference in every other text.
            (500, &[300, 800], &[300, 800], false),
        ] {
            let figures = |all: &[i64]| all.iter().map(|f| Figure(*f)).collect::<Vec<_>>();
            let found = is_gap(Figure(wanted), &figures(told), &figures(given));
            assert_eq!(found, expected, "{wanted} of {told:?}");
        }
    }

    #[test]
    fn products_and_shares() {
        for (wanted, told, percents, given, expected) in [
            // 12,000 at 0.85; 6.5% of 10,200; 320 at 9.5p.
            (1_020_000, &[85, 1_200_000][..], &[][..], &[][..], true),
            (66_300, &[650, 1_020_000], &[], &[], true),
            (3_040, &[950, 32_000], &[], &[], true),
            // 108 less 25%; 120 and 25% more.
            (8_100, &[10_800], &[2_500], &[], true),
            (15_000, &[12_000], &[2_500], &[], true),
            (15_000, &[2_500], &[2_500], &[12_000], true),
            (15_000, &[200], &[2_500], &[12_000], false),
            (8_200, &[10_800], &[2_500], &[], false),
            (66_400, &[650, 1_020_000], &[], &[], false),
            // Two threes are six in every other text.
            (600, &[200, 300], &[], &[], false),
        ] {
            let figures = |all: &[i64]| all.iter().map(|f| Figure(*f)).collect::<Vec<_>>();
            let found =
                is_worked_out(Figure(wanted), &figures(told), &figures(percents), &figures(given));
            assert_eq!(found, expected, "{wanted} of {told:?} and {percents:?}");
        }
    }
}
