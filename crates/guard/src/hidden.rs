use counterfoil_model::{Arguments, ToolCall};
use serde_json::Value;

/// Members of arguments whose name begins so are the model's thinking: nobody but the model may
/// see them, so they end here, before anything is recorded.
pub(crate) const HIDDEN: &str = "_tafc_think";

/// The call without hidden thinking. The bytes are those of the model where there was none.
#[must_use]
pub fn without_hidden(call: ToolCall) -> ToolCall {
    taken_out(call).0
}

/// The same, and whether there was nothing else in it: then the model has thought, and called
/// nothing.
pub(crate) fn taken_out(call: ToolCall) -> (ToolCall, bool) {
    if !call.arguments.as_str().contains(HIDDEN) && !call.arguments.as_str().contains('\\') {
        return (call, false);
    }
    // What cannot be read is refused by admission; that refusal must not quote it either.
    let Ok(Value::Object(mut members)) = call.arguments.parse() else {
        if call.arguments.as_str().contains(HIDDEN) {
            return (ToolCall { arguments: Arguments::raw(""), ..call }, false);
        }
        return (call, false);
    };
    let before = members.len();
    members.retain(|name, _| !name.starts_with(HIDDEN));
    if members.len() == before {
        return (call, false);
    }
    let nothing_else = members.is_empty();
    (ToolCall { arguments: Arguments::from(&Value::Object(members)), ..call }, nothing_else)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_gone_and_the_rest_is_as_written() {
        for (raw, kept) in [
            ("{\"a\": 1.0}", "{\"a\": 1.0}"),
            ("{\"_tafc_think\": \"secret\", \"a\": 1}", "{\"a\":1}"),
            ("{\"_tafc_think_2\": {\"x\": 1}}", "{}"),
            ("{\"\\u005ftafc_think\": \"secret\", \"a\": 1}", "{\"a\":1}"),
            ("{\"a\": \"about _tafc_think\"}", "{\"a\": \"about _tafc_think\"}"),
            ("{\"_tafc_think\": \"secret\"", ""),
            ("not json", "not json"),
        ] {
            let call = ToolCall {
                id: String::new(),
                tool: "t".to_owned(),
                arguments: Arguments::raw(raw),
                line: 0,
            };
            assert_eq!(without_hidden(call).arguments.as_str(), kept, "{raw}");
        }
    }
}
