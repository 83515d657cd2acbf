//! Permissions, confirmation and approvals.

use std::sync::Arc;
use std::time::Duration;

use counterfoil_guard::{
    Action, Admitted, Approval, Approvals, ByApproval, ByPolicy, Decision, ExecutorId,
    ExecutorKind, Gates, Judged, PermissionOptions, PermissionRule, Permit, Phase, Question, Scene,
    ToolError, ToolExecutor, ToolOutput, Verdict,
};
use counterfoil_model::{Effects, Origin, PermitBasis, Tool};
use serde_json::{Value, json};

use super::{HandClock, Situation, call, outcome, reading, shell, verdict_of};

fn rule(tool: &str, pattern: Option<&str>, action: Action) -> PermissionRule {
    PermissionRule { tool: tool.to_owned(), pattern: pattern.map(str::to_owned), action }
}

fn with(default: Action, rules: &[PermissionRule]) -> Gates {
    let options =
        PermissionOptions { default, rules: rules.to_vec(), ..PermissionOptions::default() };
    Gates::builder().permissions(options.resolve().unwrap()).build()
}

fn asking() -> Gates {
    with(Action::Ask, &[])
}

fn questions(decision: Decision) -> Vec<Question> {
    match decision {
        Decision::NeedsApproval(questions) => questions,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rules_and_patterns() {
    use Action::{Allow, Ask, Deny};
    let push = |action| rule("shell", Some("git push*"), action);
    let git = |action| rule("shell", Some("git *"), action);
    let cases: [(Action, &[PermissionRule], Arc<Admitted>, &str); 16] = [
        (Allow, &[], shell("ls"), "allow"),
        (Ask, &[], shell("ls"), "ask: permission"),
        (Deny, &[], shell("ls"), "deny: permission"),
        (Allow, &[push(Ask)], shell("git push"), "ask: permission"),
        (Allow, &[push(Ask)], shell("git pull"), "allow"),
        // One command of the line is enough for an ask or a denial.
        (Allow, &[push(Deny)], shell("cd x && git push --force"), "deny: permission"),
        (Allow, &[push(Deny)], shell("bash -c 'git push'"), "deny: permission"),
        (Allow, &[push(Deny)], shell("echo 'git push'"), "allow"),
        // All commands of the line must match for an allowance.
        (Ask, &[git(Allow)], shell("git status && git diff"), "allow"),
        (Ask, &[git(Allow)], shell("git status && make"), "ask: permission"),
        // Deny beats ask beats allow, in any order.
        (Deny, &[git(Allow), push(Ask)], shell("git push"), "ask: permission"),
        (Allow, &[push(Deny), git(Ask)], shell("git push"), "deny: permission"),
        (Ask, &[rule("re*", None, Allow)], call("read", json!({})), "allow"),
        (Ask, &[rule("re*", None, Allow)], call("write", json!({})), "ask: permission"),
        (
            Allow,
            &[rule("*", Some("*/secret*"), Deny)],
            call("x", json!({"a": [{"b": "/secret"}]})),
            "deny: permission",
        ),
        (Ask, &[rule("x", Some("a*"), Allow)], call("x", json!({"a": 1})), "ask: permission"),
    ];
    for (at, (default, rules, call, expected)) in cases.into_iter().enumerate() {
        let judged = with(default, rules).judge(&call, &Situation::default().scene());
        assert_eq!(outcome(&judged), expected, "case {at}: {}", call.arguments());
    }
}

#[test]
fn what_cannot_be_used_is_named() {
    let resolve = |options: PermissionOptions| options.resolve().unwrap_err().to_string();
    let bad = PermissionOptions { rules: vec![rule("[", None, Action::Ask)], ..Default::default() };
    assert!(resolve(bad).starts_with("tools.permissions.rules[0]: `[` is not a valid pattern"));
    let long = "x".repeat(1025);
    let bad = PermissionOptions { internal: vec![long], ..Default::default() };
    assert_eq!(
        resolve(bad),
        "tools.permissions.internal[0]: the pattern is 1025 bytes long; the limit is 1024"
    );
    let bad = PermissionOptions { approval_secs: 0, ..Default::default() };
    assert!(resolve(bad).contains("approval_secs"));
}

#[test]
fn autonomous_skips_approval_only_for_internal_tools_without_outside_effects() {
    let gates = asking();
    let effects = |writes, network| Effects { writes, network, ..Effects::default() };
    let internal = |effects| Tool { effects, ..reading("memory_search") };
    let from_server =
        Tool { origin: Origin::Mcp { server: "notes".to_owned() }, ..reading("memory_search") };
    let cases: [(Tool, Phase, &str); 8] = [
        (reading("memory_search"), Phase::Autonomous, "allow"),
        (reading("memory_search"), Phase::Executor, "ask: permission"),
        (reading("memory_search"), Phase::Verifier, "ask: permission"),
        (reading("another"), Phase::Autonomous, "ask: permission"),
        (internal(effects(Some(true), Some(false))), Phase::Autonomous, "ask: permission"),
        (internal(effects(Some(false), Some(true))), Phase::Autonomous, "ask: permission"),
        (internal(effects(None, None)), Phase::Autonomous, "ask: permission"),
        (from_server, Phase::Autonomous, "ask: permission"),
    ];
    for (at, (tool, phase, expected)) in cases.into_iter().enumerate() {
        let call = Admitted::for_tests(tool, json!({}));
        let situation = Situation { phase, ..Situation::default() };
        let judged = gates.judge(&call, &situation.scene());
        assert_eq!(outcome(&judged), expected, "case {at}");
    }
    // It skips the question, but never a denial.
    let denying = with(Action::Deny, &[]);
    let call = Admitted::for_tests(reading("memory_search"), json!({}));
    let situation = Situation { phase: Phase::Autonomous, ..Situation::default() };
    assert_eq!(outcome(&denying.judge(&call, &situation.scene())), "deny: permission");
}

#[test]
fn an_approval_is_bound_to_tool_and_arguments() {
    let (gates, situation) = (asking(), Situation::default());
    let approvals = Approvals::new(Arc::new(HandClock::default()), Duration::from_secs(60));
    let approved = call("write", json!({ "path": "a", "text": "b" }));
    let pending = questions(gates.decide(&approved, &situation.scene(), &approvals));
    approvals.grant("s1", &pending[0], Approval::by("ada"));
    for (tool, arguments) in [
        ("write", json!({ "path": "a", "text": "c" })),
        ("write", json!({ "path": "a" })),
        ("read", json!({ "path": "a", "text": "b" })),
    ] {
        let other = gates.decide(&call(tool, arguments), &situation.scene(), &approvals);
        assert!(matches!(other, Decision::NeedsApproval(_)), "{other:?}");
    }
    // It is not valid in another session.
    let elsewhere = Scene { session: "s2", ..situation.scene() };
    assert!(matches!(gates.decide(&approved, &elsewhere, &approvals), Decision::NeedsApproval(_)));
    // The order of members does not matter.
    let same = call("write", json!({ "text": "b", "path": "a" }));
    let decision = gates.decide(&same, &situation.scene(), &approvals);
    let Decision::Cleared(clearance) = decision else { panic!("{decision:?}") };
    assert_eq!(
        clearance.basis(),
        PermitBasis::Approval { who: "ada".to_owned(), reason: None, uses: None }
    );
}

#[test]
fn an_approval_is_used_once() {
    let (gates, situation) = (asking(), Situation::default());
    let approvals = Approvals::new(Arc::new(HandClock::default()), Duration::from_secs(60));
    let call = shell("make install");
    let pending = questions(gates.decide(&call, &situation.scene(), &approvals));
    approvals.grant("s1", &pending[0], Approval::by("ada"));
    let first = gates.decide(&call, &situation.scene(), &approvals);
    assert!(matches!(first, Decision::Cleared(_)), "{first:?}");
    let second = gates.decide(&call, &situation.scene(), &approvals);
    assert!(matches!(second, Decision::NeedsApproval(_)), "{second:?}");
}

#[test]
fn an_approval_expires() {
    let (gates, situation) = (asking(), Situation::default());
    let clock = Arc::new(HandClock::default());
    let approvals = Approvals::new(clock.clone(), Duration::from_secs(60));
    let call = shell("make install");
    let pending = questions(gates.decide(&call, &situation.scene(), &approvals));
    approvals.grant("s1", &pending[0], Approval::by("ada"));
    clock.turn(60);
    let late = gates.decide(&call, &situation.scene(), &approvals);
    assert!(matches!(late, Decision::NeedsApproval(_)), "{late:?}");
    approvals.grant("s1", &pending[0], Approval::by("ada"));
    clock.turn(59);
    let in_time = gates.decide(&call, &situation.scene(), &approvals);
    assert!(matches!(in_time, Decision::Cleared(_)), "{in_time:?}");
}

#[test]
fn an_approval_that_a_later_denial_overtakes_is_not_used_up() {
    let (situation, clock) = (Situation::default(), Arc::new(HandClock::default()));
    let approvals = Approvals::new(clock, Duration::from_secs(60));
    let call = call("write", json!({}));
    let pending = questions(asking().decide(&call, &situation.scene(), &approvals));
    approvals.grant("s1", &pending[0], Approval::by("ada"));
    let denying = with(Action::Deny, &[]);
    assert!(matches!(denying.decide(&call, &situation.scene(), &approvals), Decision::Denied(_)));
    assert!(matches!(asking().decide(&call, &situation.scene(), &approvals), Decision::Cleared(_)));
}

#[test]
fn of_many_threads_one_uses_an_approval() {
    let (gates, situation) = (asking(), Situation::default());
    let approvals = Approvals::new(Arc::new(HandClock::default()), Duration::from_secs(60));
    let call = shell("make install");
    let pending = questions(gates.decide(&call, &situation.scene(), &approvals));
    for _ in 0..50 {
        approvals.grant("s1", &pending[0], Approval::by("ada"));
        let cleared: usize = std::thread::scope(|threads| {
            let deciding: Vec<_> = (0..4)
                .map(|_| {
                    threads.spawn(|| {
                        let decision = gates.decide(&call, &situation.scene(), &approvals);
                        usize::from(matches!(decision, Decision::Cleared(_)))
                    })
                })
                .collect();
            deciding.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(cleared, 1);
    }
}

/// An executor whose calls always require confirmation, or which panics when asked.
struct Careful {
    broken: bool,
}

impl ToolExecutor for Careful {
    fn id(&self) -> ExecutorId {
        ExecutorId { kind: ExecutorKind::Native, name: String::new() }
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        vec![Tool::named("write")]
    }

    fn owns(&self, tool: &str) -> bool {
        tool == "write"
    }

    async fn execute_tool_call(
        &self,
        _: Permit<ByPolicy>,
        _: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        Ok(None)
    }

    async fn execute_tool_call_confirmed(
        &self,
        _: Permit<ByApproval>,
        _: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        Ok(None)
    }

    fn requires_confirmation(&self, _: &Admitted, _: &Scene<'_>) -> Option<String> {
        assert!(!self.broken, "broken");
        Some("it leaves the workspace".to_owned())
    }

    fn is_tool_retryable(&self, _: &str) -> bool {
        false
    }

    fn is_tool_speculatable(&self, _: &str) -> bool {
        false
    }
}

#[test]
fn an_executor_that_requires_confirmation_is_heard() {
    let allow = PermissionOptions {
        rules: vec![rule("write", None, Action::Allow)],
        ..PermissionOptions::default()
    };
    let gates = |broken| {
        Gates::builder()
            .permissions(allow.clone().resolve().unwrap())
            .executor(Arc::new(Careful { broken }))
            .build()
    };
    let (call, situation) = (call("write", json!({ "path": "/etc/x" })), Situation::default());
    let Judged::NeedsApproval(pending) = gates(false).judge(&call, &situation.scene()) else {
        panic!("nobody was asked")
    };
    assert_eq!(pending[0].why, "it leaves the workspace");
    assert_eq!(pending[0].digest, call.digest());
    let verdict = verdict_of(&gates(true), "permission", &call, &situation);
    let Verdict::Deny(reason) = verdict else { panic!("{verdict:?}") };
    assert_eq!(reason.code, "gate_failed");
}

#[test]
fn a_question_shows_the_call_from_both_ends() {
    let text: String = "x".repeat(100_000);
    let value: Value = json!({ "begin": "AAA", "text": text, "end": "ZZZ" });
    let Judged::NeedsApproval(pending) =
        asking().judge(&call("write", value), &Situation::default().scene())
    else {
        panic!("nobody was asked")
    };
    let shown = &pending[0].call;
    assert!(shown.contains("AAA") && shown.contains("ZZZ") && shown.len() < 24_000, "{shown}");
    assert!(shown.contains("characters left out"), "{shown}");
}

#[test]
fn a_question_contains_no_secrets() {
    let value = json!({ "password": "hunter2-hunter2", "to": "a@example.com" });
    let Judged::NeedsApproval(pending) =
        asking().judge(&call("login", value), &Situation::default().scene())
    else {
        panic!("nobody was asked")
    };
    assert!(!pending[0].call.contains("hunter2"), "{}", pending[0].call);
    assert!(pending[0].call.contains("a@example.com"), "{}", pending[0].call);
}
