//! Says in words how a value violates a schema.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::issue::{below, shown};

/// The way in which a value violates a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// A required member is absent.
    Missing,
    /// The value has the wrong JSON type.
    Type,
    /// The schema does not allow the member.
    Unknown,
    /// Anything else: enum, range, pattern, length, items, ….
    Value,
    /// The string does not have the declared `format`.
    Format,
}

/// One violation of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The kind of violation.
    pub breach: Breach,
    /// JSON Pointer into the value; of the absent member for [`Breach::Missing`].
    pub pointer: String,
    /// What would have been correct: `integer`, `one of "a", "b"`, `at least 3`.
    pub expected: String,
    /// The actual value, shortened; empty for an absent member.
    pub actual: String,
    /// Whether the schema cannot have meant to forbid the value: it is the declared default, or a
    /// list of `enum` values for an `enum` that contains no list.
    pub intended: bool,
}

impl Violation {
    pub(crate) fn new(
        breach: Breach,
        pointer: &str,
        expected: impl Into<String>,
        value: &Value,
    ) -> Self {
        let (pointer, expected) = (pointer.to_owned(), expected.into());
        Self { breach, pointer, expected, actual: shown(value), intended: false }
    }
}

/// Adds the violations that an error of the library means. `source` is the whole schema.
pub(crate) fn explain(source: &Value, error: &ValidationError<'_>, found: &mut Vec<Violation>) {
    let pointer = error.instance_path().as_str();
    let intended = equals_default(source, error) || lists_enum_values(error);
    let actual = || shown(error.instance());
    let mut add = |breach, pointer: String, expected: String, actual: String| {
        let violation = Violation { breach, pointer, expected, actual, intended };
        if !found.contains(&violation) {
            found.push(violation);
        }
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let expected = declared_type(source, error, name);
            add(Breach::Missing, below(pointer, name), expected, String::new());
        }
        ValidationErrorKind::Type { kind } => {
            add(Breach::Type, pointer.to_owned(), type_names(kind).join(" or "), actual());
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                let value = error.instance().get(name).map(shown).unwrap_or_default();
                add(Breach::Unknown, below(pointer, name), "absent".to_owned(), value);
            }
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if !intended =>
        {
            explain_branches(source, error, context, found);
        }
        ValidationErrorKind::Format { format } => {
            add(Breach::Format, pointer.to_owned(), format!("format {format}"), actual());
        }
        kind => add(Breach::Value, pointer.to_owned(), expectation(kind), actual()),
    }
}

/// If all of several alternatives fail, reports the violations of the closest one.
fn explain_branches(
    source: &Value,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    found: &mut Vec<Violation>,
) {
    let here = error.instance_path().as_str();
    let explained: Vec<Vec<Violation>> = branches
        .iter()
        .map(|errors| {
            let mut inner = Vec::new();
            errors.iter().for_each(|e| explain(source, e, &mut inner));
            inner
        })
        .collect();
    let wrong_type =
        |branch: &[Violation]| branch.iter().any(|v| v.breach == Breach::Type && v.pointer == here);
    if !explained.is_empty() && explained.iter().all(|branch| wrong_type(branch)) {
        let types: Vec<&str> = explained
            .iter()
            .flatten()
            .filter(|v| v.breach == Breach::Type && v.pointer == here)
            .map(|v| v.expected.as_str())
            .collect();
        found.push(Violation::new(Breach::Type, here, types.join(" or "), error.instance()));
        return;
    }
    let closest = explained
        .into_iter()
        .filter(|branch| !wrong_type(branch) && !branch.is_empty())
        .min_by_key(Vec::len);
    match closest {
        Some(branch) => found.extend(branch),
        None => {
            let expected = format!("one of {} alternatives", branches.len());
            found.push(Violation::new(Breach::Value, here, expected, error.instance()));
        }
    }
}

/// The schema object that contains the keyword an error is about.
fn holder<'s>(source: &'s Value, error: &ValidationError<'_>) -> Option<&'s Value> {
    let (holder, _) = error.schema_path().as_str().rsplit_once('/')?;
    source.pointer(holder)
}

fn equals_default(source: &Value, error: &ValidationError<'_>) -> bool {
    holder(source, error).and_then(|h| h.get("default")) == Some(error.instance().as_ref())
}

fn declared_type(source: &Value, error: &ValidationError<'_>, property: &str) -> String {
    let declared = holder(source, error)
        .and_then(|h| h.get("properties")?.get(property)?.get("type")?.as_str());
    declared.unwrap_or("a value").to_owned()
}

fn lists_enum_values(error: &ValidationError<'_>) -> bool {
    let (ValidationErrorKind::Enum { options }, Value::Array(items)) =
        (error.kind(), error.instance().as_ref())
    else {
        return false;
    };
    options.as_array().is_some_and(|options| {
        !options.iter().any(Value::is_array) && items.iter().all(|item| options.contains(item))
    })
}

fn type_names(kind: &TypeKind) -> Vec<String> {
    match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(several) => several.iter().map(|t| t.to_string()).collect(),
    }
}

fn expectation(kind: &ValidationErrorKind) -> String {
    use ValidationErrorKind as K;
    match kind {
        K::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().map(shown).collect();
            let more = if options.len() > 20 { ", …" } else { "" };
            let named: Vec<&str> = options.iter().take(20).map(String::as_str).collect();
            format!("one of {}{more}", named.join(", "))
        }
        K::Constant { expected_value } => shown(expected_value),
        K::Minimum { limit } => format!("at least {limit}"),
        K::Maximum { limit } => format!("at most {limit}"),
        K::ExclusiveMinimum { limit } => format!("more than {limit}"),
        K::ExclusiveMaximum { limit } => format!("less than {limit}"),
        K::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        K::MinLength { limit } => format!("at least {limit} characters"),
        K::MaxLength { limit } => format!("at most {limit} characters"),
        K::MinItems { limit } => format!("an array of at least {limit} items"),
        K::MaxItems { limit } => format!("an array of at most {limit} items"),
        K::MinProperties { limit } => format!("an object with at least {limit} members"),
        K::MaxProperties { limit } => format!("an object with at most {limit} members"),
        K::AdditionalItems { limit } => format!("an array of at most {limit} items"),
        K::UnevaluatedItems { .. } => "an array without further items".to_owned(),
        K::UniqueItems => "an array of unique items".to_owned(),
        K::Contains => "an array whose items satisfy `contains`".to_owned(),
        K::Pattern { pattern } => format!("a string that matches the pattern `{pattern}`"),
        K::FalseSchema => "absent".to_owned(),
        K::Not { .. } => "a value that does not match the `not` schema".to_owned(),
        K::OneOfMultipleValid { .. } => {
            "a value that matches exactly one of the alternatives, not several".to_owned()
        }
        K::PropertyNames { .. } => "an object with valid member names".to_owned(),
        K::ContentEncoding { content_encoding } => format!("{content_encoding} text"),
        K::ContentMediaType { content_media_type } => format!("{content_media_type} text"),
        other => format!("a value that passes `{}`", other.keyword()),
    }
}
