//! Compiles schemas and checks values. Only this module and `violation.rs` use the JSON Schema library.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Registry, Retrieve, Uri, ValidationError, Validator};
use serde_json::Value;

use crate::dialect;
use crate::fan::{Fan, fan, steps};
use crate::issue::{below, shown};
use crate::plain::is_plain;
use crate::reference::{checks_nothing, without_dangling};
use crate::violation::{Breach, Violation, explain};

/// Maximum number of violations reported per value.
const MOST_VIOLATIONS: usize = 50;
/// A schema with more unusable parts than this is not used at all.
const MOST_LEFT: usize = 64;
/// Maximum number of steps to check a value; one that takes more counts as invalid.
const MOST_STEPS: u64 = 1_000_000;
/// Maximum number of steps of a check whose violations are explained, which takes far more memory.
const MOST_EXPLAINED: u64 = 10_000;
/// The maximum number of steps for each part of a value whose violations are explained.
const MOST_STEPS_A_PART: u64 = 8;

/// A compiled JSON Schema: drafts 4, 6, 7, 2019-09 and 2020-12 by `$schema`, otherwise 2020-12.
///
/// Patterns run in linear time, so look-around and back-references do not compile. `format` is
/// never part of validity; see [`Schema::format_violations`].
pub struct Schema {
    source: Value,
    /// Empty until a value is checked, if the schema is plain; nothing if it does not compile.
    validator: OnceLock<Option<Validator>>,
    formats: Option<Validator>,
    /// Whether the steps of a check depend on the value.
    fan: Fan,
}

/// The schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema does not compile at `{place}`: {reason}")]
pub struct SchemaError {
    /// JSON Pointer into the schema; empty if the error is about the whole schema.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
}

/// Documents that a `$ref` may name by URI. Nothing is ever fetched.
#[derive(Debug, Clone, Default)]
pub struct Remotes(Arc<BTreeMap<String, Value>>);

impl Remotes {
    /// Creates a set of documents, keyed by absolute URI without fragment.
    #[must_use]
    pub fn new(documents: BTreeMap<String, Value>) -> Self {
        Self(Arc::new(documents))
    }
}

impl Remotes {
    /// Whether there is a document with this URI.
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.0.contains_key(uri)
    }
}

impl Retrieve for Remotes {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().trim_end_matches('#');
        self.0
            .get(name)
            .cloned()
            .ok_or_else(|| format!("the remote schema `{name}` is not fetched").into())
    }
}

impl Schema {
    /// Compiles a schema, so that validation is cheap.
    ///
    /// # Errors
    /// When the schema is invalid; names the place.
    pub fn compile(source: &Value, remotes: &Remotes) -> Result<Self, SchemaError> {
        let fan = fan(source);
        if fan == Fan::TooWide {
            let reason =
                "its references fan out so widely that checking one value could take forever";
            return Err(SchemaError { place: String::new(), reason: reason.to_owned() });
        }
        let source = match dialect::says_nullable(source) {
            true => dialect::with_nulls(source),
            false => source.clone(),
        };
        let validator = match is_plain(&source) {
            true => OnceLock::new(),
            false => OnceLock::from(Some(build(&source, remotes, false)?)),
        };
        Ok(Self {
            validator,
            formats: mentions_format(&source).then(|| build(&source, remotes, true)).transpose()?,
            source,
            fan,
        })
    }

    /// Compiles the usable parts of a schema, and reports the rest. Constructs that are not JSON
    /// Schema but have a clear meaning are translated: draft 4 bounds, tuples, `required` on a
    /// member, type names such as `STRING` or `dict`, and definition names with brackets.
    ///
    /// # Errors
    /// When no part of the schema can be used.
    pub fn compile_in_part(
        source: &Value,
        remotes: &Remotes,
    ) -> Result<(Self, Vec<SchemaError>), SchemaError> {
        let first = match Self::compile(source, remotes) {
            Ok(schema) => return Ok((schema, Vec::new())),
            Err(error) => error,
        };
        if fan(source) == Fan::TooWide {
            return Err(first);
        }
        let mut schema = dialect::translated(source);
        let mut left: Vec<SchemaError> = without_dangling(&mut schema, remotes)
            .into_iter()
            .map(|place| SchemaError {
                place,
                reason: "the reference cannot be resolved".to_owned(),
            })
            .collect();
        if !left.is_empty() && checks_nothing(&schema) {
            return Err(first);
        }
        while left.len() < MOST_LEFT {
            let error = match Self::compile(&schema, remotes) {
                Ok(schema) => return Ok((schema, left)),
                Err(error) => error,
            };
            let place = dialect::without(&mut schema, &error.place)
                .or_else(|| without_unusable(&mut schema, remotes));
            let Some(place) = place else { break };
            left.push(SchemaError { place, reason: error.reason });
        }
        Err(first)
    }

    /// Whether a value is valid, ignoring `format`.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        if !self.takes_at_most(MOST_STEPS, value) {
            return false;
        }
        self.validator().is_some_and(|validator| validator.is_valid(value))
            || self.formats.is_some() && self.violations(value).is_empty()
    }

    /// What values are checked with. None if the schema does not compile, which a plain one does.
    fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| build_plain(&self.source).ok()).as_ref()
    }

    /// Whether a check of this value takes at most this many steps: alternatives that refer to
    /// themselves multiply with the depth of a value.
    fn takes_at_most(&self, most: u64, value: &Value) -> bool {
        self.fan == Fan::Narrow || steps(&self.source, value, most).is_some()
    }

    /// Whether the violations of this value can be explained: a long value may take more steps than
    /// a short one, but not many for each of its parts.
    fn is_explained(&self, value: &Value) -> bool {
        let parts = MOST_STEPS_A_PART.saturating_mul(parts_of(value));
        self.takes_at_most(parts.clamp(MOST_EXPLAINED, MOST_STEPS), value)
    }

    /// Whether the schema itself contains this text as a default, an `enum` value or an example.
    #[must_use]
    pub(crate) fn names(&self, text: &str) -> bool {
        names(&self.source, text)
    }

    /// The violations of a value, ignoring `format`.
    #[must_use]
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        let Some(validator) = self.validator().filter(|_| self.is_explained(value)) else {
            return self.unexplained(value);
        };
        let mut found = Vec::new();
        for error in validator.iter_errors(value).take(MOST_VIOLATIONS) {
            if !self.is_distinguished_by_format(&error, value) {
                explain(&self.source, &error, &mut found);
            }
        }
        found.truncate(MOST_VIOLATIONS);
        found
    }

    /// The violation of a value for which the alternatives of the schema are too many to explain
    /// each. None if it is valid.
    fn unexplained(&self, value: &Value) -> Vec<Violation> {
        let checked = self.takes_at_most(MOST_STEPS, value);
        if checked && self.validator().is_some_and(|validator| validator.is_valid(value)) {
            return Vec::new();
        }
        let expected = match checked {
            true => "a value that matches the schema, which has too many alternatives to list",
            false => "a less deeply nested value: this one cannot be checked against the schema",
        };
        vec![Violation::new(Breach::Value, "", expected, value)]
    }

    /// The strings that do not have the `format` their schema declares.
    #[must_use]
    pub fn format_violations(&self, value: &Value) -> Vec<Violation> {
        if !self.is_explained(value) {
            return Vec::new();
        }
        let Some(formats) = self.formats.as_ref().filter(|f| !f.is_valid(value)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for error in formats.iter_errors(value).take(MOST_VIOLATIONS) {
            explain(&self.source, &error, &mut found);
        }
        found.retain(|violation| violation.breach == Breach::Format);
        found
    }

    /// The schema as given.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Whether several alternatives of a `oneOf` match only because formats are not checked.
    fn is_distinguished_by_format(&self, error: &ValidationError<'_>, value: &Value) -> bool {
        let several = |error: &ValidationError<'_>| {
            matches!(error.kind(), ValidationErrorKind::OneOfMultipleValid { .. })
        };
        let Some(formats) = self.formats.as_ref().filter(|_| several(error)) else { return false };
        let same = |other: &ValidationError<'_>| {
            other.schema_path().as_str() == error.schema_path().as_str()
                && other.instance_path().as_str() == error.instance_path().as_str()
        };
        !formats.iter_errors(value).any(|other| same(&other))
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("source", &self.source).finish_non_exhaustive()
    }
}

/// Removes the first property that prevents the schema from compiling, for errors without a place.
fn without_unusable(schema: &mut Value, remotes: &Remotes) -> Option<String> {
    let mut bare = schema.clone();
    let properties = match bare.get_mut("properties")? {
        Value::Object(properties) => std::mem::take(properties),
        _ => return None,
    };
    Schema::compile(&bare, remotes).ok()?;
    let unusable = properties.into_iter().find_map(|(name, property)| {
        let mut alone = bare.clone();
        alone.get_mut("properties")?.as_object_mut()?.insert(name.clone(), property);
        Schema::compile(&alone, remotes).is_err().then_some(name)
    })?;
    dialect::without(schema, &below("/properties", &unusable))
}

/// Compiles a plain schema as draft 7, in which it means the same as in 2020-12: compiling the
/// schema of schemas of draft 7, which the library does once, takes a quarter of the instructions.
fn build_plain(source: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .with_draft(Draft::Draft7)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
        .with_retriever(Remotes::default())
        .build(source)
}

fn build(source: &Value, remotes: &Remotes, formats: bool) -> Result<Validator, SchemaError> {
    let options = jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(formats)
        .with_retriever(remotes.clone());
    // A custom meta-schema is only looked up in a registry.
    let built = match own_meta_schema(source, remotes) {
        None => options.build(source),
        Some((uri, meta_schema)) => Registry::new()
            .retriever(remotes.clone())
            .add(uri, meta_schema)
            .and_then(|registry| registry.prepare())
            .map_err(ValidationError::from)
            .and_then(|registry| options.with_registry(&registry).build(source)),
    };
    built.map_err(|error| SchemaError {
        place: match error.instance_path().as_str() {
            "" => error.schema_path().as_str().to_owned(),
            place => place.to_owned(),
        },
        reason: match error.kind() {
            ValidationErrorKind::AnyOf { .. }
                if error.instance_path().as_str().ends_with("/type") =>
            {
                format!("{} is not a JSON Schema type", shown(error.instance()))
            }
            _ => error.to_string(),
        },
    })
}

fn own_meta_schema<'r>(source: &Value, remotes: &'r Remotes) -> Option<(&'r str, &'r Value)> {
    let uri = source.get("$schema")?.as_str()?.trim_end_matches('#');
    remotes.0.get_key_value(uri).map(|(uri, document)| (uri.as_str(), document))
}

/// The number of values in a value, with itself.
fn parts_of(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(parts_of).fold(1, u64::saturating_add),
        Value::Object(members) => members.values().map(parts_of).fold(1, u64::saturating_add),
        _ => 1,
    }
}

fn mentions_format(schema: &Value) -> bool {
    dialect::has_member(schema, &|name, value| name == "format" && value.is_string())
}

fn names(schema: &Value, text: &str) -> bool {
    let mentions = |value: &Value| match value {
        Value::String(one) => one == text,
        Value::Array(several) => several.iter().any(|one| one == text),
        _ => false,
    };
    dialect::has_member(schema, &|name, value| dialect::DATA.contains(&name) && mentions(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEYWORDS: [&str; 36] = [
        "type",
        "properties",
        "items",
        "additionalProperties",
        "not",
        "allOf",
        "anyOf",
        "oneOf",
        "required",
        "enum",
        "const",
        "default",
        "examples",
        "title",
        "description",
        "$comment",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "uniqueItems",
        "pattern",
        "format",
        "multipleOf",
        "$ref",
        "$id",
        "$schema",
        "contains",
        "if",
        "definitions",
    ];

    /// Values of keywords, and values to check.
    fn values() -> Vec<Value> {
        vec![
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(1),
            json!(2),
            json!(-1),
            json!(1.0),
            json!(0.5),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!("a"),
            json!("string"),
            json!("integer"),
            json!("strnig"),
            json!("null"),
            json!("("),
            json!([]),
            json!(["a"]),
            json!(["a", "a"]),
            json!(["a", "b"]),
            json!([1, 1.0]),
            json!(["integer", "null"]),
            json!(["integer", "integer"]),
            json!(["string", 1]),
            json!([true]),
            json!([{}, 7]),
            json!([{ "type": "string" }, { "minimum": 1 }]),
            json!({}),
            json!({ "a": 1 }),
            json!({ "a": "b", "b": 2 }),
            json!({ "a": [] }),
            json!({ "a": { "type": "integer" } }),
            json!({ "$ref": { "type": "object" } }),
            json!({ "type": "string" }),
            json!({ "type": "none" }),
            json!({ "enum": [1, "a"] }),
            json!({ "$ref": "#/nowhere" }),
            json!({ "properties": { "a": { "maximum": 0 } } }),
        ]
    }

    fn error_lines(validator: &Validator, value: &Value) -> Vec<String> {
        let errors = validator.iter_errors(value);
        errors.map(|e| format!("{e} {} {}", e.instance_path(), e.schema_path())).collect()
    }

    /// Checks that a plain schema compiles, and means the same in both drafts.
    fn assert_same(schema: &Value) {
        let latest = build(schema, &Remotes::default(), false);
        let latest = latest.unwrap_or_else(|error| panic!("{schema}: {error}"));
        let plain = build_plain(schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
        for value in values() {
            assert_eq!(
                error_lines(&plain, &value),
                error_lines(&latest, &value),
                "{schema} {value}"
            );
            assert_eq!(plain.is_valid(&value), latest.is_valid(&value), "{schema} {value}");
        }
    }

    #[test]
    fn a_plain_schema_compiles_and_means_the_same_in_both_drafts() {
        let mut parts = Vec::new();
        for keyword in KEYWORDS {
            for value in values() {
                parts.push((keyword, json!({ keyword: value })));
            }
        }
        parts.retain(|(_, schema)| is_plain(schema));
        let mut plain: Vec<&str> = parts.iter().map(|(keyword, _)| *keyword).collect();
        plain.dedup();
        assert_eq!(plain, KEYWORDS[..27]);
        assert!(parts.len() > 200, "{}", parts.len());
        for (at, (_, schema)) in parts.iter().enumerate() {
            assert_same(schema);
            let mut both = schema.clone();
            let other = &parts[(at * 7 + 3) % parts.len()].1;
            both.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
            assert_same(&both);
            assert_same(&json!({ "properties": { "a": both, "$ref": schema } }));
        }
    }

    #[test]
    fn a_plain_schema_is_compiled_when_a_value_is_checked() {
        let schema = Schema::compile(&json!({ "type": "object" }), &Remotes::default()).unwrap();
        assert!(schema.validator.get().is_none());
        assert!(!schema.is_valid(&json!(1)));
        assert!(schema.validator.get().is_some());
        let mut never = schema;
        never.validator = OnceLock::from(None);
        assert!(!never.is_valid(&json!({})));
        assert_eq!(never.violations(&json!({})).len(), 1);
    }
}
