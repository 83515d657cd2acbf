//! The invariants of the gates, one test each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use counterfoil_guard::{
    Admitted, Approval, Approvals, AuthorizationOptions, BlocklistOptions, Clearance, Decision,
    Effect, Gate, GateId, Gates, Judged, ORDER, Phase, PolicyOptions, PolicyRule, PolicySettings,
    Requested, Scene, ShellPolicy, ShellPolicyHandle, TrustLevel, Verdict,
};
use counterfoil_model::PermitBasis;
use serde_json::json;

use super::{HandClock, Situation, call, outcome, shell, verdict_of};

fn rule(effect: Effect, tool: &str) -> PolicyRule {
    PolicyRule { effect, tool: tool.to_owned(), ..PolicyRule::default() }
}

fn policy(default_effect: Effect, rules: &[PolicyRule]) -> PolicyOptions {
    PolicyOptions { enabled: true, default_effect, rules: rules.to_vec() }
}

fn authorization(rules: &[PolicyRule]) -> AuthorizationOptions {
    AuthorizationOptions { enabled: true, rules: rules.to_vec() }
}

fn with_policy(policy: PolicyOptions, authorization: AuthorizationOptions) -> Gates {
    Gates::builder().policy(PolicySettings::resolve(policy, authorization).unwrap()).build()
}

fn approvals() -> Approvals {
    Approvals::new(Arc::new(HandClock::default()), std::time::Duration::from_secs(60))
}

/// A gate with a fixed verdict.
struct Always(fn(&Admitted) -> Verdict);

impl Gate for Always {
    fn id(&self) -> GateId {
        GateId("always")
    }

    fn judge(&self, call: &Admitted, _: &Scene<'_>) -> Verdict {
        (self.0)(call)
    }
}

#[test]
fn the_gates_stand_in_the_declared_order() {
    let gates = Gates::builder().build();
    let order: Vec<GateId> = gates
        .explain(&shell("ls"), &Situation::default().scene())
        .into_iter()
        .map(|(gate, _)| gate)
        .collect();
    assert_eq!(order, ORDER);
    assert_eq!(
        ORDER.map(|gate| gate.0),
        [
            "blocklist",
            "protected",
            "quota",
            "policy",
            "dependency",
            "trust",
            "permission",
            "secrets",
            "utility",
            "adversarial"
        ]
    );
}

#[test]
fn every_gate_judges_so_that_every_reason_is_known() {
    let denied = policy(Effect::Deny, &[]);
    let gates = Gates::builder()
        .quota(Some(3))
        .policy(PolicySettings::resolve(denied, AuthorizationOptions::default()).unwrap())
        .build();
    let situation = Situation { calls_made: 3, ..Situation::default() };
    let judged = gates.judge(&shell("sudo ls"), &situation.scene());
    assert_eq!(outcome(&judged), "deny: blocklist policy quota");
}

#[test]
fn blocklist_holds_under_approval() {
    let gates = Gates::builder().build();
    let (elevated, approvals) = (shell("sudo ls"), approvals());
    let question = counterfoil_guard::Question {
        gate: GateId("permission"),
        digest: elevated.digest(),
        tool: "shell".to_owned(),
        call: "shell".to_owned(),
        why: "wanted".to_owned(),
        matched: None,
        stake: counterfoil_guard::Stake::Agreement,
    };
    approvals.grant("s1", &question, Approval::by("ada"));
    let decision = gates.decide(&elevated, &Situation::default().scene(), &approvals);
    assert!(matches!(decision, Decision::Denied(_)), "{decision:?}");
}

#[test]
fn blocklist_holds_under_trust() {
    let gates = Gates::builder().build();
    for trust in [TrustLevel::Untrusted, TrustLevel::Provisional, TrustLevel::Trusted] {
        let situation = Situation::trusted(trust);
        let verdict = verdict_of(&gates, "blocklist", &shell("sudo ls"), &situation);
        assert!(matches!(verdict, Verdict::Deny(_)), "{trust:?}");
    }
}

#[test]
fn blocklist_holds_in_every_phase_autonomous_too() {
    let gates = Gates::builder().build();
    for phase in [Phase::Planner, Phase::Executor, Phase::Verifier, Phase::Autonomous] {
        let situation = Situation { phase, trust: TrustLevel::Trusted, ..Situation::default() };
        let judged = gates.judge(&shell("sudo ls"), &situation.scene());
        assert_eq!(outcome(&judged), "deny: blocklist", "{phase:?}");
    }
}

#[test]
fn blocklist_holds_for_calls_that_the_user_typed() {
    let gates = Gates::builder().build();
    let requested = Requested::ByUser;
    let situation = Situation { requested, trust: TrustLevel::Trusted, ..Situation::default() };
    let judged = gates.judge(&shell("rm -rf /"), &situation.scene());
    assert_eq!(outcome(&judged), "deny: blocklist");
}

#[test]
fn blocklist_holds_under_a_policy_that_allows_everything() {
    let allow = policy(Effect::Allow, &[rule(Effect::Allow, "*")]);
    let gates = with_policy(allow, AuthorizationOptions::default());
    let judged = gates.judge(&shell("sudo ls"), &Situation::default().scene());
    assert_eq!(outcome(&judged), "deny: blocklist");
}

#[test]
fn a_mark_of_the_user_loosens_none_of_these_gates() {
    let gates = with_policy(policy(Effect::Deny, &[]), AuthorizationOptions::default());
    for requested in [Requested::ByModel, Requested::ByUser] {
        let situation = Situation { requested, ..Situation::default() };
        let judged = gates.judge(&call("read", json!({})), &situation.scene());
        assert_eq!(outcome(&judged), "deny: policy");
    }
}

#[test]
fn deny_beats_allow_whichever_comes_first() {
    let (allow, deny) = (rule(Effect::Allow, "read"), rule(Effect::Deny, "re*"));
    for rules in [[allow.clone(), deny.clone()], [deny, allow]] {
        for default in [Effect::Allow, Effect::Deny] {
            let gates = with_policy(policy(default, &rules), AuthorizationOptions::default());
            let judged = gates.judge(&call("read", json!({})), &Situation::default().scene());
            assert_eq!(outcome(&judged), "deny: policy");
        }
    }
}

#[test]
fn deny_beats_allow_between_policy_and_authorization() {
    let (allow, deny) = (rule(Effect::Allow, "read"), rule(Effect::Deny, "read"));
    // The policy, the authorization, the default and the outcome.
    let cases: [(&[&PolicyRule], &[&PolicyRule], Effect, &str); 6] = [
        (&[&allow], &[&deny], Effect::Deny, "deny: policy"),
        (&[&deny], &[&allow], Effect::Allow, "deny: policy"),
        (&[], &[&allow], Effect::Deny, "deny: policy"),
        (&[&allow], &[&allow], Effect::Deny, "allow"),
        (&[&allow], &[], Effect::Deny, "allow"),
        (&[], &[&deny], Effect::Allow, "deny: policy"),
    ];
    let owned = |rules: &[&PolicyRule]| rules.iter().map(|r| (*r).clone()).collect::<Vec<_>>();
    for (at, (own, narrowing, default, expected)) in cases.into_iter().enumerate() {
        let gates = with_policy(policy(default, &owned(own)), authorization(&owned(narrowing)));
        let judged = gates.judge(&call("read", json!({})), &Situation::default().scene());
        assert_eq!(outcome(&judged), expected, "case {at}");
    }
}

#[test]
fn deny_beats_allow_and_ask_between_gates() {
    let verdicts: [fn(&Admitted) -> Verdict; 2] = [
        |_| Verdict::Allow { matched: Some("everything".to_owned()) },
        |call| {
            Verdict::Ask(counterfoil_guard::Question {
                gate: GateId("always"),
                digest: call.digest(),
                tool: "read".to_owned(),
                call: "read".to_owned(),
                why: "always".to_owned(),
                matched: None,
                stake: counterfoil_guard::Stake::Agreement,
            })
        },
    ];
    for verdict in verdicts {
        let gates = Gates::builder().quota(Some(0)).gate(Always(verdict)).build();
        let judged = gates.judge(&call("read", json!({})), &Situation::default().scene());
        assert_eq!(outcome(&judged), "deny: quota");
    }
}

#[test]
fn policy_and_authorization_change_nothing_when_they_are_off() {
    let deny = [rule(Effect::Deny, "*")];
    let policy = PolicyOptions { rules: deny.to_vec(), ..PolicyOptions::default() };
    let authorization = AuthorizationOptions { enabled: false, rules: deny.to_vec() };
    let gates = with_policy(policy, authorization);
    let judged = gates.judge(&call("read", json!({})), &Situation::default().scene());
    assert_eq!(judged, Judged::Allowed { matched: Vec::new() });
}

#[test]
fn quota_counts_first_attempts_and_its_exhaustion_is_answered() {
    let gates = Gates::builder().quota(Some(2)).build();
    let cases = [(0, "allow"), (1, "allow"), (2, "deny: quota"), (u64::MAX, "deny: quota")];
    for (calls_made, expected) in cases {
        let situation = Situation { calls_made, ..Situation::default() };
        let judged = gates.judge(&call("read", json!({})), &situation.scene());
        assert_eq!(outcome(&judged), expected, "{calls_made}");
        if let Judged::Denied(reasons) = judged {
            assert_eq!(reasons[0].code, "quota_blocked");
            assert!(reasons[0].help.is_some());
        }
    }
    let unlimited = Gates::builder().quota(None).build();
    let situation = Situation { calls_made: u64::MAX, ..Situation::default() };
    let judged = unlimited.judge(&call("read", json!({})), &situation.scene());
    assert_eq!(outcome(&judged), "allow");
}

/// Two policies that each refuse one of two commands: a mixture would refuse none or both.
#[test]
fn a_swap_of_the_shell_policy_is_atomic_under_load() {
    let blocking = |command: &str| {
        let blocked_commands = vec![command.to_owned()];
        let options = BlocklistOptions { blocked_commands, ..BlocklistOptions::default() };
        ShellPolicy { blocklist: options.resolve().unwrap(), ..ShellPolicy::default() }
    };
    let handle = ShellPolicyHandle::new(blocking("first"));
    let gates = Gates::builder().shell(handle.clone()).build();
    let ended = AtomicBool::new(false);
    let both = shell("first; second");
    std::thread::scope(|threads| {
        let judging: Vec<_> = (0..4)
            .map(|_| {
                threads.spawn(|| {
                    let mut seen = [0_u32; 2];
                    while !ended.load(Ordering::Relaxed) || seen.iter().sum::<u32>() == 0 {
                        let verdict = verdict_of(&gates, "blocklist", &both, &Situation::default());
                        let Verdict::Deny(reason) = verdict else { panic!("nothing was blocked") };
                        match reason.message.as_str() {
                            "`first` is a blocked command" => seen[0] += 1,
                            "`second` is a blocked command" => seen[1] += 1,
                            other => panic!("{other}"),
                        }
                    }
                    seen
                })
            })
            .collect();
        for round in 0..2_000 {
            let command = if round % 2 == 0 { "second" } else { "first" };
            handle.rebuild(blocking(command));
        }
        ended.store(true, Ordering::Relaxed);
        let judged: u32 = judging.into_iter().flat_map(|thread| thread.join().unwrap()).sum();
        assert!(judged >= 4);
    });
    handle.rebuild(blocking("first"));
    assert_eq!(outcome(&gates.judge(&shell("second"), &Situation::default().scene())), "allow");
    handle.rebuild(blocking("second"));
    let judged = gates.judge(&shell("second"), &Situation::default().scene());
    assert_eq!(outcome(&judged), "deny: blocklist");
}

#[test]
fn phases_are_named_and_rules_may_differ_by_phase() {
    let deny = PolicyRule { phases: vec![Phase::Planner], ..rule(Effect::Deny, "write") };
    let gates = with_policy(policy(Effect::Allow, &[deny]), AuthorizationOptions::default());
    let cases = [
        (Phase::Planner, "deny: policy"),
        (Phase::Executor, "allow"),
        (Phase::Verifier, "allow"),
        (Phase::Autonomous, "allow"),
    ];
    for (phase, expected) in cases {
        let situation = Situation { phase, ..Situation::default() };
        let judged = gates.judge(&call("write", json!({})), &situation.scene());
        assert_eq!(outcome(&judged), expected, "{phase:?}");
    }
}

#[test]
fn a_gate_that_fails_denies() {
    let gates = Gates::builder().gate(Always(|_| panic!("broken"))).build();
    let judged = gates.judge(&call("read", json!({})), &Situation::default().scene());
    let Judged::Denied(reasons) = judged else { panic!("{judged:?}") };
    assert_eq!((reasons[0].gate.0, reasons[0].code), ("always", "gate_failed"));
}

#[test]
fn one_more_gate_only_narrows() {
    let allow = |_: &Admitted| Verdict::Allow { matched: None };
    let gates = Gates::builder().quota(Some(0)).gate(Always(allow)).build();
    let judged = gates.judge(&call("read", json!({})), &Situation::default().scene());
    assert_eq!(outcome(&judged), "deny: quota");
}

#[test]
fn a_clearance_names_its_grounds() {
    let allow = PolicyRule { name: Some("reading".to_owned()), ..rule(Effect::Allow, "read") };
    let gates = with_policy(policy(Effect::Deny, &[allow]), AuthorizationOptions::default());
    let decision =
        gates.decide(&call("read", json!({})), &Situation::default().scene(), &approvals());
    let Decision::Cleared(clearance) = decision else { panic!("{decision:?}") };
    assert_eq!(
        clearance.basis(),
        PermitBasis::Policy { rules: vec!["policy: reading".to_owned()] }
    );
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<(Gates, Clearance, Approvals)>();
}

#[test]
fn rehearsing_uses_nothing_up_and_says_the_same() {
    let gates = Gates::builder().quota(Some(1)).build();
    let made = shell("sudo ls");
    let situation = Situation::default();
    let rehearsed = gates.rehearse(made.call(), made.tool(), &situation.scene()).unwrap();
    assert_eq!(rehearsed, gates.explain(&made, &situation.scene()));
    let broken = counterfoil_model::ToolCall {
        arguments: counterfoil_model::Arguments::raw("[]"),
        ..made.call().clone()
    };
    let error = gates.rehearse(&broken, made.tool(), &situation.scene()).unwrap_err();
    assert_eq!(error.to_string(), "the arguments of `shell` are not a JSON object");
}
