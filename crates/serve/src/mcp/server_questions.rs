//! Questions of a server to the person at the client: they say who asks, so that none passes for one
//! of ours.

use std::borrow::Cow;

use counterfoil_formats::mended_json;
use serde_json::Value;
use serde_json::value::RawValue;

use super::confirm::with_all_seen;
use super::looks::is_unseen;
use super::members::{Members, written};

/// The request by which a person is asked.
const ELICITATION: &str = "elicitation/create";

/// Members of a question, and of a request in `inputRequests`.
const QUESTION: [&str; 5] = ["message", "requestedSchema", "mode", "url", "elicitationId"];
const REQUEST: [&str; 2] = ["method", "params"];

/// Members of a form that people read.
const READ: [&str; 3] = ["title", "description", "enumNames"];

/// A message of the server in which each question to a person begins with the server's name:
/// a request, or what a result or a notification about a task wants to know first
/// (`inputRequests`). `None` if it asks no person.
///
/// # Errors
/// When a question cannot be read, so that it is unknown what a person would see.
pub(crate) fn in_the_name_of(server: &str, message: &str) -> Result<Option<String>, String> {
    // The names may be written with escapes.
    if !["elicitation", "nputRequests", "\\u"].iter().any(|sign| message.contains(sign)) {
        return Ok(None);
    }
    let members: Members<'_> = read(message)?;
    if let Some(named) = with_server_name(server, &members)? {
        return Ok(Some(named));
    }
    for name in ["result", "params"] {
        let inner = members.get(name).filter(|inner| inner.get().starts_with('{'));
        let Some((inner, requests)) = inner.map(wanted).transpose()?.flatten() else { continue };
        if let Some(requests) = all_with_server_name(server, requests)? {
            let inner = inner.with("inputRequests", &requests);
            return Ok(Some(members.with(name, &inner)));
        }
    }
    Ok(None)
}

/// What a result wants to know first, with all its members.
fn wanted(raw: &RawValue) -> Result<Option<(Members<'_>, &RawValue)>, String> {
    const WANTED: &str = "inputRequests";
    let Ok(members) = serde_json::from_str::<Members<'_>>(raw.get()) else {
        // A lenient reader may find requests where a strict one finds no object.
        let mended = mended_json(raw.get());
        let members: Members<'_> = read(&mended)?;
        return match members.get(WANTED).is_some() || members.lookalike(&[WANTED]).is_some() {
            true => Err("a question from the server is not JSON".to_owned()),
            false => Ok(None),
        };
    };
    if let Some(odd) = members.lookalike(&[WANTED]) {
        return Err(odd);
    }
    let requests = members.get(WANTED).filter(|raw| raw.get() != "null");
    Ok(requests.map(|requests| (members, requests)))
}

/// The requests of a result with the server's name in each question; `None` if none asks a person.
fn all_with_server_name(server: &str, requests: &RawValue) -> Result<Option<String>, String> {
    let requests: Members<'_> = read(requests.get())?;
    let mut found = false;
    let mut all: Vec<(&str, Cow<'_, str>)> = Vec::new();
    for (name, raw) in &requests.0 {
        let request = with_server_name(server, &read(raw.get())?)?;
        found |= request.is_some();
        all.push((name, request.map_or(Cow::Borrowed(raw.get()), Cow::Owned)));
    }
    let all = all.iter().map(|(name, request)| (*name, request.as_ref()));
    Ok(found.then(|| written(all)))
}

fn read<'m, T: serde::Deserialize<'m>>(raw: &'m str) -> Result<T, String> {
    serde_json::from_str(raw)
        .map_err(|error| format!("a question from the server cannot be read: {error}"))
}

/// The request with the server's name before its text; `None` where it asks no person.
fn with_server_name(server: &str, request: &Members<'_>) -> Result<Option<String>, String> {
    if let Some(odd) = request.lookalike(&REQUEST) {
        return Err(odd);
    }
    let Some(method) = request.get("method") else { return Ok(None) };
    if read::<String>(method.get())? != ELICITATION {
        return Ok(None);
    }
    let missing = |name: &str| format!("a question from the server has no `{name}`");
    let params = request.get("params").ok_or_else(|| missing("params"))?;
    let params: Members<'_> = read(params.get())?;
    if let Some(odd) = params.lookalike(&QUESTION) {
        return Err(odd);
    }
    let message: String = read(params.get("message").ok_or_else(|| missing("message"))?.get())?;
    let message = format!("Server `{server}` asks: {}", with_all_seen(&message));
    let named = params.with("message", &Value::from(message).to_string());
    let named = match params.get("requestedSchema") {
        None => named,
        Some(form) => {
            let (before, mut after) = (read::<Value>(form.get())?, read::<Value>(form.get())?);
            without_unseen(&mut after, false);
            match before == after {
                true => named,
                false => {
                    let members: Members<'_> = read(&named)?;
                    members.with("requestedSchema", &after.to_string())
                }
            }
        }
    };
    Ok(Some(request.with("params", &named)))
}

/// Removes invisible characters from what people read of a form.
fn without_unseen(value: &mut Value, is_read: bool) {
    match value {
        Value::String(text) if is_read => text.retain(|c| !is_unseen(c)),
        Value::Array(items) => items.iter_mut().for_each(|item| without_unseen(item, is_read)),
        Value::Object(members) => {
            for (name, value) in members {
                without_unseen(value, READ.contains(&name.as_str()));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::in_the_name_of;

    #[test]
    fn a_question_says_who_asks() {
        for (message, expected) in [
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
                r#"{"method":"notifications/tasks","params":{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Who?"}}}}}"#,
                r#"{"method":"notifications/tasks","params":{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `shop` asks: Who?"}}}}}"#,
            ),
            (
                "{\"id\":1,\"method\":\"elicitation/create\",\"params\":{\"message\":\"a\",\"requestedSchema\":{\"properties\":{\"n\":{\"title\":\"N\u{200b}ame\",\"enum\":[\"a\u{200b}\"]}}}}}",
                "{\"id\":1,\"method\":\"elicitation/create\",\"params\":{\"message\":\"Server `shop` asks: a\",\"requestedSchema\":{\"properties\":{\"n\":{\"title\":\"Name\",\"enum\":[\"a\u{200b}\"]}}}}}",
            ),
            (
                r#"{"id":1,"result":{"content":[{"text":"elicitation/create"}]}}"#,
                r#"{"id":1,"result":{"content":[{"text":"elicitation/create"}]}}"#,
            ),
            (
                r#"{"id":1,"result":{"content":[],"\ud800":"\u0061"}}"#,
                r#"{"id":1,"result":{"content":[],"\ud800":"\u0061"}}"#,
            ),
        ] {
            let found = in_the_name_of("shop", message).unwrap();
            let values = [found.as_deref().unwrap_or(message), expected]
                .map(|text| text.replace("\\ud800", "x"));
            let [found, expected] =
                values.map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_question_that_cannot_be_read_is_none() {
        for params in [
            "{}",
            "[]",
            r#"{"message":1}"#,
            r#"{"message":null}"#,
            r#"{"message":"\ud800 May this tool call run?"}"#,
            r#"{"message":"a","message":"b"}"#,
            r#"{"message":"a","Message":"b"}"#,
            r#"{"message":"a","\ud800":1}"#,
        ] {
            let request = format!(r#"{{"id":1,"method":"elicitation/create","params":{params}}}"#);
            let template = r#"{"id":1,"result":{"inputRequests":{"a":REQUEST}}}"#;
            for message in [template.replace("REQUEST", &request), request] {
                assert!(in_the_name_of("shop", &message).is_err(), "{message}");
            }
        }
        for requests in ["[]", r#"{"a":1}"#, r#"{"a":{"method":1}}"#, r#"{"a":{"Method":"x"}}"#] {
            let message = format!(r#"{{"id":1,"result":{{"inputRequests":{requests}}}}}"#);
            assert!(in_the_name_of("shop", &message).is_err(), "{requests}");
        }
        for message in [
            r#"{"id":1,"result":{"InputRequests":{}}}"#,
            r#"{"id":1,"result":{"\ud800":1,"inputRequests":{}}}"#,
        ] {
            assert!(in_the_name_of("shop", message).is_err(), "{message}");
        }
    }
}
