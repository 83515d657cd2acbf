//! Arguments that do not fit, and a model that rewrites them.

use std::sync::{Arc, Mutex};

use counterfoil_guard::{
    BoxFuture, Completion, CompletionError, FunctionExecutor, Guard, GuardOptions, SessionStart,
    Surroundings, ToolError,
};
use counterfoil_model::{Status, Tool, ToolCall};
use serde_json::{Value, json};

use crate::desk::wait;

/// Always gives this answer.
struct Says(&'static str, Mutex<Vec<String>>);

impl Completion for Says {
    fn complete<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<String, CompletionError>> {
        self.1.lock().unwrap().push(prompt.to_owned());
        let reply = self.0;
        Box::pin(async move {
            if reply.is_empty() {
                return Err(CompletionError("it is down".to_owned()));
            }
            Ok(reply.to_owned())
        })
    }
}

fn guard(options: &str, says: &Arc<Says>) -> Guard {
    let options: GuardOptions = serde_json::from_str(options).unwrap();
    let parameters = json!({
        "type": "object",
        "properties": { "to": { "type": "string" }, "count": { "type": "integer" } },
        "required": ["to", "count"],
        "additionalProperties": false,
    });
    let order = Tool { parameters: Some(parameters), ..Tool::named("order") };
    let ordered = |arguments: &Value| Ok::<_, ToolError>(format!("ordered {arguments}"));
    Guard::builder()
        .settings(options.resolve().unwrap())
        .executor(FunctionExecutor::new(order, ordered))
        .reformatter(Arc::clone(says) as Arc<dyn Completion>)
        .build()
        .unwrap()
}

const ON: &str = r#"{"tools":{"retry":{"parameter_reformat_provider":"fast"}}}"#;
const WRITTEN: &str = r#"{"input":{"to":"Ada","count":"2"}}"#;

#[test]
fn arguments_get_another_form_once_and_nothing_is_added() {
    for (options, written, says, runs, prompts) in [
        (ON, WRITTEN, r#"{"to":"Ada","count":2}"#, true, 1),
        (ON, WRITTEN, "```json\n{\"to\":\"Ada\",\"count\":2}\n```", true, 1),
        // A new value, arguments that still do not fit, and no answer.
        (ON, WRITTEN, r#"{"to":"Ada","count":3}"#, false, 1),
        (ON, WRITTEN, r#"{"to":"Bob","count":2}"#, false, 1),
        (ON, WRITTEN, r#"{"to":"Ada","count":"2"}"#, false, 1),
        (ON, WRITTEN, "NO", false, 1),
        (ON, WRITTEN, "", false, 1),
        // If the arguments fit, or the setting is off, the model is not asked.
        (ON, r#"{"to":"Ada","count":2}"#, "NO", true, 0),
        ("{}", WRITTEN, r#"{"to":"Ada","count":2}"#, false, 0),
    ] {
        let says = Arc::new(Says(says, Mutex::default()));
        let guard = guard(options, &says);
        let session = guard.session(SessionStart::default()).unwrap();
        let call = ToolCall::new("c1", "order", written);
        let answer = wait(session.call(call, Surroundings::default())).unwrap();
        let expected = if runs { Status::Completed } else { Status::Refused };
        assert_eq!(answer.status, expected, "{written} {}: {}", says.0, answer.text);
        assert_eq!(says.1.lock().unwrap().len(), prompts, "{written} {}", says.0);
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        let repaired = runs && prompts == 1;
        assert_eq!(receipt.emitted_arguments.as_deref(), repaired.then_some(written));
        assert_eq!(receipt.warnings.contains(&"REFORMATTED".to_owned()), repaired);
        if repaired {
            assert_eq!(receipt.arguments, json!({ "to": "Ada", "count": 2 }));
        }
    }
}

#[test]
fn a_call_of_a_missing_tool_is_not_repaired() {
    let says = Arc::new(Says(r#"{"to":"Ada","count":2}"#, Mutex::default()));
    let guard = guard(ON, &says);
    let session = guard.session(SessionStart::default()).unwrap();
    let call = ToolCall::new("c1", "refund", "{}");
    let answer = wait(session.call(call, Surroundings::default())).unwrap();
    assert_eq!(answer.status, Status::Refused);
    assert!(says.1.lock().unwrap().is_empty());
}
