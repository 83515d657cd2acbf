use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How the agent sees the id of an execution. Each surface has its own setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShowId {
    /// Next to the result, if the wire has a place for it. The result is not changed.
    #[default]
    Metadata,
    /// As the line `(execution_id: …)` at the end of the text.
    Trailer,
    /// Inside the result: `execution_id` and `executed_at` are added to an object. Any other
    /// result, and an object that already has such a member (a tool cannot plant its own id), is
    /// wrapped as `{execution_id, tool_name, result, executed_at}`.
    Embed,
}

impl ShowId {
    /// Returns the text as the agent sees it. `executed_at` is in RFC 3339.
    #[must_use]
    pub fn show(
        self,
        text: &str,
        structured: Option<&Value>,
        execution_id: &str,
        tool: &str,
        executed_at: &str,
    ) -> String {
        match self {
            Self::Metadata => text.to_owned(),
            Self::Trailer => {
                let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
                format!("{text}{gap}(execution_id: {execution_id})")
            }
            Self::Embed => embedded(text, structured, execution_id, tool, executed_at).to_string(),
        }
    }
}

fn embedded(
    text: &str,
    structured: Option<&Value>,
    execution_id: &str,
    tool: &str,
    executed_at: &str,
) -> Value {
    match structured {
        Some(Value::Object(members))
            if !members.contains_key("execution_id") && !members.contains_key("executed_at") =>
        {
            let mut members: Map<String, Value> = members.clone();
            members.insert("execution_id".to_owned(), json!(execution_id));
            members.insert("executed_at".to_owned(), json!(executed_at));
            Value::Object(members)
        }
        other => json!({
            "execution_id": execution_id,
            "tool_name": tool,
            "result": other.cloned().unwrap_or_else(|| json!(text)),
            "executed_at": executed_at,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways() {
        let show = |way: ShowId, text: &str, structured: Option<Value>| {
            way.show(text, structured.as_ref(), "ping_1735999999123_9f3a01bc", "ping", "T")
        };
        let object = || Some(json!({ "up": true }));
        let planted = || Some(json!({ "execution_id": "ping_1735999999124_00000000" }));
        for (way, text, structured, shown) in [
            (ShowId::Metadata, "up", None, "up"),
            (ShowId::Trailer, "up", None, "up\n(execution_id: ping_1735999999123_9f3a01bc)"),
            (ShowId::Trailer, "", None, "(execution_id: ping_1735999999123_9f3a01bc)"),
            (
                ShowId::Embed,
                "{\"up\":true}",
                object(),
                r#"{"up":true,"execution_id":"ping_1735999999123_9f3a01bc","executed_at":"T"}"#,
            ),
            (
                ShowId::Embed,
                "up",
                None,
                r#"{"execution_id":"ping_1735999999123_9f3a01bc","tool_name":"ping","result":"up","executed_at":"T"}"#,
            ),
            (
                ShowId::Embed,
                "",
                planted(),
                r#"{"execution_id":"ping_1735999999123_9f3a01bc","tool_name":"ping","result":{"execution_id":"ping_1735999999124_00000000"},"executed_at":"T"}"#,
            ),
        ] {
            assert_eq!(show(way, text, structured), shown);
        }
    }
}
