/// A written number, in hundredths: `$1,234.50` and `1234.5` are the same figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Figure(pub(crate) i64);

/// Calls `found` with every number in a text that is not part of a word or an id.
pub(crate) fn each_figure(text: &str, found: impl FnMut(Figure)) {
    each_between(text.as_bytes(), 0, text.len(), found);
}

/// Calls `found` with every number between two positions, neither of which may be inside a number.
fn each_between(bytes: &[u8], from: usize, until: usize, mut found: impl FnMut(Figure)) {
    let mut at = from;
    let digit = |at: usize| {
        let rest = bytes.get(at..until)?;
        rest.iter().position(u8::is_ascii_digit).map(|offset| at + offset)
    };
    while let Some(here) = digit(at) {
        at = here;
        let before = at.checked_sub(1).and_then(|i| bytes.get(i)).copied().unwrap_or(b' ');
        let escaped = at >= 2 && bytes.get(at - 2) == Some(&b'\\');
        let inside = (before.is_ascii_alphabetic() && !escaped) || matches!(before, b'_' | b'#');
        match read(bytes, at) {
            Some((figure, end)) => {
                if !inside {
                    found(figure);
                }
                at = end;
            }
            None => at += bytes.iter().skip(at).take_while(|b| b.is_ascii_digit()).count().max(1),
        }
    }
}

/// The number that begins at a digit, rounded to hundredths, and where it ends; `None` if it is too
/// long.
fn read(bytes: &[u8], at: usize) -> Option<(Figure, usize)> {
    let digit = |i: usize| bytes.get(i).filter(|b| b.is_ascii_digit()).map(|b| i64::from(b - b'0'));
    let mut whole = digit(at)?;
    let mut end = at + 1;
    loop {
        if let Some(next) = digit(end) {
            whole = whole.checked_mul(10)?.checked_add(next)?;
            end += 1;
        } else if bytes.get(end) == Some(&b',')
            && (end + 1..end + 4).all(|i| digit(i).is_some())
            && digit(end + 4).is_none()
        {
            end += 1;
        } else {
            break;
        }
    }
    let mut hundredths = whole.checked_mul(100)?;
    if bytes.get(end) == Some(&b'.') && digit(end + 1).is_some() {
        let place = |n: usize| digit(end + n).filter(|_| (1..n).all(|i| digit(end + i).is_some()));
        hundredths += place(1).unwrap_or(0) * 10 + place(2).unwrap_or(0);
        hundredths += i64::from(place(3).is_some_and(|third| third >= 5));
        end += 1 + bytes.iter().skip(end + 1).take_while(|b| b.is_ascii_digit()).count();
    }
    Some((Figure(hundredths), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_text() {
        let check = |text: &str, expected: &[i64]| {
            let mut found = Vec::new();
            each_figure(text, |figure| found.push(figure.0));
            assert_eq!(found, expected, "{text}");
        };
        check(r#"{"price": 156.35999999999967, "n": 3}"#, &[15_636, 300]);
        check("W123, #77, a_5 and 1,000,000", &[100_000_000]);
        check("1,2,3", &[100, 200, 300]);
        check("12,3456", &[1_200, 345_600]);
        check("99999999999999999999 7", &[700]);
        check(r"a\n42", &[4_200]);
        check("v1.2.3", &[300]);
        check("41.999 41.99 0.999", &[4_200, 4_199, 100]);
        check("1,234,567.5 in all; 1234 and 12345,678", &[123_456_750, 123_400, 1_234_567_800]);
        check("5 15.5 55,555", &[500, 1_550, 5_555_500]);
    }
}
