//! Numbers as decimal digits.

use super::CanonicalForm;

/// A number: its digits without surrounding zeros, and the number of digits before the decimal
/// point. Zero has no digits.
struct Decimal {
    negative: bool,
    digits: String,
    point: i64,
}

/// The maximum number of digits in the shortest text of a double.
const LONGEST_OF_DOUBLE: usize = 17;

/// Integers with at most this many digits are exact as doubles, and are copied unchanged.
const ALWAYS_EXACT: usize = 15;

/// Appends the canonical text of a JSON number to `out`. `None` if it is too large for a double, or
/// its exponent has more than nine digits.
pub(crate) fn canonical_number(number: &str, form: CanonicalForm, out: &mut Vec<u8>) -> Option<()> {
    let plain = number.strip_prefix('-').unwrap_or(number);
    let short = plain.len() <= ALWAYS_EXACT && plain.bytes().all(|byte| byte.is_ascii_digit());
    if short && number != "-0" {
        out.extend_from_slice(number.as_bytes());
        return Some(());
    }
    let double: f64 = number.parse().ok().filter(|double: &f64| double.is_finite())?;
    let exact = Decimal::read(number)?;
    match form {
        // The shortest digits that parse as the same double.
        CanonicalForm::Rfc8785 => Decimal::read(&format!("{double:e}"))?.write(out),
        CanonicalForm::Exact => exact.write(out),
    }
    Some(())
}

impl Decimal {
    fn read(number: &str) -> Option<Self> {
        let (negative, number) = match number.strip_prefix('-') {
            Some(number) => (true, number),
            None => (false, number),
        };
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let digits = all.trim_start_matches('0');
        let zeros = i64::try_from(all.len() - digits.len()).ok()?;
        let point = i64::try_from(whole.len()).ok()? - zeros + exponent_of(exponent)?;
        Some(Self { negative, digits: digits.trim_end_matches('0').to_owned(), point })
    }

    /// Formats the digits like ECMAScript's `Number::toString`, except that integers with more
    /// digits than a double has are written out in full.
    fn write(&self, out: &mut Vec<u8>) {
        let Self { negative, digits, point } = self;
        if digits.is_empty() {
            return out.push(b'0');
        }
        if *negative {
            out.push(b'-');
        }
        let count = digits.len();
        let zeros = |n: i64| std::iter::repeat_n(b'0', usize::try_from(n).unwrap_or(0));
        let before = usize::try_from(*point).unwrap_or(0);
        if *point > 0 && (*point <= 21 || count > LONGEST_OF_DOUBLE) {
            match digits.split_at_checked(before).filter(|(_, rest)| !rest.is_empty()) {
                Some((whole, rest)) => {
                    out.extend_from_slice(whole.as_bytes());
                    out.push(b'.');
                    out.extend_from_slice(rest.as_bytes());
                }
                None => {
                    out.extend_from_slice(digits.as_bytes());
                    out.extend(std::iter::repeat_n(b'0', before.saturating_sub(count)));
                }
            }
        } else if (-5..=0).contains(point) {
            out.extend_from_slice(b"0.");
            out.extend(zeros(-point));
            out.extend_from_slice(digits.as_bytes());
        } else {
            let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
            out.extend_from_slice(first.as_bytes());
            if !rest.is_empty() {
                out.push(b'.');
                out.extend_from_slice(rest.as_bytes());
            }
            out.extend_from_slice(format!("e{:+}", point - 1).as_bytes());
        }
    }
}

fn exponent_of(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_start_matches('0');
    if digits.len() > 9 {
        return None;
    }
    let exponent: i64 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(if negative { -exponent } else { exponent })
}
