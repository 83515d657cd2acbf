//! Questions of a server to the person at the client: they say who asks, so that none passes for one
//! of ours.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::confirm::with_all_seen;
use super::members::{Members, written};

/// The request by which a person is asked.
const ELICITATION: &str = "elicitation/create";

/// A message of the server in which each question to a person begins with the server's name:
/// a request, or what a result wants to know first (`inputRequests`).
pub(super) fn in_the_name_of(server: &str, told: String) -> String {
    // The names may be written with escapes.
    if !told.contains("elicitation") && !told.contains("\\u") {
        return told;
    }
    let Ok(members) = serde_json::from_str::<Members<'_>>(&told) else { return told };
    if let Some(asked) = asked(server, &members) {
        return asked;
    }
    let changed = members.get("result").and_then(|result| {
        let result: Members<'_> = read(result)?;
        let requests: Members<'_> = read(result.get("inputRequests")?)?;
        let mut found = false;
        let requests: Vec<(&str, Cow<'_, str>)> = requests
            .0
            .iter()
            .map(|(name, raw)| {
                let request = read::<Members<'_>>(raw).and_then(|request| asked(server, &request));
                found |= request.is_some();
                (name.as_str(), request.map_or(Cow::Borrowed(raw.get()), Cow::Owned))
            })
            .collect();
        let requests = written(requests.iter().map(|(name, request)| (*name, request.as_ref())));
        found.then(|| members.with("result", &result.with("inputRequests", &requests)))
    });
    changed.unwrap_or(told)
}

fn read<'m, T: serde::Deserialize<'m>>(raw: &'m RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// The request with the server's name before its text; `None` where it asks no person.
fn asked(server: &str, request: &Members<'_>) -> Option<String> {
    let method: String = read(request.get("method")?)?;
    if method != ELICITATION {
        return None;
    }
    let params: Members<'_> = read(request.get("params")?)?;
    let message: String = read(params.get("message")?)?;
    let message = format!("Server `{server}` asks: {}", with_all_seen(&message));
    Some(request.with("params", &params.with("message", &Value::from(message).to_string())))
}

#[cfg(test)]
mod tests {
    use super::in_the_name_of;

    #[test]
    fn a_question_says_who_asks() {
        for (told, expected) in [
            (
                r#"{"id":1,"method":"elicitation/create","params":{"message":"May this tool call run?","n": 1.50}}"#,
                r#"{"id":1,"method":"elicitation/create","params":{"message":"Server `shop` asks: May this tool call run?","n":1.50}}"#,
            ),
            (
                r#"{"id":1,"method":"elic\u0069tation/create","params":{"mess\u0061ge":"a\u202eb"}}"#,
                r#"{"id":1,"method":"elic\u0069tation/create","params":{"message":"Server `shop` asks: a\\u{202e}b"}}"#,
            ),
            (
                r#"{"id":1,"result":{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Who?"}},"b":{"method":"roots/list"}}}}"#,
                r#"{"id":1,"result":{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `shop` asks: Who?"}},"b":{"method":"roots/list"}}}}"#,
            ),
            (
                r#"{"id":1,"method":"elicitation/create","params":{}}"#,
                r#"{"id":1,"method":"elicitation/create","params":{}}"#,
            ),
            (
                r#"{"id":1,"result":{"content":[{"text":"elicitation/create"}]}}"#,
                r#"{"id":1,"result":{"content":[{"text":"elicitation/create"}]}}"#,
            ),
        ] {
            assert_eq!(in_the_name_of("shop", told.to_owned()), expected);
        }
    }
}
