//! Canonical JSON: one text for each value. `spec/canonical-form.md` defines it and has test
//! vectors.

mod decimal;
mod scanner;

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

use crate::json::{JsonError, JsonLimits};

pub(crate) use decimal::canonical_number;
pub(crate) use scanner::numbers_of;

/// The version of the canonical form. Events, receipts and bundles record it as their version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CanonicalForm {
    /// Form 1, RFC 8785: numbers are rounded to doubles. Read, but no longer written.
    Rfc8785,
    /// Form 2: RFC 8785, except that numbers keep all their digits.
    Exact,
}

impl CanonicalForm {
    /// The form in which everything is written.
    pub const WRITTEN: Self = Self::Exact;

    /// The form with this version.
    #[must_use]
    pub fn of_version(version: u32) -> Option<Self> {
        [Self::Rfc8785, Self::Exact].into_iter().find(|form| form.version() == version)
    }

    /// The version.
    #[must_use]
    pub const fn version(self) -> u32 {
        match self {
            Self::Rfc8785 => 1,
            Self::Exact => 2,
        }
    }
}

/// The canonical bytes of a JSON text: members sorted by UTF-16 code units, numbers in the given
/// form, no white space.
///
/// `1`, `1.0` and `1e0` have the same bytes; key order and spacing do not matter.
///
/// # Errors
/// When the text is not exactly one JSON value, repeats a member, exceeds the limits for size or
/// depth, or has a number too large for a double.
pub fn canonical_text(
    text: &str,
    form: CanonicalForm,
    limits: JsonLimits,
) -> Result<Vec<u8>, JsonError> {
    limits.admit(text)?;
    scanner::canonical(text, form, limits.depth)
}

/// The canonical bytes of a JSON value, in form 2. Digits that the value has lost are missing here
/// too; arguments are therefore read as [`ExactValue`](crate::ExactValue).
#[must_use]
pub fn canonical_bytes(value: &Value) -> Vec<u8> {
    let written = scanner::canonical(&value.to_string(), CanonicalForm::WRITTEN, usize::MAX);
    // A value can always be written, and has neither repeated members nor numbers that are too
    // large.
    debug_assert!(written.is_ok());
    written.unwrap_or_default()
}

/// The canonical bytes of a serialisable value, in form 2.
///
/// # Errors
/// When it cannot be serialised as JSON, or repeats a member.
pub fn canonical_bytes_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    scanner::canonical(&text, CanonicalForm::WRITTEN, usize::MAX)
        .map_err(<serde_json::Error as serde::ser::Error>::custom)
}

/// The order of members.
fn by_utf16(a: &str, b: &str) -> Ordering {
    // UTF-16 code units and UTF-8 bytes order differently only for characters from U+E000 on.
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if x < 0xee && y < 0xee => x.cmp(&y),
        Some(_) => a.encode_utf16().cmp(b.encode_utf16()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Digest;

    const LIMITS: JsonLimits = JsonLimits { depth: 64, bytes: 1 << 20 };

    fn canonical(text: &str, form: CanonicalForm) -> Result<String, JsonError> {
        canonical_text(text, form, LIMITS).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// The test vectors in `spec/canonical-form.md`: input, form 1, form 2.
    #[expect(clippy::disallowed_methods, reason = "the vectors are a page")]
    fn vectors() -> Vec<[String; 3]> {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/canonical-form.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows = page.lines().filter_map(|line| {
            let cells = line.strip_prefix("| `")?.strip_suffix("` |")?;
            cells.split("` | `").map(str::to_owned).collect::<Vec<_>>().try_into().ok()
        });
        rows.collect()
    }

    #[test]
    fn both_forms_are_as_their_vectors_say() {
        let vectors = vectors();
        assert!(vectors.len() > 40, "{} vectors", vectors.len());
        for [written, first, second] in vectors {
            for (form, expected) in
                [(CanonicalForm::Rfc8785, &first), (CanonicalForm::Exact, &second)]
            {
                match canonical(&written, form) {
                    Ok(found) => assert_eq!(found, *expected, "{written} in {form:?}"),
                    Err(_) => assert_eq!(expected, "refused", "{written} in {form:?}"),
                }
            }
        }
    }

    #[test]
    fn what_is_no_json_value_has_no_canonical_bytes() {
        for text in [
            "",
            " ",
            "01",
            "+1",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "0x1",
            "NaN",
            "Infinity",
            "1 2",
            "[1,]",
            "[1",
            "[,1]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "tru",
            "nulll",
            "\"a",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\u{1}\"",
            "{\"a\":1,\"\\u0061\":2}",
            "\u{feff}1",
            "1\u{a0}",
        ] {
            assert!(canonical(text, CanonicalForm::Exact).is_err(), "{text}");
            let serde = serde_json::from_str::<Value>(text);
            assert!(serde.is_err() || text.contains("\\u0061"), "{text}: as serde_json has it");
        }
        let deep = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(canonical(&deep(64), CanonicalForm::Exact).is_ok());
        assert!(canonical(&deep(65), CanonicalForm::Exact).is_err());
    }

    #[test]
    fn members_are_sorted_and_bytes_do_not_depend_on_the_source() {
        let text = "{ \"\u{20ac}\": 1.0, \"\\r\": 2, \"1\": [true, null], \"\u{1f600}\": \"\\u000f\\n\",\t\"\\ud83d\\ude01\": {} }";
        let written = canonical(text, CanonicalForm::Exact).unwrap();
        assert_eq!(
            written,
            "{\"\\r\":2,\"1\":[true,null],\"\u{20ac}\":1,\"\u{1f600}\":\"\\u000f\\n\",\"\u{1f601}\":{}}"
        );
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(Digest::of_json(&value), Digest::of_bytes(written.as_bytes()));
    }

    #[test]
    fn what_serde_can_write_has_the_bytes_of_its_value() {
        #[derive(Serialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        enum Tagged {
            Whole { z: f64, map: std::collections::BTreeMap<&'static str, Option<u8>> },
            Part { z: Option<i8>, a: (u64, i64, char) },
        }
        let map = [("b", None), ("a", Some(1)), ("\u{fffd}", None), ("\u{10000}", None)].into();
        let cases = [
            (
                Tagged::Whole { z: f64::NAN, map },
                "{\"kind\":\"whole\",\"map\":{\"a\":1,\"b\":null,\"\u{10000}\":null,\"\u{fffd}\":null},\"z\":null}",
            ),
            (
                Tagged::Part { z: None, a: (u64::MAX, i64::MIN, '\u{e9}') },
                "{\"a\":[18446744073709551615,-9223372036854775808,\"\u{e9}\"],\"kind\":\"part\",\"z\":null}",
            ),
        ];
        for (case, expected) in cases {
            assert_eq!(String::from_utf8(canonical_bytes_of(&case).unwrap()).unwrap(), expected);
            let value = serde_json::to_value(&case).unwrap();
            assert_eq!(String::from_utf8(canonical_bytes(&value)).unwrap(), expected);
        }
    }

    /// A number as its sign, its digits and the power of ten of the last digit, to be written in
    /// several ways.
    fn numbers() -> impl Strategy<Value = (bool, String, i32)> {
        (any::<bool>(), "[0-9]{1,25}", -30..30_i32)
    }

    /// The number with its decimal point at some place, and the matching exponent.
    fn spelled((negative, digits, power): &(bool, String, i32), at: usize, upper: bool) -> String {
        let (sign, e) = (if *negative { "-" } else { "" }, if upper { "E" } else { "e" });
        let digits = format!("{digits}00");
        let (whole, rest) = digits.split_at(1 + at % (digits.len() - 1));
        let whole = whole.trim_start_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole };
        let power = power - 2 + i32::try_from(rest.len()).unwrap();
        format!("{sign}{whole}.{rest}{e}{power}")
    }

    /// The value of a number: its sign, its digits without surrounding zeros, and the place of the
    /// point.
    fn value_of((negative, digits, power): &(bool, String, i32)) -> (bool, String, i32) {
        let bare = digits.trim_end_matches('0');
        let power = power + i32::try_from(digits.len() - bare.len()).unwrap();
        match bare.trim_start_matches('0') {
            "" => (false, String::new(), 0),
            bare => (*negative, bare.to_owned(), power),
        }
    }

    proptest! {
        #[test]
        fn the_exact_form_is_one_text_for_one_number(
            a in numbers(), b in numbers(), at in 0..30_usize, upper in any::<bool>()
        ) {
            let exact = |text: &str| canonical(text, CanonicalForm::Exact).unwrap();
            let (one, other) = (exact(&spelled(&a, at, upper)), exact(&spelled(&a, at / 2, !upper)));
            prop_assert_eq!(&one, &other, "however it is written");
            prop_assert_eq!(&exact(&one), &one, "the canonical text of it is itself");
            let near = (a.0, a.1.clone(), a.2 + 1);
            let mut digit = a.clone();
            digit.1.push('1');
            digit.2 -= 1;
            for number in [&b, &near, &digit] {
                let same = value_of(number) == value_of(&a);
                prop_assert_eq!(exact(&spelled(number, at, upper)) == one, same, "{}", one);
            }
        }

        #[test]
        fn the_text_of_a_double_is_that_double_in_both_forms(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let text = serde_json::to_string(&number).unwrap();
            let [first, second] = [CanonicalForm::Rfc8785, CanonicalForm::Exact]
                .map(|form| canonical(&text, form).unwrap());
            // If two shortest texts are equally near, form 1 may have either.
            prop_assert_eq!(first.parse::<f64>().unwrap(), number);
            prop_assert_eq!(second.parse::<f64>().unwrap(), number);
        }

        #[test]
        fn a_canonical_text_is_its_own(text in "[\\[\\]{}:,\"a1e. \\-]{0,12}") {
            for form in [CanonicalForm::Rfc8785, CanonicalForm::Exact] {
                let Ok(written) = canonical(&text, form) else { continue };
                prop_assert_eq!(canonical(&written, form).unwrap(), written.clone());
                prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
            }
        }
    }

    #[test]
    fn a_value_shows_all_that_it_knows() {
        for (value, text) in [
            (json!(1_234_567_890_123_456_789_u64), "1234567890123456789"),
            (json!(u64::MAX), "18446744073709551615"),
            (json!(i64::MIN), "-9223372036854775808"),
            (json!(1e21), "1e+21"),
            (json!(-0.0), "0"),
        ] {
            assert_eq!(String::from_utf8(canonical_bytes(&value)).unwrap(), text);
        }
    }
}
