//! The order of the composite: each tool has one owner, and tools are listed in the declared order.

use std::path::Path;
use std::sync::Arc;

use counterfoil_guard::{
    CompositeExecutor, ErasedToolExecutor, ExecutorId, ExecutorKind, ExecutorOrder,
    ExecutorOrderError, ToolError, ToolOutput, TwoOwners,
};
use counterfoil_model::ToolErrorCategory;
use serde_json::json;

use crate::stage::{Recording, Stage, approved, call, permit, wait};

use ExecutorKind::{File, Mcp, Native, Shell, Skill, Web};

fn executor(kind: ExecutorKind, name: &str, tools: &[&'static str]) -> Arc<Recording> {
    Arc::new(Recording::new(kind, name, tools))
}

fn erased(executors: &[Arc<Recording>]) -> Vec<Arc<dyn ErasedToolExecutor>> {
    executors.iter().map(|e| Arc::clone(e) as Arc<dyn ErasedToolExecutor>).collect()
}

fn listed(composite: &dyn ErasedToolExecutor) -> Vec<String> {
    composite.tool_definitions().into_iter().map(|tool| tool.name).collect()
}

fn everybody() -> Vec<Arc<Recording>> {
    vec![
        executor(Native, "", &["memory_save", "load_skill"]),
        executor(Mcp, "b", &["b__x"]),
        executor(Mcp, "a", &["a__x"]),
        executor(Web, "", &["fetch"]),
        executor(File, "", &["write", "read"]),
        executor(Shell, "", &["shell", "bash"]),
        executor(Skill, "", &["greet"]),
    ]
}

#[test]
fn composite_order_is_declared_and_configured() {
    let declared = [
        "greet",
        "shell",
        "bash",
        "write",
        "read",
        "fetch",
        "b__x",
        "a__x",
        "memory_save",
        "load_skill",
    ];
    let composite = CompositeExecutor::new(erased(&everybody())).unwrap();
    assert_eq!(listed(&composite), declared);

    let order = ExecutorOrder::configured(&[Native, Mcp, Web, File, Shell, Skill]).unwrap();
    let composite = CompositeExecutor::in_order(order, erased(&everybody())).unwrap();
    let configured = [
        "memory_save",
        "load_skill",
        "b__x",
        "a__x",
        "fetch",
        "write",
        "read",
        "shell",
        "bash",
        "greet",
    ];
    assert_eq!(listed(&composite), configured);
}

#[test]
fn composite_order_holds_for_executors_that_come_later() {
    let composite = CompositeExecutor::new(erased(&[
        executor(Native, "", &["memory_save"]),
        executor(Shell, "", &["shell"]),
    ]))
    .unwrap();
    composite.register(executor(Mcp, "late", &["late__x"])).unwrap();
    assert_eq!(listed(&composite), ["shell", "late__x", "memory_save"]);
    assert!(composite.unregister(&ExecutorId::new(Mcp, "late")));
    assert!(!composite.unregister(&ExecutorId::new(Mcp, "late")));
    assert!(!composite.unregister(&ExecutorId::new(Shell, "")), "it came with the start");
    assert_eq!(listed(&composite), ["shell", "memory_save"]);
}

#[test]
fn an_order_names_each_kind_once() {
    let cases: [(&[ExecutorKind], Result<ExecutorOrder, ExecutorOrderError>); 4] = [
        (&[], Ok(ExecutorOrder::default())),
        (&ExecutorKind::ALL, Ok(ExecutorOrder::default())),
        (&[Shell], Err(ExecutorOrderError::Missing { kind: "skill" })),
        (
            &[Skill, Shell, File, Web, Mcp, Native, Shell],
            Err(ExecutorOrderError::Repeated { kind: "shell" }),
        ),
    ];
    for (kinds, expected) in cases {
        assert_eq!(ExecutorOrder::configured(kinds), expected, "{kinds:?}");
    }
}

#[test]
fn two_owners_are_an_error_that_names_both() {
    let shell = executor(Shell, "", &["shell"]);
    let rogue = executor(Mcp, "rogue", &["rogue__x", "shell"]);
    let expected = TwoOwners {
        tool: "shell".to_owned(),
        first: ExecutorId::new(Shell, ""),
        second: ExecutorId::new(Mcp, "rogue"),
    };
    assert_eq!(expected.to_string(), "the tool `shell` is claimed by `shell` and by `mcp rogue`");
    let both = [Arc::clone(&rogue), Arc::clone(&shell)];
    assert_eq!(CompositeExecutor::new(erased(&both)).err(), Some(expected.clone()));

    let composite = CompositeExecutor::new(erased(&[shell])).unwrap();
    assert_eq!(composite.register(rogue).err(), Some(expected));
    assert_eq!(listed(&composite), ["shell"], "nothing changed");

    let twice = executor(Native, "twice", &["x", "x"]);
    assert!(CompositeExecutor::new(erased(&[twice])).is_err());
}

#[test]
fn only_the_owner_sees_the_permit() {
    let executors = everybody();
    let composite = CompositeExecutor::new(erased(&executors)).unwrap();
    let composite: &dyn ErasedToolExecutor = &composite;
    let stage = Stage::at(Path::new("/"));
    let scene = stage.scene();
    let ran = wait(composite.execute_tool_call(permit("a__x", json!({})), &scene));
    assert_eq!(ran, Ok(Some(ToolOutput::from("answered by a"))));
    let ran = wait(composite.execute_tool_call_confirmed(approved("a__x", json!({})), &scene));
    assert_eq!(ran, Ok(Some(ToolOutput::from("answered by a"))));
    for executor in executors {
        let log = executor.log.lock().unwrap();
        if executor.id.name == "a" {
            assert_eq!(*log, ["a: execute a__x in s1", "a: execute a__x confirmed in s1"]);
        } else {
            assert_eq!(*log, Vec::<String>::new(), "{}", executor.id);
        }
    }
}

#[test]
fn what_the_owner_disowns_is_an_error() {
    let mut owner = Recording::new(Mcp, "a", &["a__x"]);
    owner.answer = None;
    let other = Recording::new(Native, "b", &["b"]);
    let composite = CompositeExecutor::new(vec![Arc::new(owner), Arc::new(other)]).unwrap();
    let composite: &dyn ErasedToolExecutor = &composite;
    let stage = Stage::at(Path::new("/"));
    let scene = stage.scene();
    let failed =
        |category, message: &str| Err(ToolError::Failed { category, message: message.to_owned() });
    let disowned = failed(
        ToolErrorCategory::PermanentFailure,
        "`mcp a` owns the tool `a__x` but did not execute it",
    );
    let unknown = failed(ToolErrorCategory::ToolNotFound, "no executor owns the tool `c`");
    for (tool, expected) in [("a__x", disowned), ("c", unknown)] {
        let ran = wait(composite.execute_tool_call(permit(tool, json!({})), &scene));
        assert_eq!(ran, expected);
        let ran = wait(composite.execute_tool_call_confirmed(approved(tool, json!({})), &scene));
        assert_eq!(ran, expected);
    }
    assert_eq!(
        composite.requires_confirmation(&call("c", json!({})), &scene),
        Some("no executor owns the tool `c`".to_owned())
    );
    assert!(!composite.is_tool_retryable("c") && !composite.is_tool_speculatable("c"));
}
