use counterfoil_model::{ExactValue, JsonLimits};
use serde_json::Value;

use crate::schema::Schema;
use crate::violation::{Breach, Violation};

/// Maximum number of passes; values inside a repaired text may need repairs of their own.
const ROUNDS: usize = 4;

/// Corrects every wrong type that can be corrected without loss. Returns the new arguments and the
/// violations this settled; `None` if nothing could be corrected.
///
/// A correction is kept only if the schema accepts the new value in that place.
pub(crate) fn coerced(schema: &Schema, arguments: &Value) -> Option<(Value, Vec<Violation>)> {
    let mut corrected = arguments.clone();
    let mut settled = Vec::new();
    for _ in 0..ROUNDS {
        let before = settled.len();
        for violation in schema.violations(&corrected) {
            if violation.breach == Breach::Type
                && !violation.intended
                && !settled.iter().any(|s: &Violation| s.pointer == violation.pointer)
                && correct(schema, &mut corrected, &violation)
            {
                settled.push(violation);
            }
        }
        if settled.len() == before {
            break;
        }
    }
    (!settled.is_empty()).then_some((corrected, settled))
}

fn correct(schema: &Schema, arguments: &mut Value, violation: &Violation) -> bool {
    let Some(original) = arguments.pointer(&violation.pointer).cloned() else { return false };
    for candidate in candidates(&original, &violation.expected) {
        if let Some(place) = arguments.pointer_mut(&violation.pointer) {
            *place = candidate;
        }
        let wrong = |v: &Violation| v.breach == Breach::Type && v.pointer == violation.pointer;
        if !schema.violations(arguments).iter().any(wrong) {
            return true;
        }
    }
    if let Some(place) = arguments.pointer_mut(&violation.pointer) {
        *place = original;
    }
    false
}

fn candidates(value: &Value, expected: &str) -> Vec<Value> {
    let wants = |name: &str| expected.split(" or ").any(|one| one == name);
    let mut found = Vec::new();
    if let Value::String(text) = value
        && let Ok(inner) = ExactValue::parse(text, JsonLimits::ARGUMENTS)
        && inner.long_number().is_none()
    {
        let inner = inner.value().clone();
        let fits = match &inner {
            // `42` and `4.5` are written as numbers; `007` and `1e3` are not.
            Value::Number(number) => {
                number.to_string() == *text
                    && (wants("number") || (wants("integer") && !number.is_f64()))
            }
            Value::Bool(_) => wants("boolean"),
            Value::Array(_) => wants("array"),
            Value::Object(_) => wants("object"),
            Value::Null | Value::String(_) => false,
        };
        if fits {
            found.push(inner);
        }
    }
    let one = match value {
        Value::Null | Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => is_one(text),
        _ => true,
    };
    if found.is_empty() && one && wants("array") {
        found.push(Value::Array(vec![value.clone()]));
    }
    found
}

/// Whether a text is a single value: not a word for null, and not a list that is cut off,
/// malformed, or separated by commas.
fn is_one(text: &str) -> bool {
    let text = text.trim();
    let none =
        ["", "null", "none", "nil", "undefined"].iter().any(|w| text.eq_ignore_ascii_case(w));
    let bare = !text.starts_with(['[', '{', '(', '"']) && !text.ends_with([']', '}', ')', '"']);
    !none && bare && !text.contains(',')
}
