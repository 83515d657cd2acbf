use serde_json::{Map, Value};

use super::literal::{folded, quantity};
use crate::prose::sets;

/// A difference between stated and recorded content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    /// A JSON pointer into the recorded result.
    pub(crate) pointer: String,
    /// The stated value.
    pub(crate) stated: String,
    /// The recorded value; empty if the result has no such member.
    pub(crate) recorded: String,
}

impl Difference {
    /// A value that differs from the recorded one.
    fn other(pointer: String, stated: &Value, recorded: &Value) -> Self {
        Self { pointer, stated: shown(stated), recorded: shown(recorded) }
    }

    /// A member that the result does not have.
    fn added(pointer: &str, key: &str, value: &Value) -> Self {
        let stated = format!("{key}: {}", shown(value));
        Self { pointer: pointer.to_owned(), stated, recorded: String::new() }
    }
}

/// Returns the first difference between the members that a claim states and the recorded result.
///
/// A claim may omit and shorten; it may not change or add.
pub(crate) fn difference(stated: &Map<String, Value>, recorded: &Value) -> Option<Difference> {
    let (whole, recorded) = (recorded, unwrapped(recorded));
    let mut added = None;
    let mut matched = 0_usize;
    for (key, value) in stated {
        if is_remark(key) || is_of_execution(key, value) {
            continue;
        }
        // The standard output of a result that is one text.
        if let (Value::String(part), Value::String(text)) = (value, recorded)
            && text.contains(part.trim())
        {
            matched += 1;
            continue;
        }
        // A result with a member `result` may also be repeated as a whole under that name.
        if is_wrapper(key) && differs(value, whole, String::new()).is_none() {
            matched += 1;
            continue;
        }
        let own = recorded.as_object().and_then(|members| member(members, key));
        let compared = match own {
            Some((name, there)) => Some((there, format!("/{}", escaped(name)))),
            None => is_wrapper(key).then(|| (recorded, String::new())),
        };
        if let Some((there, pointer)) = compared {
            if let Some(found) = differs(value, there, pointer) {
                return Some(found);
            }
            matched += 1;
        } else if occurs(value, recorded)
            || counts_a_list(value, recorded)
            || folded(key) == "exitcode"
        {
            // How the execution ended says whether the exit status is right.
            matched += 1;
        } else if added.as_ref().is_none_or(|(is_number, _)| !is_number && value.is_number()) {
            added = Some((value.is_number(), Difference::added("", key, value)));
        }
    }
    // A remark of the agent next to true values does not change the result; a number does.
    added.filter(|(is_number, _)| *is_number || matched == 0).map(|(_, added)| added)
}

/// Whether a value is the length of a list.
fn counts_a_list(value: &Value, recorded: &Value) -> bool {
    let long = |items: &Vec<Value>| value.as_u64() == u64::try_from(items.len()).ok();
    any_part(recorded, &|part| part.as_array().is_some_and(long))
}

/// Whether a result or a value at any depth in it passes a test.
fn any_part(recorded: &Value, test: &dyn Fn(&Value) -> bool) -> bool {
    test(recorded)
        || match recorded {
            Value::Object(members) => members.values().any(|inner| any_part(inner, test)),
            Value::Array(items) => items.iter().any(|inner| any_part(inner, test)),
            _ => false,
        }
}

/// Returns the first of several numbers in a list in words, if the result has none of them.
pub(crate) fn foreign_numbers(stated: &Map<String, Value>, recorded: &Value) -> Option<Difference> {
    let recorded = unwrapped(recorded);
    let known = |value: &Value| occurs(value, recorded) || counts_a_list(value, recorded);
    let foreign = recorded.is_object() && stated.len() > 1 && !stated.values().any(known);
    stated.iter().next().filter(|_| foreign).map(|(key, value)| Difference::added("", key, value))
}

/// Returns the first number that a list in words states differently from the member of the same
/// name. Rounding and other units are no difference.
pub(crate) fn different_number(
    stated: &Map<String, Value>,
    recorded: &Value,
) -> Option<Difference> {
    let recorded = unwrapped(recorded).as_object()?;
    stated.iter().find_map(|(key, value)| {
        let (name, there) = member(recorded, key)?;
        let recorded = there.as_str().map_or_else(|| Some(there.clone()), quantity);
        let (claimed, number) = (value.as_f64()?, recorded?.as_f64()?);
        let same = same_number(claimed, number) || is_converted(claimed, number);
        (!same).then(|| Difference::other(format!("/{}", escaped(name)), value, there))
    })
}

/// The number of this name in a result.
pub(crate) fn number_of(recorded: &Value, key: &str) -> Option<f64> {
    as_number(member(unwrapped(recorded).as_object()?, key)?.1)
}

/// Whether two numbers may be one quantity in two units: bytes and megabytes, seconds and hours, a
/// fraction and its percentage, miles and kilometres, pounds and kilograms, metres per second and
/// knots, kilopascals and millimetres of mercury, degrees of three scales.
fn is_converted(claimed: f64, there: f64) -> bool {
    const UNITS: [f64; 17] = [
        1.609, 1.9, 2.205, 3.6, 7.5, 8.0, 24.0, 60.0, 100.0, 1e3, 1024.0, 3600.0, 6e4, 86_400.0,
        1e6, 1.0486e6, 1e9,
    ];
    let warmth = |celsius: f64, other: f64| (celsius * 1.8 + 32.0 - other).abs() < 1.0;
    let kelvin = ((claimed - there).abs() - 273.15).abs() < 0.5;
    if kelvin || warmth(claimed, there) || warmth(there, claimed) {
        return true;
    }
    let ratio = (claimed / there).abs();
    let ratio = if ratio < 1.0 { 1.0 / ratio } else { ratio };
    UNITS.iter().any(|unit| (ratio / unit - 1.0).abs() < 0.05)
}

/// The result inside a wrapper that carries its id.
fn unwrapped(recorded: &Value) -> &Value {
    let inner = recorded.as_object().filter(|members| {
        members
            .keys()
            .all(|k| matches!(k.as_str(), "execution_id" | "tool_name" | "result" | "executed_at"))
    });
    inner.and_then(|members| members.get("result")).unwrap_or(recorded)
}

/// Whether a member of this name repeats the whole result.
fn is_wrapper(key: &str) -> bool {
    sets::REPEATS_A_RESULT.list.contains(&folded(key).as_str())
}

/// Whether a member is about the call, or is a remark of the agent.
fn is_remark(key: &str) -> bool {
    sets::BESIDE_A_RESULT.list.contains(&folded(key).as_str())
}

/// `"status": "completed"` may be how the execution ended; `"status": "connected"` is part of its
/// result.
fn is_of_execution(key: &str, value: &Value) -> bool {
    let ended =
        |word: &str| matches!(folded(word).as_str(), "completed" | "success" | "ok" | "failed");
    match folded(key).as_str() {
        "success" | "completed" | "ok" => true,
        "status" => value.as_str().is_none_or(ended),
        _ => false,
    }
}

fn member<'v>(members: &'v Map<String, Value>, key: &str) -> Option<(&'v str, &'v Value)> {
    if let Some((name, value)) = members.get_key_value(key) {
        return Some((name, value));
    }
    let wanted = folded(key);
    members.iter().find(|(name, _)| folded(name) == wanted).map(|(n, v)| (n.as_str(), v))
}

fn differs(stated: &Value, recorded: &Value, pointer: String) -> Option<Difference> {
    match (stated, recorded) {
        (Value::Object(claimed), Value::Object(there)) => {
            claimed.iter().find_map(|(key, value)| match member(there, key) {
                Some((name, inner)) => {
                    differs(value, inner, format!("{pointer}/{}", escaped(name)))
                }
                None if is_remark(key) => None,
                None => Some(Difference::added(&pointer, key, value)),
            })
        }
        (Value::Array(claimed), Value::Array(there)) => {
            // Elements are compared in order; omitted ones do not matter.
            let mut rest = there.iter().enumerate();
            claimed.iter().enumerate().find_map(|(at, value)| {
                if is_elision(value) {
                    return None;
                }
                if rest.any(|(_, t)| differs(value, t, String::new()).is_none()) {
                    return None;
                }
                let recorded = there.get(at).map(shown).unwrap_or_default();
                Some(Difference {
                    pointer: format!("{pointer}/{at}"),
                    stated: shown(value),
                    recorded,
                })
            })
        }
        (Value::Object(_) | Value::Array(_), Value::String(text)) => {
            match serde_json::from_str::<Value>(text) {
                Ok(inner) if !inner.is_string() => differs(stated, &inner, pointer),
                _ if occurs(stated, recorded) => None,
                _ => Some(Difference::other(pointer, stated, recorded)),
            }
        }
        _ if same_leaf(stated, recorded) => None,
        _ => Some(Difference::other(pointer, stated, recorded)),
    }
}

fn same_leaf(stated: &Value, recorded: &Value) -> bool {
    if is_elision(stated) || stated == recorded {
        return true;
    }
    if let (Some(claimed), Some(there)) = (as_number(stated), as_number(recorded)) {
        return same_number(claimed, there);
    }
    match (stated, recorded) {
        (Value::String(claimed), Value::String(there)) => is_quote_of(claimed, there),
        (Value::String(claimed), Value::Bool(there)) => {
            claimed.eq_ignore_ascii_case(&there.to_string())
        }
        (Value::Bool(claimed), Value::String(there)) => {
            there.eq_ignore_ascii_case(&claimed.to_string())
        }
        (Value::String(claimed), Value::Object(_) | Value::Array(_)) => {
            match serde_json::from_str::<Value>(claimed) {
                Ok(inner) if !inner.is_string() => {
                    differs(&inner, recorded, String::new()).is_none()
                }
                _ => is_quote_of(claimed, &recorded.to_string()),
            }
        }
        (Value::Number(_), Value::String(there)) => occurs_in(&shown(stated), there),
        (Value::String(claimed), Value::Number(there)) => claimed.contains(&there.to_string()),
        _ => false,
    }
}

fn is_elision(value: &Value) -> bool {
    value.as_str().is_some_and(|text| matches!(text.trim(), "…" | "..."))
}

pub(crate) fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().replace(',', "").parse().ok(),
        _ => None,
    }
}

/// Equal, or one is the other rounded to its number of decimals.
pub(crate) fn same_number(claimed: f64, there: f64) -> bool {
    let text = claimed.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let unit = 10_f64.powi(-i32::try_from(decimals).unwrap_or(0));
    let rounded = there.fract() != 0.0 && (claimed - there).abs() <= unit / 2.0;
    (claimed - there).abs() <= f64::EPSILON * claimed.abs().max(there.abs()) || rounded
}

/// Whether it is the whole text, its beginning, or pieces of it in order with dots between them.
pub(crate) fn is_quote_of(quote: &str, there: &str) -> bool {
    let (quote, there) = (spaced(quote), spaced(there));
    if quote == there || (quote.len() >= 8 && there.contains(&quote)) {
        return true;
    }
    if !quote.contains('…') && !quote.contains("...") {
        return false;
    }
    let mut rest = there.as_str();
    quote.replace("...", "…").split('…').map(str::trim).all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = rest.get(at + piece.len()..).unwrap_or_default();
            true
        }
        None => false,
    })
}

/// Replaces every run of white space with one space.
pub(crate) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a value occurs anywhere in the result.
fn occurs(value: &Value, recorded: &Value) -> bool {
    match value {
        Value::Object(members) => members.values().all(|v| occurs(v, recorded)),
        Value::Array(items) => items.iter().all(|v| occurs(v, recorded)),
        Value::Null => true,
        _ => any_part(recorded, &|part| {
            let within = |text: &str| occurs_in(&shown(value), text);
            let leaf = !(part.is_object() || part.is_array());
            leaf && (same_leaf(value, part) || part.as_str().is_some_and(within))
        }),
    }
}

/// Whether `word` occurs in `text` and is not part of a longer word or number.
fn occurs_in(word: &str, text: &str) -> bool {
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + word.len()..).unwrap_or_default();
            let mut next = after.chars();
            let digit_follows = match next.next() {
                Some('.') => next.next().is_some_and(|c| c.is_ascii_digit()),
                Some(c) => c.is_ascii_digit(),
                None => false,
            };
            !before.is_some_and(|c| c.is_alphanumeric() || c == '.') && !digit_follows
        })
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = text.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty());
    let text = text.collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(160) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(stated: &Value, recorded: &Value, expected: Option<(&str, &str, &str)>) {
        let found = difference(stated.as_object().unwrap(), recorded);
        let found =
            found.as_ref().map(|d| (d.pointer.as_str(), d.stated.as_str(), d.recorded.as_str()));
        assert_eq!(found, expected, "{stated} against {recorded}");
    }

    #[test]
    fn what_may_be_put_differently() {
        let recorded = json!({"download": 125.0, "note": "the line is fast and steady", "hops": [1, 2, 3], "at": {"b": "x"}});
        check(&json!({"download": 125}), &recorded, None);
        check(&json!({"Download": "125"}), &recorded, None);
        check(&json!({"note": "the line is …"}), &recorded, None);
        check(&json!({"hops": [1, 3]}), &recorded, None);
        check(&json!({"hops": [1, "…"]}), &recorded, None);
        check(&json!({"at": {"b": "x"}, "summary": "all fine"}), &recorded, None);
        check(&json!({"result": {"download": 125}}), &recorded, None);
        check(&json!({"result": "up 15ms"}), &json!("up 15ms"), None);
        check(&json!({"latency": 15}), &json!("up, latency 15 ms"), None);
        let wrapped = json!({"execution_id": "p_1234567890_abcd", "tool_name": "p", "result": "up", "executed_at": "now"});
        check(&json!({"result": "up"}), &wrapped, None);
        check(&json!({"loss": 0.33}), &json!({"loss": 0.3333}), None);
    }

    #[test]
    fn changes() {
        let recorded = json!({"download": 125, "hops": [1, 2], "at": {"b": "x"}});
        check(&json!({"download": 512}), &recorded, Some(("/download", "512", "125")));
        check(&json!({"at": {"b": "y"}}), &recorded, Some(("/at/b", "y", "x")));
        check(&json!({"hops": [1, 9]}), &recorded, Some(("/hops/1", "9", "2")));
        check(&json!({"upload": 73}), &recorded, Some(("", "upload: 73", "")));
        check(&json!({"result": "down"}), &json!("up"), Some(("", "down", "up")));
        check(&json!({"latency": 5}), &json!("latency 15 ms"), Some(("", "latency: 5", "")));
    }
}
