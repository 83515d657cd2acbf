//! Errors of a server. Clients show them, so they are judged like answers.

use counterfoil_providers::WireError;
use hyper::body::Bytes;
use serde_json::Value;

use crate::exchange::Exchange;
use crate::frames::Frame;
use crate::shape;

/// The maximum length of an error that is judged, in bytes.
pub(crate) const LONGEST: usize = 64 * 1024;

/// The maximum number of texts in an error.
const MOST_TEXTS: usize = 32;

/// Members of answers. A body with one of them is not an error.
const OF_ANSWERS: [&str; 6] = ["choices", "output", "content", "completion", "delta", "response"];

/// The reason for a missing answer in our own words, because the words of the server, or of a
/// reader that quotes it, are not judged.
pub(crate) fn plain(error: &WireError) -> &'static str {
    match error {
        WireError::Reported(_) => "the server failed",
        WireError::BrokenOff => "the answer was cut off",
        _ => "the answer cannot be read",
    }
}

/// The reason with the server's words, if nothing is wrong with them.
pub(crate) async fn describe(exchange: &Exchange, error: &WireError) -> String {
    match error {
        WireError::Reported(message) if passes(exchange, std::slice::from_ref(message)).await => {
            format!("the server says: {message}")
        }
        error => plain(error).to_owned(),
    }
}

/// The event with which a server gave up, for the client; `None` if something in it is wrong.
pub(crate) async fn event(exchange: &Exchange, frame: &Frame) -> Option<Bytes> {
    let parsed = shape::parse(&frame.data).ok()?;
    let mut found = Vec::new();
    texts(&parsed, &mut found);
    passes(exchange, &found).await.then(|| exchange.settings.without_keys(&frame.raw))
}

/// The body of an error, for the client; `None` if something in it is wrong.
pub(crate) async fn body(exchange: &Exchange, body: &Bytes) -> Option<Bytes> {
    if body.len() > LONGEST {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let mut found = Vec::new();
    match shape::parse(text) {
        Ok(parsed) if OF_ANSWERS.iter().any(|name| parsed.get(name).is_some()) => return None,
        Ok(parsed) => texts(&parsed, &mut found),
        Err(_) => loose(text, &mut found)?,
    }
    passes(exchange, &found).await.then(|| exchange.settings.without_keys(body))
}

/// Collects the texts of a body that is not JSON: itself, and all JSON texts in it, because some
/// clients read events or lines in it. `None` if it has a member of answers.
fn loose(body: &str, found: &mut Vec<String>) -> Option<()> {
    found.push(body.to_owned());
    let (mut rest, mut together) = (body, String::new());
    while let Some(at) = rest.find('"') {
        let from = rest.get(at..)?;
        let Some(end) = end_of_text(from) else { break };
        let text: Option<String> = from.get(..end).and_then(|text| serde_json::from_str(text).ok());
        rest = from.get(if text.is_some() { end } else { 1 }..)?;
        let Some(text) = text else { continue };
        if rest.trim_start().starts_with(':') {
            if OF_ANSWERS.contains(&text.as_str()) {
                return None;
            }
            continue;
        }
        together.push_str(&text);
        if text.contains(char::is_whitespace) {
            found.push(text);
        }
    }
    found.push(together);
    Some(())
}

/// Where the JSON text ends that a text begins with, after its closing quote.
fn end_of_text(text: &str) -> Option<usize> {
    let mut escaped = false;
    let closing = text.bytes().skip(1).position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    closing.map(|at| at + 2)
}

/// Why an answer may not be passed on: something in the server's words about it is wrong.
pub(crate) async fn remarks(exchange: &Exchange, found: &[String]) -> Option<String> {
    let passes = found.is_empty() || passes(exchange, found).await;
    (!passes)
        .then(|| "a text that the server added to the answer did not pass the check".to_owned())
}

/// Whether nothing is wrong with these texts, individually and together.
async fn passes(exchange: &Exchange, texts: &[String]) -> bool {
    if texts.len() > MOST_TEXTS || texts.iter().any(|text| shape::has_odd_letters(text)) {
        return false;
    }
    let together = texts.join("\n\n");
    for text in texts.iter().chain([&together]) {
        let judged = exchange.judge_text(text).await;
        if !judged.is_ok_and(|bad| bad.is_empty()) {
            return false;
        }
    }
    true
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| texts(value, found)),
        Value::Object(members) => members.values().for_each(|value| texts(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_a_body_are_found_in_every_form() {
        for (body, expected) in [
            ("Not found", Some(vec![""])),
            ("data: {\"error\":{\"message\":\"a \\u0062\"}}\n\n", Some(vec!["a b", "a b"])),
            ("{\"x\":\"I \"}\n{\"x\":\"sent\"}", Some(vec!["I ", "I sent"])),
            ("5\" wide", Some(vec![""])),
            ("data: {\"choices\":[]}", None),
            ("data: { \"delta\" : {} }", None),
        ] {
            let mut found = Vec::new();
            let read = loose(body, &mut found).map(|()| found.split_off(1));
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(read, expected, "{body}");
        }
    }
}
