//! Dependencies between tools: one function decides what is offered and what is denied.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use counterfoil_guard::{
    Available, DependencyOptions, Gates, GuardSettings, Session, ToolDependency,
    ToolDependencyGraph, Turn, available,
};
use proptest::prelude::*;
use serde_json::json;

use crate::desk;

use super::{Situation, call, names, outcome};

fn depends(requires: &[&str], prefers: &[&str]) -> ToolDependency {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ToolDependency { requires: owned(requires), prefers: owned(prefers) }
}

fn options(rules: &[(&str, ToolDependency)]) -> DependencyOptions {
    let rules = rules.iter().map(|(tool, rule)| ((*tool).to_owned(), rule.clone())).collect();
    DependencyOptions { enabled: true, rules, ..DependencyOptions::default() }
}

fn settings(rules: &[(&str, ToolDependency)]) -> ToolDependencyGraph {
    options(rules).resolve().unwrap()
}

#[track_caller]
fn check(
    settings: &ToolDependencyGraph,
    tools: &[&str],
    completed: &[&str],
    mentioned: &[&str],
    excluded: &[(&str, &[&str])],
) -> Available {
    let (tools, completed, mentioned) = (names(tools), names(completed), names(mentioned));
    let turn = Turn { tools: &tools, completed: &completed, mentioned: &mentioned };
    let found = available(settings, &turn);
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let expected: BTreeMap<String, Vec<String>> =
        excluded.iter().map(|(tool, missing)| ((*tool).to_owned(), owned(missing))).collect();
    assert_eq!(found.excluded, expected);
    found
}

#[test]
fn a_tool_waits_for_what_it_requires() {
    let settings = settings(&[("write", depends(&["read", "list"], &[]))]);
    let tools = ["list", "read", "write"];
    check(&settings, &tools, &[], &[], &[("write", &["read", "list"])]);
    check(&settings, &tools, &["read"], &[], &[("write", &["list"])]);
    check(&settings, &tools, &["read", "list"], &[], &[]);
}

#[test]
fn they_are_off_by_default() {
    let off =
        DependencyOptions { enabled: false, ..options(&[("write", depends(&["read"], &[]))]) };
    check(&off.resolve().unwrap(), &["read", "write"], &[], &[], &[]);
}

#[test]
fn tools_that_are_always_on_or_mentioned_wait_for_nothing() {
    let settings =
        settings(&[("write", depends(&["read"], &[])), ("memory_save", depends(&["read"], &[]))]);
    let tools = ["read", "write", "memory_save"];
    check(&settings, &tools, &[], &[], &[("write", &["read"])]);
    check(&settings, &tools, &[], &["write"], &[]);
}

#[test]
fn circles_are_freed_with_exactly_their_members() {
    let settings = settings(&[
        ("a", depends(&["b"], &[])),
        ("b", depends(&["c"], &[])),
        ("c", depends(&["a"], &[])),
        ("self", depends(&["self"], &[])),
        ("d", depends(&["a"], &[])),
    ]);
    assert_eq!(*settings.freed(), names(&["a", "b", "c", "self"]));
    check(&settings, &["a", "b", "c", "d", "self"], &[], &[], &[("d", &["a"])]);
}

#[test]
fn when_everything_would_be_blocked_nothing_is() {
    let settings = settings(&[("a", depends(&["gone"], &[])), ("b", depends(&["gone"], &[]))]);
    assert!(check(&settings, &["a", "b"], &[], &[], &[]).deadlock);
    // A tool that is always on does not resolve a deadlock.
    assert!(check(&settings, &["a", "b", "memory_search"], &[], &[], &[]).deadlock);
    let one = check(&settings, &["a", "b", "c"], &[], &[], &[("a", &["gone"]), ("b", &["gone"])]);
    assert!(!one.deadlock);
    let one = check(&settings, &["a", "b"], &[], &["a"], &[("b", &["gone"])]);
    assert!(!one.deadlock);
}

#[test]
fn preferred_tools_add_to_the_score_up_to_a_limit() {
    let settings = settings(&[("write", depends(&[], &["read", "list", "grep", "read"]))]);
    let cases: [(&[&str], f64); 4] = [
        (&[], 0.0),
        (&["read"], 0.15),
        (&["read", "list"], 0.20),
        (&["read", "list", "grep"], 0.20),
    ];
    for (completed, expected) in cases {
        let found = check(&settings, &["write"], completed, &[], &[]);
        assert!((found.offered["write"] - expected).abs() < 1e-9, "{completed:?}");
    }
}

#[test]
fn boosts_are_checked() {
    let wrong = DependencyOptions { boost_per_dep: f64::NAN, ..DependencyOptions::default() };
    assert_eq!(
        wrong.resolve().unwrap_err().to_string(),
        "tools.dependencies.boost_per_dep is `NaN`; it must be a number from 0 to 1"
    );
}

#[test]
fn the_reason_says_what_to_call_first() {
    let gates =
        Gates::builder().dependencies(settings(&[("write", depends(&["read"], &[]))])).build();
    let judged = gates.judge(&call("write", json!({})), &Situation::default().scene());
    assert_eq!(outcome(&judged), "deny: dependency");
    let counterfoil_guard::Judged::Denied(reasons) = judged else { unreachable!() };
    assert_eq!(reasons[0].message, "`write` can only be used after `read` has succeeded");
    assert_eq!(reasons[0].help.as_deref(), Some("call `read` first"));
}

const TOOLS: [&str; 6] = ["a", "b", "c", "d", "memory_save", "load_skill"];

proptest! {
    /// No tool that is offered is denied for dependencies, and no excluded tool passes.
    #[test]
    fn what_is_offered_is_never_denied(
        rules in prop::collection::btree_map(0..6_usize, prop::collection::vec(0..6_usize, 0..3), 0..6),
        offered in prop::collection::btree_set(0..6_usize, 0..6),
        completed in prop::collection::btree_set(0..6_usize, 0..3),
        mentioned in prop::collection::btree_set(0..6_usize, 0..2),
    ) {
        let named = |set: &std::collections::BTreeSet<usize>| {
            set.iter().map(|at| TOOLS[*at].to_owned()).collect()
        };
        let rules: Vec<(&str, ToolDependency)> = rules
            .iter()
            .map(|(tool, requires)| {
                let requires: Vec<&str> = requires.iter().map(|at| TOOLS[*at]).collect();
                (TOOLS[*tool], depends(&requires, &[]))
            })
            .collect();
        let settings = settings(&rules);
        let situation = Situation {
            tools: named(&offered),
            completed: named(&completed),
            mentioned: named(&mentioned),
            ..Situation::default()
        };
        let found = available(&settings, &Turn::new(&situation.scene()));
        let gates = Gates::builder().dependencies(settings).build();
        for tool in &situation.tools {
            let judged = gates.judge(&call(tool, json!({})), &situation.scene());
            let denied = outcome(&judged) == "deny: dependency";
            prop_assert_eq!(denied, found.excluded.contains_key(tool));
            prop_assert_eq!(!denied, found.offered.contains_key(tool));
        }
        prop_assert!(situation.tools.is_empty() || !found.offered.is_empty());
    }
}

/// Warnings that were logged while something ran.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

struct Message<'m>(&'m mut String);

impl tracing::field::Visit for Message<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            *self.0 = format!("{value:?}");
        }
    }
}

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut message = String::new();
        event.record(&mut Message(&mut message));
        self.0.lock().unwrap().push(message);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

fn warnings(work: impl FnOnce()) -> Vec<String> {
    let heard = Warnings::default();
    tracing::subscriber::with_default(heard.clone(), work);
    heard.0.lock().unwrap().clone()
}

/// INVARIANT: one notice of a guard names the members of all cycles, and a deadlock has its own
/// warning.
#[test]
fn circles_and_deadlocks_are_warned_of() {
    let circle = [
        ("a", depends(&["b"], &[])),
        ("b", depends(&["c"], &[])),
        ("c", depends(&["a"], &[])),
        ("d", depends(&["a"], &[])),
        ("e", depends(&["e"], &[])),
        ("f", depends(&["g", "a"], &[])),
        ("g", depends(&["f"], &[])),
    ];
    let notice = "these tools require one another in a cycle, so their requirements are ignored: \
                  a, b, c; `e` requires itself, so its requirements are ignored; these tools \
                  require one another in a cycle, so their requirements are ignored: f, g";
    let heard = warnings(|| {
        let dependencies = settings(&circle);
        let settings = GuardSettings { dependencies, ..GuardSettings::default() };
        let guard = desk::shop().settings(settings).build().unwrap();
        assert_eq!(guard.notices(), [notice]);
    });
    assert_eq!(heard, Vec::<String>::new(), "whoever shows the notices says it");
    let waits = settings(&[("d", depends(&["x"], &[]))]);
    let heard = warnings(|| drop(check(&waits, &["d"], &[], &[], &[])));
    let ignored = "every tool is waiting for another one, so dependencies are ignored in this turn";
    assert_eq!(heard, [ignored]);
    // The tool that only re-reads earlier results does not resolve a deadlock.
    let heard = warnings(|| drop(check(&waits, &["d", "read_overflow"], &[], &[], &[])));
    assert_eq!(heard.len(), 1);
    assert!(warnings(|| drop(check(&waits, &["d", "f"], &[], &[], &[("d", &["x"])]))).is_empty());
}

/// INVARIANT: a completed tool counts in its own session until the session is cleared.
#[test]
fn clear_forgets_what_was_completed() {
    let dependencies = settings(&[("cancel_order", depends(&["get_order"], &[]))]);
    let guard = desk::shop()
        .settings(GuardSettings { dependencies, ..GuardSettings::default() })
        .build()
        .unwrap();
    let (ours, theirs) = (desk::session(&guard, "ours"), desk::session(&guard, "theirs"));
    let waiting =
        |session: &Session| session.offer().excluded.into_iter().map(|e| e.tool).collect();
    let before: Vec<String> = waiting(&ours);
    assert_eq!(before, ["cancel_order"]);
    desk::wait(desk::run(&ours, "get_order", r##"{"order_id":"#W1"}"##));
    let after: Vec<String> = waiting(&ours);
    assert!(after.is_empty());
    let others: Vec<String> = waiting(&theirs);
    assert_eq!(others, ["cancel_order"]);
    desk::wait(ours.clear()).unwrap();
    let recorded = guard.ledger().events("ours").unwrap();
    assert!(recorded.iter().any(|event| event.draft == counterfoil_guard::Draft::Cleared));
    let cleared: Vec<String> = waiting(&ours);
    assert_eq!(cleared, ["cancel_order"]);
    let denied = desk::wait(desk::run(&ours, "cancel_order", r##"{"order_id":"#W1"}"##));
    assert_eq!(denied.codes, ["dependency_unmet"]);
}
