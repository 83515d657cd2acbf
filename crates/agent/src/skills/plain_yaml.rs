//! YAML whose values are all texts, as they are written: `1.10` and `yes` stay what they are.
//!
//! A YAML reader tells a text from a number only by guessing. So the text is read twice: once for
//! its shape, and once with every scalar of that shape as text. Anchors, aliases, tags and merge
//! keys are refused, which leaves nothing to expand; depth and size are bounded.

use std::fmt;
use std::slice;

use serde::de::{
    DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::{Deserialize, de};
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Options, budget, options, with_deserializer_from_str_with_options};

/// A value of the front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A scalar as it is written; empty where nothing is.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in its order, without duplicate keys.
    Map(Vec<(String, Node)>),
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlError {
    /// What the reader says.
    pub(super) reason: String,
    /// The line of the text, from 1.
    pub(super) line: Option<usize>,
}

impl Node {
    /// Reads one YAML document. The caller bounds its size.
    pub(super) fn read(text: &str) -> Result<Self, YamlError> {
        let shape = with_deserializer_from_str_with_options(text, bounds(), |yaml| {
            Shape::deserialize(yaml)
        });
        let shape = shape.map_err(|error| YamlError::of(&error))?;
        with_deserializer_from_str_with_options(text, bounds(), |yaml| shape.deserialize(yaml))
            .map_err(|error| YamlError::of(&error))
    }

    /// The value as JSON, for values that are kept without being understood.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::List(nodes) => nodes.iter().map(Self::to_json).collect(),
            Self::Map(members) => {
                let member = |(name, node): &(String, Self)| (name.clone(), node.to_json());
                Value::Object(members.iter().map(member).collect())
            }
        }
    }
}

impl YamlError {
    fn of(error: &serde_saphyr::Error) -> Self {
        let line = error.location().and_then(|location| usize::try_from(location.line()).ok());
        let told = error.without_snippet().to_string();
        // The line is given in the place of the error; the reader counts from the front matter.
        let reason = told.split(" at line ").next().unwrap_or_default();
        let reason = reason.rsplit_once(": ").filter(|(place, _)| place.starts_with("line "));
        let reason = reason.map_or(told.as_str(), |(_, reason)| reason);
        let reason = reason.split(" at line ").next().unwrap_or_default();
        Self { reason: super::visible::visible(reason), line: line.filter(|line| *line > 0) }
    }
}

fn bounds() -> Options {
    options! {
        budget: budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_merge_keys: 0,
            max_documents: 1,
            max_depth: 16,
            flow_nesting_limit: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        null_as_string: true,
        ignore_binary_tag_for_string: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// A YAML document without its texts.
enum Shape {
    Text,
    List(Vec<Shape>),
    Map(Vec<Shape>),
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut shapes = Vec::new();
        while let Some(shape) = items.next_element()? {
            shapes.push(shape);
        }
        Ok(Shape::List(shapes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Shape, A::Error> {
        let mut shapes = Vec::new();
        while let Some((IgnoredAny, shape)) = members.next_entry()? {
            shapes.push(shape);
        }
        Ok(Shape::Map(shapes))
    }
}

impl<'de> DeserializeSeed<'de> for &Shape {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        match self {
            Shape::Text => String::deserialize(deserializer).map(Node::Text),
            Shape::List(shapes) => deserializer.deserialize_seq(NodeVisitor(shapes.iter())),
            Shape::Map(shapes) => deserializer.deserialize_map(NodeVisitor(shapes.iter())),
        }
    }
}

struct NodeVisitor<'s>(slice::Iter<'s, Shape>);

impl<'de> Visitor<'de> for NodeVisitor<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value that was there before")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        for shape in self.0.by_ref() {
            let changed = || de::Error::invalid_length(nodes.len(), &"the items of before");
            let node = items.next_element_seed(shape)?.ok_or_else(changed)?;
            nodes.push(node);
        }
        match items.next_element::<IgnoredAny>()? {
            None => Ok(Node::List(nodes)),
            Some(_) => Err(de::Error::invalid_type(Unexpected::Seq, &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            let changed = || de::Error::invalid_length(nodes.len(), &"the members of before");
            let shape = self.0.next().ok_or_else(changed)?;
            nodes.push((name, members.next_value_seed(shape)?));
        }
        Ok(Node::Map(nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_written() {
        for (yaml, json) in [
            ("a: 1.10", r#"{"a":"1.10"}"#),
            (
                "a: yes\nb: No\nc: 0x1F\nd: 1e999\ne: .nan",
                r#"{"a":"yes","b":"No","c":"0x1F","d":"1e999","e":".nan"}"#,
            ),
            ("a: 2026-01-02\nb: 010\nc: 1_000", r#"{"a":"2026-01-02","b":"010","c":"1_000"}"#),
            ("a:\nb: ~\nc: null\nd: ''", r#"{"a":"","b":"~","c":"null","d":""}"#),
            ("a: [1, yes, [x]]\nb: {c: 1.0}", r#"{"a":["1","yes",["x"]],"b":{"c":"1.0"}}"#),
            ("a: |\n  one\n  two\nb: >\n  one\n  two\n", r#"{"a":"one\ntwo\n","b":"one two\n"}"#),
            ("1: a\ntrue: b", r#"{"1":"a","true":"b"}"#),
            (
                "a: 99999999999999999999999999999999999999999999",
                r#"{"a":"99999999999999999999999999999999999999999999"}"#,
            ),
            ("just text", r#""just text""#),
        ] {
            let node = Node::read(yaml).map(|node| node.to_json().to_string());
            assert_eq!(node.as_deref(), Ok(json), "{yaml}");
        }
    }

    #[test]
    fn what_could_expand_is_refused() {
        for yaml in [
            "a: &x 1",
            "a: &x [1]\nb: *x",
            "a: !!int 1",
            "a: !secret x",
            "a: 1\na: 2",
            "a: {x: 1}\n<<: {y: 2}",
            "a: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]",
            "? [a, b]\n: c",
            "a: b: c",
            "a: [1",
            "a: 1\n...\n--- \nb: 2",
            "a: \"\\q\"",
        ] {
            let read = Node::read(yaml);
            assert!(read.is_err(), "{yaml}: {read:?}");
        }
    }

    #[test]
    fn errors_have_a_line_and_no_place_in_their_text() {
        for (yaml, line) in [("a: 1\nb: [", 2), ("a: 1\nb: c: d", 2), ("a: 1\nb: 2\na: 3", 3)] {
            let error = Node::read(yaml).unwrap_err();
            assert!(error.line.is_some_and(|at| at >= line), "{yaml}: {error:?}");
            assert!(!error.reason.is_empty() && !error.reason.contains("line "), "{error:?}");
        }
    }
}
