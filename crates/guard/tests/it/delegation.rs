//! Wrappers delegate: no wrapper answers for the executor inside it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::sync::Arc;

use counterfoil_guard::{
    CompositeExecutor, DynExecutor, ErasedToolExecutor, ExecutorKind, FunctionExecutor, Guard,
    RegisterError, SessionStart, Surroundings, ToolOutput,
};
use counterfoil_model::{Arguments, Status, Tool, ToolCall};
use serde_json::{Value, json};

use crate::stage::{Recording, Stage, approved, call, permit, wait};

/// All wrappers, each around the same executor.
fn wrapped(inner: Recording) -> Vec<(&'static str, Arc<dyn ErasedToolExecutor>)> {
    let inner: Arc<dyn ErasedToolExecutor> = Arc::new(inner);
    let late = CompositeExecutor::new(Vec::new()).unwrap();
    late.register(Arc::clone(&inner)).unwrap();
    let dynamic = Arc::new(DynExecutor::new(Arc::clone(&inner)));
    vec![
        ("bare", Arc::clone(&inner)),
        ("dynamic", dynamic.clone()),
        ("dynamic in dynamic", Arc::new(DynExecutor::new(dynamic.clone()))),
        ("composite", Arc::new(CompositeExecutor::new(vec![Arc::clone(&inner)]).unwrap())),
        ("composite of dynamic", Arc::new(CompositeExecutor::new(vec![dynamic]).unwrap())),
        ("registered late", Arc::new(late)),
    ]
}

#[test]
fn dyn_executor_delegation_holds_for_every_method() {
    let inner = Recording::new(ExecutorKind::Mcp, "github", &["github__close"]);
    let log = Arc::clone(&inner.log);
    let stage = Stage::at(Path::new("/"));
    let scene = stage.scene();
    let arguments = || json!({"number": 1});
    for (name, executor) in wrapped(inner) {
        let names: Vec<_> = executor.tool_definitions().into_iter().map(|t| t.name).collect();
        assert_eq!(names, ["github__close"], "{name}");
        assert!(executor.owns("github__close"), "{name}");
        assert!(!executor.owns("another"), "{name}");
        log.lock().unwrap().clear();

        let output = Ok(Some(ToolOutput::from("answered by github")));
        let ran = wait(executor.execute_tool_call(permit("github__close", arguments()), &scene));
        assert_eq!(ran, output, "{name}");
        let permit = approved("github__close", arguments());
        assert_eq!(wait(executor.execute_tool_call_confirmed(permit, &scene)), output, "{name}");
        assert_eq!(
            executor.requires_confirmation(&call("github__close", arguments()), &scene),
            Some("github wants to be asked".to_owned()),
            "{name}"
        );
        let refusal = executor.refusal(&call("github__close", arguments()), &scene);
        assert_eq!(refusal.map(|error| error.to_string()).as_deref(), Some("github is busy"));
        assert!(executor.is_tool_retryable("github__close"), "{name}");
        assert!(executor.is_tool_speculatable("github__close"), "{name}");
        let expected = [
            "github: execute github__close in s1",
            "github: execute github__close confirmed in s1",
            "github: confirm github__close in s1",
            "github: refuse github__close in s1",
            "github: retryable github__close",
            "github: speculatable github__close",
        ];
        assert_eq!(*log.lock().unwrap(), expected, "{name}");
    }
}

#[test]
fn an_executor_that_defines_more_later_owns_only_what_it_came_with() {
    let growing = Arc::new(Recording::new(ExecutorKind::Mcp, "growing", &["old"]));
    let composite = CompositeExecutor::new(Vec::new()).unwrap();
    composite.register(growing.clone()).unwrap();
    growing.tools.lock().unwrap().push("shell");
    let composite: Arc<dyn ErasedToolExecutor> = Arc::new(composite);
    let names: Vec<_> = composite.tool_definitions().into_iter().map(|t| t.name).collect();
    assert_eq!(names, ["old"]);
    assert!(composite.owns("old"));
    assert!(!composite.owns("shell"));
}

#[test]
fn a_running_guard_takes_an_executor_up_and_asks_it() {
    let first = FunctionExecutor::new(Tool::named("look"), |_: &Value| Ok("seen"));
    let guard = Guard::builder().executor(first).build().unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    let called = |tool: &str| {
        let call = ToolCall {
            id: String::new(),
            tool: tool.to_owned(),
            arguments: Arguments::raw("{}"),
            line: 0,
        };
        wait(session.call(call, Surroundings::default())).unwrap()
    };
    let offered =
        || -> Vec<String> { session.offer().tools.into_iter().map(|tool| tool.name).collect() };
    assert_eq!(called("close").status, Status::Refused);
    let late = Recording::new(ExecutorKind::Mcp, "github", &["close"]);
    let log = Arc::clone(&late.log);
    let id = ErasedToolExecutor::id(&late);
    guard.register(late).unwrap();
    assert_eq!(offered(), ["close", "look"]);
    // The tool requires confirmation, and no person can be asked: the wrapper must not skip the
    // question.
    let answer = called("close");
    assert_eq!(answer.status, Status::Denied, "{}", answer.text);
    assert!(answer.text.contains("github wants to be asked"), "{}", answer.text);
    assert!(log.lock().unwrap().iter().all(|line| !line.contains("execute")));
    assert_eq!(called("look").status, Status::Completed);
    // The session's record has the list of tools.
    let transcript = session.transcript().unwrap();
    assert!(transcript.catalog.get("close").is_some());
    let twice = Recording::new(ExecutorKind::Mcp, "other", &["look"]);
    assert!(matches!(guard.register(twice), Err(RegisterError::TwoOwners(_))));
    assert!(guard.unregister(&id) && !guard.unregister(&id));
    assert_eq!(offered(), ["look"]);
    assert_eq!(called("close").status, Status::Refused);
    let hosts = Guard::builder().build().unwrap();
    let late = Recording::new(ExecutorKind::Mcp, "github", &["close"]);
    assert_eq!(hosts.register(late), Err(RegisterError::ForHost));
}
