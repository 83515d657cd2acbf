//! Numbers with units, compared however they are rounded and whatever they are given in.

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quantity {
    /// The number itself.
    pub(super) value: f64,
    /// Its places behind the point.
    pub(super) places: i32,
    /// What it is given in, where that is said.
    pub(super) unit: Option<Unit>,
}

/// A unit: what it measures, and how many of the smallest unit it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) measures: Measure,
    factor: f64,
}

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Time,
    Size,
    Share,
    Mass,
}

const UNITS: [(&[&str], Measure, f64); 17] = [
    (&["ms", "millis", "millisecond", "milliseconds"], Measure::Time, 0.001),
    (&["s", "sec", "secs", "second", "seconds"], Measure::Time, 1.0),
    (&["min", "mins", "minute", "minutes"], Measure::Time, 60.0),
    (&["h", "hr", "hrs", "hour", "hours"], Measure::Time, 3_600.0),
    (&["day", "days"], Measure::Time, 86_400.0),
    (&["week", "weeks"], Measure::Time, 604_800.0),
    (&["month", "months"], Measure::Time, 2_629_800.0),
    (&["year", "years"], Measure::Time, 31_557_600.0),
    (&["byte", "bytes"], Measure::Size, 1.0),
    (&["kb", "kib"], Measure::Size, 1e3),
    (&["mb", "mib"], Measure::Size, 1e6),
    (&["gb", "gib"], Measure::Size, 1e9),
    (&["tb", "tib"], Measure::Size, 1e12),
    (&["percent", "pct", "%"], Measure::Share, 1.0),
    (&["g", "gram", "grams"], Measure::Mass, 1.0),
    (&["kg", "kilo", "kilos", "kilograms"], Measure::Mass, 1e3),
    (&["lb", "lbs", "pounds"], Measure::Mass, 453.592),
];

impl Unit {
    /// The unit that a word names.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
        let known = UNITS.iter().find(|(names, ..)| is(names))?;
        Some(Self { measures: known.1, factor: known.2 })
    }
}

impl Quantity {
    /// `1,204.5`, `71.4%`, `$12`, `184ms`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start_matches(['$', '€', '£', '~']);
        let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let len = text.find(|c| !part(c)).unwrap_or(text.len());
        let (digits, unit) = text.split_at(len);
        let plain = digits.replace(',', "");
        let value: f64 = plain.parse().ok()?;
        let places = plain.split_once('.').map_or(0, |(_, rest)| rest.len());
        let unit = if unit.is_empty() { None } else { Some(Unit::of(unit)?) };
        let begins = plain.starts_with(|c: char| c.is_ascii_digit());
        begins.then_some(Self { value, places: i32::try_from(places).ok()?, unit })
    }

    /// Whether the number may stand for the other, which a result holds: rounded, cut, in another
    /// unit.
    pub(super) fn agrees(self, held: Self) -> bool {
        if let (Some(said), Some(unit)) = (self.unit, held.unit) {
            return said.measures == unit.measures
                && [1.0, 1.024, 1.024 * 1.024, 1.0 / 1.024, 0.98, 1.02]
                    .iter()
                    .any(|drift| self.is_rounded(held.value * unit.factor * drift / said.factor));
        }
        const SCALES: [f64; 15] = [
            1.0,
            100.0,
            1e3,
            1_024.0,
            1e6,
            1_048_576.0,
            60.0,
            3_600.0,
            24.0,
            7.0,
            12.0,
            1e9,
            1.609_34,
            2.204_62,
            1_440.0,
        ];
        if self.unit.is_some_and(|unit| unit.measures == Measure::Share) {
            return [1.0, 100.0].iter().any(|scale| self.is_rounded(held.value * scale));
        }
        SCALES.iter().any(|s| self.is_rounded(held.value * s) || self.is_rounded(held.value / s))
            || self.is_rounded(held.value * 9.0 / 5.0 + 32.0)
            || self.is_rounded((held.value - 32.0) * 5.0 / 9.0)
    }

    /// Whether rounding the exact number can give this one: to its last place, or to its last
    /// digit that is not 0.
    pub(super) fn is_rounded(self, exact: f64) -> bool {
        let off = (self.value - exact).abs();
        if off > self.value * 0.1 {
            return false;
        }
        let mut step = 10_f64.powi(-self.places);
        let mut whole = self.value;
        while self.places == 0 && whole >= 10.0 && whole % 10.0 == 0.0 {
            whole /= 10.0;
            step *= 10.0;
        }
        off < step + 1e-9
    }

    /// Whether the number is the other with one digit changed, two that changed places, or the
    /// point at another place.
    pub(super) fn is_misquoted(self, held: Self) -> bool {
        let share = self.unit.is_some_and(|unit| unit.measures == Measure::Share);
        let scale = if share && held.unit.is_none() { 100.0 } else { 1.0 };
        let moved = |by: f64| (self.value - held.value * scale * by).abs() < self.value * 1e-9;
        let shifted = self.unit.is_none_or(|unit| held.unit.is_none() || held.unit == Some(unit))
            && self.value >= 10.0
            && (moved(10.0) || moved(0.1));
        // Numbers of one length are not further apart.
        let near = self.value <= held.value * 10.001 && held.value <= self.value * 10.001;
        let changed = || changes(self.digits(), held.digits());
        let misread = |changed: Changed| changed.digits == 1 || changed.swapped;
        shifted || (near && changed().is_some_and(misread))
    }

    /// Whether two digits of the other, a long one, changed places in this one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole numbers below 1e16"
    )]
    pub(super) fn is_swapped(self, held: Self) -> bool {
        let off = (self.value - held.value).abs();
        let whole = self.may_be_swapped() && held.places == 0 && off < 1e15;
        // Numbers of one length are not further apart.
        let near = self.value < held.value * 10.0 && held.value < self.value * 10.0;
        // Where digits change places, the sum of them stays.
        let sums = || (off as u64).is_multiple_of(9);
        whole && near && sums() && is_swapped_whole(self.value as u64, held.value as u64)
    }

    /// Whether it has digits enough for two of them to have changed places.
    pub(super) fn may_be_swapped(self) -> bool {
        self.places == 0 && self.value >= 1_000.0
    }

    fn digits(self) -> String {
        let places = usize::try_from(self.places).unwrap_or(0);
        format!("{:.places$}", self.value)
    }
}

/// Whether two numbers differ in two digits that changed places, side by side or with one between.
fn is_swapped_whole(mut one: u64, mut other: u64) -> bool {
    let mut differ: [Option<(u32, u64, u64)>; 2] = [None; 2];
    let mut place = 0;
    while one > 0 || other > 0 {
        let (a, b) = (one % 10, other % 10);
        if a != b {
            let Some(slot) = differ.iter_mut().find(|slot| slot.is_none()) else { return false };
            *slot = Some((place, a, b));
        }
        (one, other, place) = (one / 10, other / 10, place + 1);
    }
    matches!(differ, [Some((low, a, b)), Some((high, c, d))] if a == d && b == c && high - low <= 2)
}

/// How two numbers of one length differ.
struct Changed {
    digits: usize,
    /// Two that stand side by side, or with one between, changed places.
    swapped: bool,
}

fn changes(a: String, b: String) -> Option<Changed> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let differ: Vec<usize> = (0..a.len()).filter(|at| a.get(*at) != b.get(*at)).collect();
    let swapped = match differ[..] {
        [one, other] => {
            a.get(one) == b.get(other) && a.get(other) == b.get(one) && other - one <= 2
        }
        _ => false,
    };
    let long = a.len() == b.len() && a.len() >= 2;
    long.then_some(Changed { digits: differ.len(), swapped })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Quantity {
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        let mut quantity = Quantity::parse(number).unwrap();
        quantity.unit = quantity.unit.or(Unit::of(unit));
        quantity
    }

    #[test]
    fn one_quantity_in_two_forms() {
        for (said, held, same) in [
            ("71%", "71.4 percent", true),
            ("17.4%", "71.4 percent", false),
            ("0.184 s", "184 ms", true),
            ("184 s", "184 ms", false),
            ("6 GB", "6144 mb", true),
            ("8 GB", "6144 mb", false),
            ("2.3%", "0.023", true),
            ("23%", "0.023", false),
            ("1,400", "1415.55", true),
            ("1,450", "1415.55", false),
            ("2 years", "24 months", true),
            ("1.98 kg", "980 g", false),
            ("52", "11", true),
            ("8.4", "8412", true),
            ("1,416", "1415.55", true),
        ] {
            assert_eq!(quantity(said).agrees(quantity(held)), same, "{said} {held}");
        }
    }

    #[test]
    fn misquoted_numbers() {
        for (said, held, misquoted) in [
            ("17.4", "71.4", true),
            ("8421", "8412", true),
            ("58", "85", true),
            ("43", "34", true),
            ("5", "6", false),
            ("1200", "34", false),
            ("151.20", "115.2", false),
            ("42.50", "4.25", true),
            ("23%", "0.023", true),
            ("32 kg", "3.2 kg", true),
        ] {
            assert_eq!(quantity(said).is_misquoted(quantity(held)), misquoted, "{said} {held}");
        }
    }
}
