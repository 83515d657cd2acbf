use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::canonical::{CanonicalForm, canonical_number, numbers_of};
use crate::json::{JsonError, JsonLimits, parse_strict};

/// A JSON value that keeps every number as written.
///
/// A [`Value`] holds 64-bit integers and doubles. Numbers that it cannot represent exactly are
/// stored separately; the value then has the nearest double, for comparisons. Serialising writes
/// all digits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExactValue {
    value: Value,
    /// The numbers that the value does not represent exactly, in canonical form 2, by JSON Pointer.
    long: BTreeMap<String, String>,
}

impl ExactValue {
    /// Parses one JSON value, as [`parse_strict`] does.
    ///
    /// # Errors
    /// See [`JsonError`].
    pub fn parse(text: &str, limits: JsonLimits) -> Result<Self, JsonError> {
        let mut value = parse_strict(text, limits)?;
        let mut places = Vec::new();
        leaves(&value, &mut String::new(), &mut |pointer, leaf| {
            if let Value::Number(number) = leaf {
                places.push((pointer.to_owned(), number.clone()));
            }
        });
        let mut long = BTreeMap::new();
        // 64-bit integers are represented exactly.
        if places.iter().any(|(_, number)| number.is_f64()) {
            for (written, (pointer, number)) in numbers_of(text, limits.depth)?.iter().zip(places) {
                let written = exact(written).ok_or_else(|| out_of_range(written))?;
                if exact(&number.to_string()).as_ref() == Some(&written) {
                    continue;
                }
                let whole = written.parse::<u64>().map(Number::from);
                match whole.or_else(|_| written.parse::<i64>().map(Number::from)) {
                    Ok(whole) => {
                        if let Some(place) = value.pointer_mut(&pointer) {
                            *place = whole.into();
                        }
                    }
                    Err(_) => drop(long.insert(pointer, written)),
                }
            }
        }
        Ok(Self { value, long })
    }

    /// The value, with the nearest double for each number that it cannot represent exactly.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Whether any of its numbers is a double. If the text was not read by [`parse`](Self::parse),
    /// digits may have been lost then.
    #[must_use]
    pub fn has_doubles(&self) -> bool {
        let mut found = false;
        leaves(&self.value, &mut String::new(), &mut |_, leaf| {
            found |= leaf.as_number().is_some_and(Number::is_f64);
        });
        found
    }

    /// A number that [`value`](Self::value) does not represent exactly: its JSON Pointer and its
    /// digits.
    #[must_use]
    pub fn long_number(&self) -> Option<(&str, &str)> {
        self.long.iter().next().map(|(pointer, digits)| (pointer.as_str(), digits.as_str()))
    }

    /// A member of the object, with its exact numbers.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name)?.clone();
        let place = below("", name);
        let within = self.long.iter().filter(|(pointer, _)| is_within(pointer, &place));
        let long = within.filter_map(|(pointer, digits)| {
            Some((pointer.strip_prefix(&place)?.to_owned(), digits.clone()))
        });
        Some(Self { long: long.collect(), value })
    }

    /// Replaces the value at a JSON Pointer, if there is one.
    pub fn set(&mut self, pointer: &str, value: Self) {
        let Some(place) = self.value.pointer_mut(pointer) else { return };
        *place = value.value;
        self.long.retain(|known, _| !is_within(known, pointer));
        let within = value.long.into_iter();
        self.long.extend(within.map(|(rest, digits)| (format!("{pointer}{rest}"), digits)));
    }

    /// Transfers the exact numbers to a transformed value in which numbers have kept their places.
    /// Names may differ, and changed numbers stay as they are. `None` if a long number has moved,
    /// or its place has another shape, so that its digits would be lost.
    #[must_use]
    pub fn made_into(&self, made: Value) -> Option<Self> {
        let mut long = BTreeMap::new();
        let mut whole = true;
        if !self.long.is_empty() {
            self.follow([&self.value, &made], [""; 2], &mut |kept| match kept {
                Some((pointer, digits)) => drop(long.insert(pointer, digits)),
                None => whole = false,
            });
        }
        whole.then_some(Self { value: made, long })
    }

    /// Removes the members that `unwanted` selects by the JSON Pointer of their object and their
    /// name. Returns how many were removed.
    pub fn remove_members(&mut self, unwanted: &dyn Fn(&str, &str) -> bool) -> usize {
        let mut removed = Vec::new();
        strip(&mut self.value, &mut String::new(), unwanted, &mut removed);
        self.long.retain(|pointer, _| !removed.iter().any(|gone| is_within(pointer, gone)));
        removed.len()
    }

    /// Reports for each long number its new place, or `None` if it was lost.
    fn follow(
        &self,
        [before, after]: [&Value; 2],
        [old, new]: [&str; 2],
        tell: &mut dyn FnMut(Option<(String, String)>),
    ) {
        let mut child = |values: [&Value; 2], names: [&str; 2]| {
            let places = [(old, names[0]), (new, names[1])].map(|(place, name)| below(place, name));
            self.follow(values, [places[0].as_str(), places[1].as_str()], tell);
        };
        match (before, after) {
            (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
                for (at, (before, after)) in before.iter().zip(after).enumerate() {
                    let at = at.to_string();
                    child([before, after], [&at, &at]);
                }
            }
            (Value::Object(before), Value::Object(after)) if before.len() == after.len() => {
                for ((old, before), (new, after)) in before.iter().zip(after) {
                    child([before, after], [old, new]);
                }
            }
            // A string in its place, such as a redaction marker, hides it.
            (_, Value::String(_)) => {}
            (Value::Number(before), Value::Number(after)) if before == after => {
                if let Some(digits) = self.long.get(old) {
                    tell(Some((new.to_owned(), digits.clone())));
                }
            }
            _ if self.long.keys().any(|pointer| is_within(pointer, old)) => tell(None),
            _ => {}
        }
    }
}

/// The number in canonical form 2.
fn exact(number: &str) -> Option<String> {
    let mut out = Vec::new();
    canonical_number(number, CanonicalForm::Exact, &mut out)?;
    String::from_utf8(out).ok()
}

fn out_of_range(number: &str) -> JsonError {
    JsonError::Invalid(format!("the number `{number}` is out of range"))
}

fn is_within(pointer: &str, place: &str) -> bool {
    let rest = pointer.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn strip(
    value: &mut Value,
    pointer: &mut String,
    unwanted: &dyn Fn(&str, &str) -> bool,
    removed: &mut Vec<String>,
) {
    let length = pointer.len();
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                push(pointer, &at.to_string());
                strip(item, pointer, unwanted, removed);
                pointer.truncate(length);
            }
        }
        Value::Object(members) => members.retain(|name, member| {
            let goes = unwanted(pointer, name);
            push(pointer, name);
            if goes {
                removed.push(pointer.clone());
            } else {
                strip(member, pointer, unwanted, removed);
            }
            pointer.truncate(length);
            !goes
        }),
        _ => {}
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", escaped(name))
}

fn push(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&escaped(name));
}

/// Calls `each` with every scalar and its JSON Pointer, in order.
fn leaves(value: &Value, pointer: &mut String, each: &mut dyn FnMut(&str, &Value)) {
    let length = pointer.len();
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                push(pointer, &at.to_string());
                leaves(item, pointer, each);
                pointer.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                push(pointer, name);
                leaves(item, pointer, each);
                pointer.truncate(length);
            }
        }
        leaf => each(pointer, leaf),
    }
}

impl Deref for ExactValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl From<Value> for ExactValue {
    /// A value created by this program, whose numbers are exact.
    fn from(value: Value) -> Self {
        Self { value, long: BTreeMap::new() }
    }
}

impl PartialEq<Value> for ExactValue {
    fn eq(&self, other: &Value) -> bool {
        self.long.is_empty() && self.value == *other
    }
}

/// As JSON on one line.
impl fmt::Display for ExactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.long.is_empty() {
            return self.value.fmt(f);
        }
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for ExactValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.long.is_empty() {
            return self.value.serialize(serializer);
        }
        Part { whole: self, value: &self.value, pointer: String::new() }.serialize(serializer)
    }
}

/// The part of a value at a JSON Pointer.
struct Part<'e> {
    whole: &'e ExactValue,
    value: &'e Value,
    pointer: String,
}

impl<'e> Part<'e> {
    fn child(&self, name: &str, value: &'e Value) -> Self {
        Self { whole: self.whole, value, pointer: below(&self.pointer, name) }
    }
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Array(items) => serializer.collect_seq(
                items.iter().enumerate().map(|(at, item)| self.child(&at.to_string(), item)),
            ),
            Value::Object(members) => serializer
                .collect_map(members.iter().map(|(name, member)| (name, self.child(name, member)))),
            leaf => match self.whole.long.get(&self.pointer) {
                Some(digits) => {
                    let digits = RawValue::from_string(digits.clone());
                    digits.map_err(serde::ser::Error::custom)?.serialize(serializer)
                }
                None => leaf.serialize(serializer),
            },
        }
    }
}

impl<'de> Deserialize<'de> for ExactValue {
    /// Reads JSON text. Fails inside an enum that serde reads by its tag, because the text is gone.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get(), JsonLimits::RECORDED).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> ExactValue {
        ExactValue::parse(text, JsonLimits::ARGUMENTS).unwrap()
    }

    const LONG: &str = r#"{"a":[1,123456789012345678901234567890,{"b/c":0.10000000000000000555}],"z":18446744073709551615,"s":"1e2"}"#;

    #[test]
    fn every_number_is_written_as_it_was() {
        for (written, shown) in [
            (LONG, LONG),
            ("{}", "{}"),
            ("[1, 1.5, -7]", "[1,1.5,-7]"),
            ("1e400000000", "refused"),
            ("-1e-400", "-1e-400"),
            ("1e-9999999999", "refused"),
            (
                "[18446744073709551616, -9223372036854775809]",
                "[18446744073709551616,-9223372036854775809]",
            ),
            ("[9007199254740993.0, 9007199254740993]", "[9007199254740993,9007199254740993]"),
            (
                "[0.1, 0.30000000000000004, 0.300000000000000040]",
                "[0.1,0.30000000000000004,0.30000000000000004]",
            ),
        ] {
            let shown_now = ExactValue::parse(written, JsonLimits::ARGUMENTS)
                .map_or_else(|_| "refused".to_owned(), |value| value.to_string());
            assert_eq!(shown_now, shown, "{written}");
            if shown != "refused" {
                let value = read(written);
                let again: ExactValue =
                    serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap();
                assert_eq!(again, value, "{written}");
            }
        }
        assert_eq!(read(LONG).long_number(), Some(("/a/1", "123456789012345678901234567890")));
        assert!(read("[1,2.5]").long_number().is_none());
        let a = LONG.split_once(":").unwrap().1.split_once(",\"z\"").unwrap().0;
        assert_eq!(read(LONG).member("a"), Some(read(a)));
        let mut set = read(LONG);
        set.set("/a/2", read("[1e-400]"));
        set.set("/no/place", read("1e-400"));
        assert_eq!(set.to_string(), LONG.replace(r#"{"b/c":0.10000000000000000555}"#, "[1e-400]"));
        assert!(read("1.5") == json!(1.5) && read("1.50000000000000000001") != json!(1.5));
    }

    #[test]
    fn numbers_stay_in_what_is_made_of_a_value() {
        let value = read(LONG);
        let mut renamed = json!({});
        for (name, member) in value.as_object().unwrap() {
            renamed[format!("{name}'")] = member.clone();
        }
        let made = value.made_into(renamed).unwrap();
        assert_eq!(
            made.to_string(),
            LONG.replace("\"a\":", "\"a'\":")
                .replace("\"z\":", "\"z'\":")
                .replace("\"s\":", "\"s'\":")
        );
        for (pointer, put, kept) in [
            (
                "/a/1",
                json!("[secret]"),
                Some(LONG.replace("123456789012345678901234567890", "\"[secret]\"")),
            ),
            (
                "/a",
                json!("[secret]"),
                Some(r#"{"a":"[secret]","z":18446744073709551615,"s":"1e2"}"#.to_owned()),
            ),
            ("/s", json!(100), Some(LONG.replace("\"1e2\"", "100"))),
            ("/a/1", json!([1.234_567_890_123_456_8e29]), None),
            ("/a/1", json!(7), None),
            ("/a", json!([1]), None),
            ("", json!({ "a": value.get("a") }), None),
        ] {
            let mut changed = value.value().clone();
            *changed.pointer_mut(pointer).unwrap() = put;
            let made = value.made_into(changed).map(|made| made.to_string());
            assert_eq!(made, kept, "{pointer}");
        }
        let mut less = value.clone();
        assert_eq!(less.remove_members(&|place, name| place.is_empty() && name == "a"), 1);
        assert_eq!(less, json!({ "z": 18_446_744_073_709_551_615_u64, "s": "1e2" }));
        let mut less = value.clone();
        less.remove_members(&|_, name| name == "b/c");
        assert_eq!(less.to_string(), LONG.replace("\"b/c\":0.10000000000000000555", ""));
    }
}
