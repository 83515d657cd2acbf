use counterfoil_model::{Arguments, ToolCall};

/// The prefix of argument names that hold the model's thinking, in any case of letters. Only the
/// model may see it, so it is removed before anything is recorded.
pub const HIDDEN: &str = "_tafc_think";

/// Whether a member of this name is the model's thinking.
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    let start = name.as_bytes().get(..HIDDEN.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(HIDDEN.as_bytes()))
}

/// Whether a text that cannot be parsed may contain the model's thinking.
#[must_use]
pub fn names_hidden(text: &str) -> bool {
    let mut starts = text.as_bytes().windows(HIDDEN.len());
    starts.any(|start| start.eq_ignore_ascii_case(HIDDEN.as_bytes()))
}

/// The call without hidden thinking. The bytes are unchanged if there is none.
#[must_use]
pub fn without_hidden(call: ToolCall) -> ToolCall {
    take_hidden_out(call).0
}

/// Removes hidden thinking from the call. Also returns whether there was nothing else, so that the
/// model only thought and called nothing.
#[must_use]
pub fn take_hidden_out(call: ToolCall) -> (ToolCall, bool) {
    let named = names_hidden(call.arguments.as_str());
    if !named && !call.arguments.as_str().contains('\\') {
        return (call, false);
    }
    // Admission refuses arguments that cannot be parsed; its refusal must not quote the thinking
    // either.
    let Some(mut arguments) = call.arguments.exact().ok().filter(|read| read.is_object()) else {
        if named {
            return (ToolCall { arguments: Arguments::raw(""), ..call }, false);
        }
        return (call, false);
    };
    if arguments.remove_members(&|_, name| is_hidden(name)) == 0 {
        return (call, false);
    }
    let nothing_else = arguments.as_object().is_none_or(|members| members.is_empty());
    (ToolCall { arguments: Arguments::from(&arguments), ..call }, nothing_else)
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
            (
                "{\"_tafc_think\": 0.1000000000000000000001, \"id\": 123456789012345678901}",
                "{\"id\":123456789012345678901}",
            ),
            ("{\"\\u005ftafc_think\": \"secret\", \"a\": 1}", "{\"a\":1}"),
            ("{\"a\": \"about _tafc_think\"}", "{\"a\": \"about _tafc_think\"}"),
            ("{\"_tafc_think\": \"secret\"", ""),
            ("{\"_TAFC_THINK\": \"secret\", \"a\": 1}", "{\"a\":1}"),
            (
                "{\"_Tafc_Think_2\": \"secret\", \"a\": {\"_TAFC_think\": 1, \"b\": 2}}",
                "{\"a\":{\"b\":2}}",
            ),
            ("[{\"_TAFC_THINK\": \"secret\"}]", ""),
            ("{\"tafc_think\": \"é\", \"é\": 1}", "{\"tafc_think\": \"é\", \"é\": 1}"),
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
