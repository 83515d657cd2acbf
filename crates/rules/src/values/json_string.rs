/// The position of the quotation mark that closes a JSON string whose content begins at `at`.
pub(crate) fn end_of_string(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = text.get(at..)?;
        at += match rest.first_chunk::<8>() {
            Some(eight) => match first_mark(*eight) {
                Some(len) => len,
                None => {
                    at += 8;
                    continue;
                }
            },
            None => rest.iter().position(|b| matches!(b, b'"' | b'\\'))?,
        };
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// The first quotation mark or backslash in eight bytes. Optimised, because results have many
/// strings and most are short.
fn first_mark(eight: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(eight);
    // A byte equal to the mark becomes zero, and only a zero byte causes a borrow.
    let zeros = |mark: u8| {
        let differ = word ^ (ONES * u64::from(mark));
        differ.wrapping_sub(ONES) & !differ & HIGH
    };
    let marks = zeros(b'"') | zeros(b'\\');
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::end_of_string;

    #[test]
    fn ends_of_strings() {
        for (text, expected) in [
            ("", None),
            ("\"", Some(0)),
            ("abc\"d", Some(3)),
            ("0123456789abcdef\" and more text", Some(16)),
            ("no end of it at all", None),
            ("a\\\"b\"", Some(4)),
            ("0123456\\\"9\"", Some(10)),
            ("01234567890123\\\\\"", Some(16)),
            ("ends in\\", None),
            ("#!\u{a2}\u{a3}###########\"", Some(17)),
        ] {
            assert_eq!(end_of_string(text.as_bytes(), 0), expected, "{text}");
        }
    }
}
