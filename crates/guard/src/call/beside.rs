use serde_json::{Map, Value, json};

use crate::executor::ToolOutput;
use crate::redact::Redactor;

/// What a tool gave beside its text, without secrets.
#[derive(Debug, Default)]
pub(super) struct Beside {
    content: Vec<Value>,
    pub(super) meta: Option<Value>,
    pub(super) warnings: Vec<String>,
}

impl Beside {
    pub(super) fn of(output: &ToolOutput, redactor: &Redactor) -> Self {
        let clean = |text: &String| redactor.redact(text).into_owned();
        Self {
            content: output.content.iter().map(|block| clean_block(block, redactor)).collect(),
            meta: output.meta.as_ref().map(|meta| redactor.redact_value(meta)),
            warnings: output.warnings.iter().map(clean).collect(),
        }
    }

    /// The blocks of the result. Where the agent sees another text than the tool gave, that one
    /// stands in the place of the first text, and for all of them.
    pub(super) fn content(&self, shown: Option<&String>) -> Vec<Value> {
        let Some(shown) = shown.filter(|_| !self.content.is_empty()) else {
            return self.content.clone();
        };
        let is_text = |block: &Value| block.get("type").is_some_and(|kind| kind == "text");
        let first = self.content.iter().position(is_text).unwrap_or(0);
        let mut content: Vec<Value> = self.content.clone();
        content.retain(|block| !is_text(block));
        content.insert(first.min(content.len()), json!({ "type": "text", "text": shown }));
        content
    }
}

/// Members of blocks that hold a picture, a sound or a file in Base64: no text in which a secret
/// could be seen.
const ENCODED: [&str; 2] = ["data", "blob"];

fn clean_block(block: &Value, redactor: &Redactor) -> Value {
    let Value::Object(members) = block else { return redactor.redact_value(block) };
    let clean = members.iter().map(|(name, value)| {
        let clean = match (name.as_str(), value) {
            (name, Value::String(_)) if ENCODED.contains(&name) => value.clone(),
            ("resource", inner) => clean_block(inner, redactor),
            _ => redactor.redact_value(value),
        };
        (name.clone(), clean)
    });
    Value::Object(clean.collect::<Map<_, _>>())
}
