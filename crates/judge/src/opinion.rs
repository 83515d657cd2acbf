//! A model's reply, before it is checked.

use counterfoil_model::{JsonLimits, parse_strict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The two ways in which a statement can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadVerdict {
    /// The record shows something else.
    Contradicted,
    /// The record does not contain it at all.
    Unsupported,
}

/// A statement that a judge calls false or made up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// The label of the sentence: `S2`.
    pub sentence: String,
    /// Whether it is contradicted or unsupported.
    pub verdict: ReadVerdict,
    /// The quoted words of the sentence.
    pub says: String,
    /// The label of the cited line: `R3`. `None` if the record has nothing on this.
    #[serde(default)]
    pub record: Option<String>,
    /// The quoted words of that line.
    #[serde(default)]
    pub quote: String,
    /// The tool whose call would have made the sentence true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
}

/// A judge's reply about one answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// The statements it calls false or made up.
    pub findings: Vec<Claimed>,
    /// The lines it asks to see: `R12`, `C14-C20`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub need: Vec<String>,
}

/// Why a reply is not a valid opinion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unjudged {
    /// The reply is empty.
    #[error("the reply is empty")]
    Empty,
    /// The reply is longer than the limit.
    #[error("the reply has {0} bytes; the limit is {LONGEST}")]
    TooLong(usize),
    /// The reply is not UTF-8.
    #[error("the reply is not UTF-8")]
    NotText,
    /// The reply contains no JSON object with `findings`.
    #[error("the reply has no JSON object with `findings`")]
    NoObject,
    /// The reply contains several, so it is unclear which one is meant.
    #[error("the reply has several JSON objects with `findings`")]
    Several,
    /// A member is missing or invalid.
    #[error("the reply does not have the expected format: {0}")]
    Form(String),
}

/// Maximum length of a reply in bytes.
const LONGEST: usize = 1_000_000;
/// Maximum number of findings per reply.
const MOST_FINDINGS: usize = 200;
/// Maximum number of JSON objects considered in a reply.
const MOST_OBJECTS: usize = 64;

impl Opinion {
    /// Reads a reply: one JSON object with `findings`, possibly in a code fence or between other
    /// text.
    ///
    /// # Errors
    /// See [`Unjudged`].
    pub fn read(reply: &str) -> Result<Self, Unjudged> {
        if reply.trim().is_empty() {
            return Err(Unjudged::Empty);
        }
        if reply.len() > LONGEST {
            return Err(Unjudged::TooLong(reply.len()));
        }
        let limits = JsonLimits { depth: 16, bytes: LONGEST };
        let mut opinions = Vec::new();
        let (objects, open) = objects(reply);
        // A broken opinion must not be skipped in favour of another object.
        let was_one = |text: &str| text.contains("\"findings\"");
        let mut wrong = open.filter(|open| was_one(open)).map(|_| "the JSON is cut off".to_owned());
        for object in objects {
            match parse_strict(object, limits) {
                Ok(value) if value.get("findings").is_some() => opinions.push(value),
                Ok(_) => {}
                Err(error) if was_one(object) => wrong = Some(error.to_string()),
                Err(_) => {}
            }
        }
        match (opinions.pop(), wrong) {
            (_, Some(error)) => Err(Unjudged::Form(error)),
            (Some(_), None) if !opinions.is_empty() => Err(Unjudged::Several),
            (Some(value), None) => Self::from_value(value),
            (None, None) => Err(Unjudged::NoObject),
        }
    }

    /// Reads a reply given as bytes.
    ///
    /// # Errors
    /// See [`Unjudged`]; also when the bytes are not UTF-8.
    pub fn read_bytes(reply: &[u8]) -> Result<Self, Unjudged> {
        str::from_utf8(reply).map_err(|_| Unjudged::NotText).and_then(Self::read)
    }

    fn from_value(value: Value) -> Result<Self, Unjudged> {
        let opinion: Self =
            serde_json::from_value(value).map_err(|error| Unjudged::Form(error.to_string()))?;
        if opinion.findings.len() > MOST_FINDINGS {
            return Err(Unjudged::Form(format!(
                "{} findings, more than the limit of {MOST_FINDINGS}",
                opinion.findings.len()
            )));
        }
        let sure = |claimed: &Claimed| (0.0..=1.0).contains(&claimed.confidence);
        match opinion.findings.iter().find(|claimed| !sure(claimed)) {
            Some(claimed) => Err(Unjudged::Form(format!(
                "confidence {} is not between 0 and 1",
                claimed.confidence
            ))),
            None => Ok(opinion),
        }
    }
}

/// The outermost `{…}` objects of a text, ignoring braces in JSON strings, and the unclosed one if
/// there is one.
fn objects(text: &str) -> (Vec<&str>, Option<&str>) {
    let mut found = Vec::new();
    let (mut depth, mut start, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            // Quotation marks outside objects do not count.
            b'"' if depth > 0 => quoted = !quoted,
            _ if quoted => {}
            b'{' => {
                start = if depth == 0 { at } else { start };
                depth += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.extend(text.get(start..=at));
                }
            }
            _ => {}
        }
        if found.len() >= MOST_OBJECTS {
            depth = 0;
            break;
        }
    }
    let open = text.get(start..).filter(|_| depth > 0);
    (found, open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read() {
        let one = r#"{"sentence":"S1","verdict":"unsupported","says":"a b","confidence":0.9}"#;
        let whole = format!(r#"{{"findings":[{one}]}}"#);
        for (reply, expected) in [
            (r#"{"findings": []}"#.to_owned(), "0"),
            (whole.clone(), "1"),
            (format!("```json\n{whole}\n```"), "1"),
            (format!("Here it is: {whole} Bye {{}}."), "1"),
            (format!("He said \"no. {whole}"), "1"),
            (whole.replace("\"S1\"", "\"S1\",\"why\":\"x\""), "1"),
            (String::new(), "the reply is empty"),
            ("no".to_owned(), "the reply has no JSON object with `findings`"),
            ("[]".to_owned(), "the reply has no JSON object with `findings`"),
            (
                whole.replace("]}", ""),
                "the reply does not have the expected format: the JSON is cut off",
            ),
            (format!("{whole}{whole}"), "the reply has several JSON objects with `findings`"),
            (
                whole.replace("0.9", "1.5"),
                "the reply does not have the expected format: confidence 1.5 is not between 0 and 1",
            ),
            (whole.replace("0.9", "\"high\""), "the reply does not have the expected format"),
            (whole.replace("unsupported", "false"), "the reply does not have the expected format"),
            (r#"{"findings": {}}"#.to_owned(), "the reply does not have the expected format"),
            (
                r#"{"findings": [], "findings": []}"#.to_owned(),
                "the reply does not have the expected format",
            ),
            ("{".repeat(200_000), "the reply has no JSON object with `findings`"),
            ("x".repeat(1_000_001), "the reply has 1000001 bytes"),
        ] {
            let read = match Opinion::read(&reply) {
                Ok(opinion) => opinion.findings.len().to_string(),
                Err(error) => error.to_string(),
            };
            assert!(read.starts_with(expected), "{read}, expected {expected}");
        }
    }
}
