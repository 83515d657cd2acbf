use std::fmt;

/// An exact decimal number of at most 30 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    // INVARIANT: no trailing zero in `mantissa` while `scale` is above 0, so equal numbers are
    // equal values.
    mantissa: i128,
    scale: u32,
}

const MOST_DIGITS: usize = 30;

impl Decimal {
    /// Reads a number made of a sign, digits, commas and dots. A comma or a dot before groups of
    /// three digits is a thousands separator if the number has both kinds of marks, or only commas.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, body) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let mark = decimal_mark(body)?;
        let (whole, part) = match mark {
            Some(at) => (body.get(..at)?, body.get(at + 1..)?),
            None => (body, ""),
        };
        let digits = whole.chars().chain(part.chars()).filter(char::is_ascii_digit);
        let mut mantissa: i128 = 0;
        let mut count = 0;
        for digit in digits {
            count += 1;
            mantissa = mantissa * 10 + i128::from(digit.to_digit(10)?);
            if count > MOST_DIGITS {
                return None;
            }
        }
        let signed = if negative { -mantissa } else { mantissa };
        (count > 0).then(|| Self::new(signed, u32::try_from(part.len()).unwrap_or(0)))
    }

    fn new(mut mantissa: i128, mut scale: u32) -> Self {
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        Self { mantissa, scale }
    }

    /// Multiplies by ten to the power of `places`; `None` on overflow.
    #[must_use]
    pub fn shifted(self, places: i32) -> Option<Self> {
        if places < 0 {
            return Some(Self::new(self.mantissa, self.scale + places.unsigned_abs()));
        }
        let places = places.unsigned_abs();
        let used = places.min(self.scale);
        let mantissa = self.mantissa.checked_mul(10_i128.checked_pow(places - used)?)?;
        Some(Self::new(mantissa, self.scale - used))
    }

    /// The value as an integer; `None` if it has decimals or is out of range.
    #[must_use]
    pub fn to_whole(self) -> Option<u64> {
        u64::try_from(self.mantissa).ok().filter(|_| self.scale == 0)
    }

    /// Whether one number is the other rounded to fewer decimals, up or down.
    #[must_use]
    pub fn is_rounding_of(self, other: Self) -> bool {
        let (rough, fine) = if self.scale <= other.scale { (self, other) } else { (other, self) };
        let Some(unit) = 10_i128.checked_pow(fine.scale - rough.scale) else { return false };
        let Some(rough) = rough.mantissa.checked_mul(unit) else { return false };
        rough.checked_sub(fine.mantissa).is_some_and(|apart| apart.abs() < unit)
    }
}

/// The position of the decimal mark; `Some(None)` if there is none, `None` if the text is not a
/// number.
fn decimal_mark(body: &str) -> Option<Option<usize>> {
    let bytes = body.as_bytes();
    if !bytes.iter().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.')) {
        return None;
    }
    let (comma, dot) = (body.rfind(','), body.rfind('.'));
    let dots = bytes.iter().filter(|b| **b == b'.').count();
    let commas = bytes.iter().filter(|b| **b == b',').count();
    match (comma, dot) {
        (None, None) => Some(None),
        (None, Some(dot)) => (dots == 1).then_some(Some(dot)),
        (Some(_), None) if is_grouped(body, ',') => Some(None),
        (Some(comma), None) => (commas == 1).then_some(Some(comma)),
        (Some(comma), Some(dot)) => {
            let (last, mark) = if comma > dot { (comma, '.') } else { (dot, ',') };
            let single = if mark == ',' { dots == 1 } else { commas == 1 };
            (single && is_grouped(body.get(..last)?, mark)).then_some(Some(last))
        }
    }
}

/// Whether marks separate groups of three digits: `1,234,567`.
fn is_grouped(body: &str, mark: char) -> bool {
    let mut groups = body.split(mark);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && first != "0" && groups.all(|group| group.len() == 3)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let digits = self.mantissa.unsigned_abs().to_string();
        let scale = self.scale as usize;
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, part) = padded.split_at_checked(padded.len() - scale).unwrap_or((&padded, ""));
        match part {
            "" => write!(f, "{sign}{whole}"),
            part => write!(f, "{sign}{whole}.{part}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        for (text, expected) in [
            ("0", "0"),
            ("52,900", "52900"),
            ("1,234.50", "1234.5"),
            ("1.234,50", "1234.5"),
            ("3,5", "3.5"),
            ("3.50", "3.5"),
            ("-7", "-7"),
            ("+7", "7"),
            ("007", "7"),
            ("0.05", "0.05"),
            ("-0.5", "-0.5"),
            ("1.2.3", ""),
            ("1,2,3", ""),
            ("1,234,567", "1234567"),
            ("12a", ""),
            ("", ""),
            (".", ""),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1234567890123456789012345678901", ""),
        ] {
            let read = Decimal::parse(text).map(|number| number.to_string());
            assert_eq!(read.unwrap_or_default(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared() {
        let read = |text| Decimal::parse(text).unwrap();
        for (a, b, expected) in [
            ("3.5", "3.4567", true),
            ("3.4", "3.4567", true),
            ("3", "2.6", true),
            ("3", "4", false),
            ("3.5", "3.61", false),
            ("52900", "38400", false),
        ] {
            assert_eq!(read(a).is_rounding_of(read(b)), expected, "{a} {b}");
        }
        assert_eq!(read("1.5").shifted(3), Some(read("1500")));
        assert_eq!(read("12").shifted(-2), Some(read("0.12")));
        assert_eq!(read("12").to_whole(), Some(12));
        assert_eq!(read("1.2").to_whole(), None);
    }
}
