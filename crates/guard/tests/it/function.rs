//! Functions of an embedding program as tools.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use counterfoil_guard::{ErasedToolExecutor, FunctionExecutor, ToolError, ToolOutput};
use counterfoil_model::{Effects, Tool, ToolErrorCategory};
use serde_json::{Value, json};

use crate::stage::{Stage, approved, call, permit, wait};

fn run(
    executor: &dyn ErasedToolExecutor,
    tool: &str,
    arguments: Value,
) -> Result<Option<ToolOutput>, ToolError> {
    let stage = Stage::at(Path::new("/"));
    let scene = stage.scene();
    let by_policy = wait(executor.execute_tool_call(permit(tool, arguments.clone()), &scene));
    let confirmed = wait(executor.execute_tool_call_confirmed(approved(tool, arguments), &scene));
    assert_eq!(by_policy, confirmed);
    by_policy
}

#[test]
fn a_closure_is_a_tool_in_one_line() {
    let add = FunctionExecutor::new(Tool::named("add"), |numbers| {
        let number = |name: &str| numbers.get(name).and_then(Value::as_i64).unwrap_or_default();
        Ok(json!(number("a") + number("b")))
    });
    let output = run(&add, "add", json!({"a": 2, "b": 3})).unwrap().unwrap();
    assert_eq!(output, ToolOutput::from(json!(5)));
    assert_eq!(output.text, "5");
    assert_eq!(run(&add, "subtract", json!({})), Ok(None), "not its own");

    let later = FunctionExecutor::waiting(Tool::named("later"), |arguments| async move {
        tokio::task::yield_now().await;
        Ok(format!("got {arguments}"))
    });
    let output = run(&later, "later", json!({"a": 1}));
    assert_eq!(output, Ok(Some(ToolOutput::from("got {\"a\":1}"))));
}

#[test]
fn errors_of_a_function_have_a_category() {
    let read = FunctionExecutor::new(Tool::named("read"), |_| -> Result<String, ToolError> {
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))?
    });
    let category = run(&read, "read", json!({})).unwrap_err().category();
    assert_eq!(category, ToolErrorCategory::NetworkError);
}

#[test]
fn only_what_is_declared_harmless_is_tried_again_or_ahead() {
    let effects = |idempotent, writes| Effects { idempotent, writes, ..Effects::default() };
    let cases = [
        (effects(None, None), false, false),
        (effects(Some(false), Some(false)), false, false),
        (effects(Some(true), None), true, false),
        (effects(Some(true), Some(true)), true, false),
        (effects(Some(true), Some(false)), true, true),
    ];
    for (effects, retryable, speculatable) in cases {
        let tool = Tool { effects, ..Tool::named("t") };
        let executor = FunctionExecutor::new(tool, |_| Ok("done"));
        let seen = (executor.is_tool_retryable("t"), executor.is_tool_speculatable("t"));
        assert_eq!(seen, (retryable, speculatable), "{effects:?}");
        assert!(!executor.is_tool_retryable("u") && !executor.is_tool_speculatable("u"));
    }
}

#[test]
fn a_function_may_require_approval() {
    let stage = Stage::at(Path::new("/"));
    let silent = FunctionExecutor::new(Tool::named("t"), |_| Ok("done"));
    let asks = |executor: &FunctionExecutor, tool| {
        executor.requires_confirmation(&call(tool, json!({})), &stage.scene())
    };
    assert_eq!(asks(&silent, "t"), None);
    assert_eq!(asks(&silent, "u"), Some("`u` does not belong to this executor".to_owned()));
    assert_eq!(asks(&silent.asking("it costs money"), "t"), Some("it costs money".to_owned()));
}

#[test]
fn a_panic_in_a_function_poisons_nothing() {
    let fragile = FunctionExecutor::new(Tool::named("fragile"), |arguments| {
        assert!(arguments.get("panic").is_none(), "asked to");
        Ok("fine")
    });
    let executors: Vec<Arc<dyn ErasedToolExecutor>> = vec![Arc::new(fragile)];
    let composite = counterfoil_guard::CompositeExecutor::new(executors).unwrap();
    let fine = Ok(Some(ToolOutput::from("fine")));
    assert_eq!(run(&composite, "fragile", json!({})), fine);
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        run(&composite, "fragile", json!({"panic": true}))
    }));
    assert!(panicked.is_err());
    assert_eq!(run(&composite, "fragile", json!({})), fine);
    let more = FunctionExecutor::new(Tool::named("more"), |_| Ok("more"));
    composite.register(Arc::new(more)).unwrap();
    assert_eq!(run(&composite, "more", json!({})), Ok(Some(ToolOutput::from("more"))));
}
