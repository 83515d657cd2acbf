use serde_json::{Map, Value, json};

use counterfoil_redact::Redactor;
use counterfoil_tools::ToolOutput;

/// What a tool returned in addition to its text, redacted.
#[derive(Debug, Default)]
pub(super) struct Beside {
    content: Vec<Value>,
    pub(super) meta: Option<Value>,
    pub(super) warnings: Vec<String>,
}

impl Beside {
    pub(super) fn from_output(output: &ToolOutput, redactor: &Redactor) -> Self {
        let clean = |text: &String| redactor.redact(text).into_owned();
        Self {
            content: output.content.iter().map(|block| clean_block(block, redactor)).collect(),
            meta: output.meta.as_ref().map(|meta| redactor.redact_value(meta)),
            warnings: output.warnings.iter().map(clean).collect(),
        }
    }

    /// Whether the result has content blocks.
    pub(super) fn has_blocks(&self) -> bool {
        !self.content.is_empty()
    }

    /// The blocks of the result. If the agent sees a different text than the tool returned, that
    /// text replaces all text blocks, at the place of the first one.
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

/// Redacts a block. Base64 data of an image, a sound or a file is kept unchanged: it is not text in
/// which a secret could be found.
fn clean_block(block: &Value, redactor: &Redactor) -> Value {
    let Value::Object(members) = block else { return redactor.redact_value(block) };
    let kind = members.get("type").and_then(Value::as_str);
    let clean = members.iter().map(|(name, value)| {
        let clean = match (kind, name.as_str(), value) {
            (Some("image" | "audio"), "data", Value::String(_))
            | (None, "blob", Value::String(_)) => value.clone(),
            (Some("resource"), "resource", inner) => clean_block(inner, redactor),
            _ => redactor.redact_value(value),
        };
        (name.clone(), clean)
    });
    Value::Object(clean.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lose_secrets_and_keep_what_is_encoded() {
        let token = concat!("ghp_Zx8Qw2Er5Ty7", "Ui9Op1As3Df6Gh4Jk0Lz2Xc");
        let output = ToolOutput {
            content: vec![
                json!({ "type": "text", "text": token, "data": token }),
                json!({ "type": "image", "mimeType": "image/png", "data": token }),
                json!({ "type": "resource", "resource": { "uri": "a:b", "blob": token } }),
                json!({ "type": "resource", "resource": { "uri": "a:b", "text": token } }),
            ],
            meta: Some(json!({ "note": token })),
            warnings: vec![token.to_owned()],
            ..ToolOutput::default()
        };
        let beside = Beside::from_output(&output, &Redactor::standard());
        let kept: Vec<usize> =
            beside.content.iter().map(|block| block.to_string().matches(token).count()).collect();
        assert_eq!(kept, [0, 1, 1, 0]);
        assert!(!format!("{:?}{:?}", beside.meta, beside.warnings).contains(token));
        let shown = beside.content(Some(&"less".to_owned()));
        assert_eq!(shown[0], json!({ "type": "text", "text": "less" }));
        assert_eq!((shown.len(), &shown[1]["type"]), (4, &json!("image")));
    }
}
