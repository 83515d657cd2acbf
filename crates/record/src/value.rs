//! Values in a text: numbers, dates, times, ids, paths, addresses, names.

mod date;
mod token;

use crate::decimal::Decimal;
use token::Token;

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// A number; its key is the exact decimal.
    Number,
    /// A day: `2026-02-11`, or `--02-11` without a year.
    Date,
    /// A time of day: `14:30`.
    Time,
    /// An identifier with letters and digits, a version, a hash.
    Id,
    /// A file or a folder.
    Path,
    /// An e-mail address.
    Email,
    /// A URL.
    Url,
    /// A name as used in code: `read_handbook`, `listOrders`.
    Name,
}

impl ValueKind {
    /// The display name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Date => "date",
            Self::Time => "time",
            Self::Id => "id",
            Self::Path => "path",
            Self::Email => "address",
            Self::Url => "URL",
            Self::Name => "name",
        }
    }
}

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its kind.
    pub kind: ValueKind,
    /// Its normal form; equal values have equal keys.
    pub key: String,
    /// Offset of the first byte of the value in the text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// A second number that the text may mean: `52.900` is 52.9, or 52900 if the dot separates
    /// thousands; `12%` is 12 or 0.12.
    other: Option<Decimal>,
}

impl Value {
    pub(crate) fn new(kind: ValueKind, key: impl Into<String>, token: Token<'_>) -> Self {
        let end = token.start + token.text.len();
        Self { kind, key: key.into(), start: token.start, end, other: None }
    }

    /// Whether both values may mean the same: equal keys, one number rounded from the other, a day
    /// without its year, a path relative to another folder, a shortened hash.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        let (a, b) = (self.key.as_str(), other.key.as_str());
        if a == b {
            return true;
        }
        match self.kind {
            ValueKind::Number => {
                self.numbers().any(|x| other.numbers().any(|y| x.is_rounding_of(y)))
            }
            ValueKind::Date => {
                let yearless = a.starts_with("--") || b.starts_with("--");
                yearless && a.rsplit('-').take(2).eq(b.rsplit('-').take(2))
            }
            ValueKind::Id => {
                let short = a.len().min(b.len());
                short >= 7 && (a.starts_with(b) || b.starts_with(a))
            }
            ValueKind::Path => {
                let ends = |long: &str, short: &str| {
                    long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'))
                };
                ends(a, b) || ends(b, a)
            }
            // `2:30` may be in the afternoon.
            ValueKind::Time => {
                let hour = |key: &str| key.get(..2)?.parse::<u8>().ok();
                let apart = hour(a).zip(hour(b)).map(|(x, y)| x.abs_diff(y));
                a.get(2..) == b.get(2..) && apart == Some(12)
            }
            _ => false,
        }
    }

    /// The numbers that the value may mean.
    fn numbers(&self) -> impl Iterator<Item = Decimal> {
        Decimal::parse(&self.key).into_iter().chain(self.other)
    }

    /// The value as an integer, if it is one.
    #[must_use]
    pub fn to_whole(&self) -> Option<u64> {
        let number = Decimal::parse(&self.key).filter(|_| self.kind == ValueKind::Number);
        number.and_then(Decimal::to_whole)
    }
}

/// The values of a text, in order.
#[must_use]
pub fn values(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    each_value(text, |value| found.push(value));
    found
}

/// Calls `push` with each value of a text, in order.
pub(crate) fn each_value(text: &str, mut push: impl FnMut(Value)) {
    let mut window = date::Window::default();
    token::each(text, |token| {
        if let Some(value) = window.read(token) {
            push(value);
        }
        classify(token, &mut push);
    });
}

type Reader = fn(Token<'_>) -> Option<Value>;

/// Readers for each form of value, in the order in which they are tried.
const FORMS: [Reader; 8] = [url, email, date::iso, date::time, number, path, identifier, name];

fn classify(token: Token<'_>, push: &mut impl FnMut(Value)) {
    if let Some(value) = FORMS.iter().find_map(|form| form(token)) {
        return push(value);
    }
    // The parts of `key:value`, `34-38` or `2026-02-11T10:00` may be values.
    if let Some((first, second)) = token.halves() {
        classify(first, push);
        classify(second, push);
    }
}

fn url(token: Token<'_>) -> Option<Value> {
    let (scheme, rest) = token.text.split_once("://")?;
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, tail) = rest.split_at_checked(host_end)?;
    let known = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric());
    let key = format!("{}://{}{}", scheme.to_lowercase(), host.to_lowercase(), tail);
    let key = key.trim_end_matches('/');
    (known && !host.is_empty()).then(|| Value::new(ValueKind::Url, key, token))
}

fn email(token: Token<'_>) -> Option<Value> {
    let (local, domain) = token.text.split_once('@')?;
    let plain = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
    let is_domain = domain.contains('.') && !domain.ends_with('.') && !domain.starts_with('.');
    let fits = !local.is_empty() && local.chars().all(plain) && domain.chars().all(plain);
    (fits && is_domain).then(|| Value::new(ValueKind::Email, token.text.to_lowercase(), token))
}

/// Suffixes that may follow a number without a space and stand for a power of ten.
const POWERS: [(&str, i32); 3] = [("k", 3), ("K", 3), ("M", 6)];

/// Units that may follow a number without a space.
const UNITS: [&str; 19] = [
    "", "%", "m", "s", "ms", "h", "x", "GB", "MB", "KB", "kB", "kg", "km", "cm", "mm", "€", "$",
    "£", "°C",
];

fn number(token: Token<'_>) -> Option<Value> {
    let bare = token.text.trim_start_matches(['$', '€', '£', '¥', '~', '≈', '±']);
    let (sign, bare) = match bare.strip_prefix(['-', '−']) {
        Some(rest) => ("-", rest.trim_start_matches(['$', '€', '£'])),
        None => ("", bare.strip_prefix('+').unwrap_or(bare)),
    };
    let end = bare.find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.'));
    let (digits, suffix) = bare.split_at_checked(end.unwrap_or(bare.len()))?;
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let power = POWERS.iter().find(|(known, _)| *known == suffix).map(|(_, power)| *power);
    let power = power.or(UNITS.contains(&suffix).then_some(0))?;
    let read = Decimal::parse(&format!("{sign}{digits}"))?;
    let main = read.shifted(power)?;
    let other = match suffix {
        "%" => read.shifted(-2),
        _ => thousands(digits).and_then(|digits| Decimal::parse(&digits)),
    };
    Some(Value { other, ..Value::new(ValueKind::Number, main.to_string(), token) })
}

/// Reads the dot of `52.900` as a thousands separator.
fn thousands(digits: &str) -> Option<String> {
    let (whole, part) = digits.split_once('.')?;
    let grouped = (1..=3).contains(&whole.len()) && part.len() == 3 && whole != "0";
    grouped.then(|| format!("{whole}{part}"))
}

fn path(token: Token<'_>) -> Option<Value> {
    let text = token.text;
    // `src/lib.rs:42:7`
    let place = text.find(':').filter(|at| text.get(at + 1..).is_some_and(begins_with_digit));
    let file = text.get(..place.unwrap_or(text.len()))?.trim_end_matches('/');
    let rooted = ["/", "./", "../", "~/"].iter().any(|root| text.starts_with(root));
    let slashes = file.matches(['/', '\\']).count();
    let letters = file.chars().any(char::is_alphabetic);
    let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let whole = letters
        && !file.contains(['=', '?', ','])
        && (has_extension(last) || (slashes > 0 && (rooted || slashes > 1 || text.ends_with('/'))));
    let key = file.strip_prefix("./").unwrap_or(file).replace('\\', "/");
    (whole && !key.is_empty()).then(|| Value::new(ValueKind::Path, key, token))
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a name has a file extension: `lib.rs`, `.env`. A bare domain has none, nor does `e.g`.
fn has_extension(name: &str) -> bool {
    const DOMAINS: [&str; 6] = ["com", "org", "net", "io", "dev", "co"];
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let letters = extension.bytes().any(|b| b.is_ascii_lowercase());
    let short = (1..=10).contains(&extension.len());
    let plain = extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let abbreviation = stem.len() <= 1 && extension.len() <= 1;
    let begins = extension.starts_with(|c: char| c.is_ascii_alphabetic());
    short
        && plain
        && letters
        && begins
        && !abbreviation
        && !DOMAINS.contains(&extension)
        && !stem.ends_with('.')
}

fn identifier(token: Token<'_>) -> Option<Value> {
    let text = token.text.trim_start_matches('#');
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let digit = text.bytes().any(|b| b.is_ascii_digit());
    let letter = text.bytes().any(|b| b.is_ascii_alphabetic());
    // `1.2.3`, `555-01-99`
    let parted = text.matches(['.', '-']).count() > 1;
    let whole = text.len() >= 2 && digit && (letter || parted) && text.chars().all(plain);
    whole.then(|| Value::new(ValueKind::Id, text.to_lowercase(), token))
}

fn name(token: Token<'_>) -> Option<Value> {
    let text = token.text.trim_end_matches("()");
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    let snake = text.trim_matches('_').contains('_');
    let mut pairs = text.as_bytes().array_windows();
    let camel = pairs.any(|[a, b]| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let whole = text.len() > 2 && text.bytes().all(plain) && (snake || camel);
    whole.then(|| Value::new(ValueKind::Name, text.to_lowercase(), token))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let found = values(text);
        let one = |value: &Value| {
            assert!(text.get(value.start..value.end).is_some(), "{text}");
            format!("{} {}", value.kind.name(), value.key)
        };
        found.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn values_are_found() {
        for (text, expected) in [
            ("It costs $1,234.50, or 12%.", "number 1234.5; number 12"),
            ("[100,200,300]", "number 100; number 200; number 300"),
            (r#"{"amount":38400,"id":"p64"}"#, "number 38400; id p64"),
            ("the range 34–38 and 34-38", "number 34; number 38; number 34; number 38"),
            ("order #W2611 at 14:30", "id w2611; time 14:30"),
            ("at 2:30 pm", "time 02:30"),
            ("on 2026-02-11T10:00:00Z", "date 2026-02-11; time 10:00"),
            ("on 11 February 2026", "number 11; date --02-11; date 2026-02-11; number 2026"),
            ("March 4th", "date --03-04; id 4th"),
            ("edited src/lib.rs:42 and ./a/b/", "path src/lib.rs; path a/b"),
            ("and/or, e.g. this. U.S.", ""),
            ("mail Bob.Smith@Example.com.", "address bob.smith@example.com"),
            ("see https://Example.com/Path/ now", "URL https://example.com/Path"),
            ("`read_handbook` and listOrders()", "name read_handbook; name listorders"),
            ("fixed in a1b2c3d, v1.2.3", "id a1b2c3d; id v1.2.3"),
            ("version 1.2.3", "id 1.2.3"),
            (r#"{"a":"x\n7\tb.txt"}"#, "number 7; path b.txt"),
            ("--count=5 -7 a-b", "number 5; number -7"),
            ("took 12ms, 5k rows", "number 12; number 5000"),
            ("12:30:45", "time 12:30"),
            ("example.com", ""),
            ("…—“5”", "number 5"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn values_are_compared() {
        for (a, b, expected) in [
            ("52,900", "52900", true),
            ("52.900", "52900", true),
            ("12%", "0.12", true),
            ("3.5", "3.46", true),
            ("4", "5", false),
            ("2026-02-11", "11 February", true),
            ("2026-02-11", "2025-02-11", false),
            ("src/lib.rs", "/repo/src/lib.rs", true),
            ("lib.rs", "mylib.rs", false),
            ("a1b2c3d", "a1b2c3d4e5f6", true),
            ("2:30", "14:30", true),
            ("W1", "W12", false),
        ] {
            let (x, y) = (values(a), values(b));
            let same = x.iter().any(|x| y.iter().any(|y| x.same(y)));
            assert_eq!(same, expected, "{a} {b}");
        }
    }
}
