use counterfoil_model::Span;
use serde_json::{Map, Number, Value};

/// An object literal in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal {
    /// Its span, including the braces.
    pub(crate) span: Span,
    /// Its members.
    pub(crate) members: Map<String, Value>,
}

/// The maximum nesting depth. Deeper objects are read as separate ones.
const DEEPEST: usize = 64;

/// Finds every object, JSON or Python, at any depth, for which `wanted` holds, by start.
///
/// Takes linear time: after an error, reading continues where it failed, and objects that were
/// complete by then are kept.
pub(crate) fn objects(text: &str, wanted: fn(&Map<String, Value>) -> bool) -> Vec<Literal> {
    let mut reader = Reader { bytes: text.as_bytes(), text, at: 0, wanted, found: Vec::new() };
    while let Some(open) = reader.bytes.get(reader.at..).and_then(|rest| memchr::memchr(b'{', rest))
    {
        let start = reader.at + open;
        reader.at = start;
        if reader.object(0).is_none() {
            reader.at = reader.at.max(start + 1);
        }
    }
    let mut found = reader.found;
    found.sort_by_key(|literal| literal.span.start);
    found
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    wanted: fn(&Map<String, Value>) -> bool,
    found: Vec<Literal>,
}

impl Reader<'_> {
    /// Reads an object. On `None`, `at` is where reading failed.
    fn object(&mut self, depth: usize) -> Option<Value> {
        let start = self.at;
        self.expect(b'{')?;
        let mut members = Map::new();
        loop {
            self.skip_elision();
            if self.expect(b'}').is_some() {
                break;
            }
            let key = self.key()?;
            self.skip_space();
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            members.insert(key, value);
            self.skip_elision();
            if self.expect(b',').is_none() && self.peek() != Some(b'}') {
                return None;
            }
        }
        if (self.wanted)(&members) {
            let span = Span::new(start, self.at);
            self.found.push(Literal { span, members: members.clone() });
        }
        Some(Value::Object(members))
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_space();
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.items(b']', depth),
            b'(' => self.items(b')', depth),
            b'"' | b'\'' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn items(&mut self, close: u8, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.expect(close).is_some() {
                return Some(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.expect(b',').is_none() && self.peek() != Some(close) {
                return None;
            }
        }
    }

    fn key(&mut self) -> Option<String> {
        if matches!(self.peek()?, b'"' | b'\'') {
            return self.string();
        }
        let name = self.run(|b| b.is_ascii_alphanumeric() || b == b'_');
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// Reads a string in either kind of quote. It must end on its line, so that an apostrophe in
    /// running text swallows no more than that.
    fn string(&mut self) -> Option<String> {
        let quote = self.peek()?;
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            let rest = self.bytes.get(from..)?;
            let Some(stop) = memchr::memchr3(quote, b'\\', b'\n', rest) else {
                self.at = self.bytes.len();
                return None;
            };
            out.push_str(self.text.get(from..from + stop)?);
            self.at = from + stop;
            match self.peek()? {
                b'\\' => {
                    let escaped = self.text.get(self.at + 1..)?.chars().next()?;
                    self.at += 1 + escaped.len_utf8();
                    self.unescape(escaped, &mut out);
                }
                b'\n' => return None,
                _ => {
                    self.at += 1;
                    return Some(out);
                }
            }
        }
    }

    fn unescape(&mut self, escaped: char, out: &mut String) {
        match escaped {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let digits = self.text.get(self.at..self.at + 4);
                let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
                if code.is_some() {
                    self.at += 4;
                }
                out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => out.push(other),
        }
    }

    /// Reads a number, a constant, or an elision.
    fn word(&mut self) -> Option<Value> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if let Some(mark) = ["...", "…"].into_iter().find(|m| rest.starts_with(m)) {
            self.at += mark.len();
            return Some(Value::from("…"));
        }
        let start = self.at;
        let word = self.run(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
        let value = match word {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" | "undefined" | "nan" | "NaN" => Some(Value::Null),
            _ => number(word),
        };
        if value.is_none() {
            self.at = start;
        }
        value
    }

    fn run(&mut self, holds: fn(u8) -> bool) -> &str {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|&&b| holds(b)).count();
        let from = self.at;
        self.at += length;
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    /// Skips white space, and dots that stand for omitted members.
    fn skip_elision(&mut self) {
        self.skip_space();
        let rest = self.text.get(self.at..).unwrap_or_default();
        if let Some(mark) = ["...", "…"].into_iter().find(|m| rest.starts_with(m)) {
            self.at += mark.len();
            self.skip_space();
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// The letters and digits of a key, in lower case.
pub(super) fn folded(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The number that a word represents.
pub(crate) fn number(word: &str) -> Option<Value> {
    if !word.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if let Ok(whole) = word.parse::<i64>() {
        return Some(whole.into());
    }
    word.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number)
}

/// The number of a text that is nothing but a number, alone or with a unit: `35`, `35 ms`, `35ms`.
/// "3 Mbit/s slower" and "20 more" compare, "2 stars" is a grade.
pub(crate) fn quantity(text: &str) -> Option<Value> {
    let is_unit = |word: &str| {
        let signs = |c: char| c.is_uppercase() || matches!(c, '/' | '%' | '°');
        let plain = !word.contains(|c: char| c.is_ascii_digit() || c.is_whitespace());
        plain && (word.contains(signs) || matches!(word, "s" | "ms"))
    };
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let end = text.find(|c| !digits(c)).unwrap_or(text.len());
    let (figure, unit) = text.split_at_checked(end)?;
    let unit = unit.trim_start();
    number(figure).filter(|_| unit.is_empty() || is_unit(unit)).or_else(|| number(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expected: &[(&str, Value)]) {
        let found: Vec<_> = objects(text, |m| m.contains_key("t"))
            .into_iter()
            .map(|o| (o.span.slice(text), Value::Object(o.members)))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn quantities() {
        for (text, expected) in [
            ("35", Some(json!(35))),
            ("35 ms", Some(json!(35))),
            ("35ms", Some(json!(35))),
            ("-1.5%", Some(json!(-1.5))),
            ("20 Mbit/s", Some(json!(20))),
            ("1e3", Some(json!(1000.0))),
            ("3 Mbit/s slower", None),
            ("2 stars", None),
            ("20 more", None),
            ("7B2", None),
            ("2026-11-30", None),
            ("1.2.3", None),
            ("ms", None),
        ] {
            assert_eq!(quantity(text), expected, "{text}");
        }
    }

    #[test]
    fn json_and_python() {
        check(r#"x {"t": 1} y"#, &[(r#"{"t": 1}"#, json!({"t": 1}))]);
        check(
            "{'t': 'it\\'s', 'a': (1, 2,), 'b': None, 'c': True,}",
            &[(
                "{'t': 'it\\'s', 'a': (1, 2,), 'b': None, 'c': True,}",
                json!({"t": "it's", "a": [1, 2], "b": null, "c": true}),
            )],
        );
        check(r#"{"t": "a } b { c"}"#, &[(r#"{"t": "a } b { c"}"#, json!({"t": "a } b { c"}))]);
        check(
            r#"{"x": [{"t": 1.5}], "t": -2, ...}"#,
            &[
                (r#"{"x": [{"t": 1.5}], "t": -2, ...}"#, json!({"x": [{"t": 1.5}], "t": -2})),
                (r#"{"t": 1.5}"#, json!({"t": 1.5})),
            ],
        );
        check(
            r#"{t: "\u00e9", n: {}}"#,
            &[(r#"{t: "\u00e9", n: {}}"#, json!({"t": "é", "n": {}}))],
        );
    }

    #[test]
    fn broken_text_hides_nothing_after_it() {
        check(
            r#"{ "a": {"t": 1}, oops {"t": 2}"#,
            &[(r#"{"t": 1}"#, json!({"t": 1})), (r#"{"t": 2}"#, json!({"t": 2}))],
        );
        check("{it's\n{\"t\":1}", &[("{\"t\":1}", json!({"t": 1}))]);
        check("{\"t\": \"open", &[]);
        check("{\"t\": word}", &[]);
    }

    #[test]
    fn long_hostile_texts_are_read_once() {
        for part in ["{", "{\"a\":", "{\"a\":[", "{'", "{\"a\":{\"t\":1},"] {
            let text = part.repeat(20_000);
            let found = objects(&text, |m| m.contains_key("t"));
            assert_eq!(found.len(), text.matches("\"t\":1}").count());
        }
    }
}
