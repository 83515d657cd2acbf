//! `combine` is order-free, deny-dominant and monotone, compared with a naive implementation.

use counterfoil_guard::{GateId, Judged, Question, Reason, Verdict, combine};
use counterfoil_model::Digest;
use proptest::prelude::*;

use super::outcome;

const GATES: [GateId; 4] = [GateId("a"), GateId("b"), GateId("c"), GateId("d")];

fn verdict() -> impl Strategy<Value = (GateId, Verdict)> {
    (0..GATES.len(), 0..3_u8, "[a-c]{1}").prop_map(|(gate, kind, text)| {
        let gate = GATES[gate];
        let verdict = match kind {
            0 => Verdict::Allow { matched: (text != "c").then_some(text) },
            1 => Verdict::Ask(Question {
                gate,
                digest: Digest::of_bytes(text.as_bytes()),
                tool: "shell".to_owned(),
                call: "shell {}".to_owned(),
                why: text,
                matched: None,
                stake: counterfoil_guard::Stake::Agreement,
            }),
            _ => Verdict::Deny(Reason {
                gate,
                code: "policy_denied",
                message: text,
                matched: None,
                help: None,
            }),
        };
        (gate, verdict)
    })
}

fn verdicts() -> impl Strategy<Value = Vec<(GateId, Verdict)>> {
    prop::collection::vec(verdict(), 0..12)
}

/// How strict an outcome is.
fn strictness(judged: &Judged) -> u8 {
    match judged {
        Judged::Allowed { .. } => 0,
        Judged::NeedsApproval(_) => 1,
        Judged::Denied(_) => 2,
    }
}

/// A naive implementation: three passes, one question each.
fn naive(verdicts: &[(GateId, Verdict)]) -> (u8, Vec<String>) {
    let mut texts = Vec::new();
    for (gate, verdict) in verdicts {
        if let Verdict::Deny(reason) = verdict {
            texts.push(format!("{gate} {}", reason.message));
        }
    }
    if !texts.is_empty() || verdicts.is_empty() {
        texts.sort();
        return (2, texts);
    }
    for (gate, verdict) in verdicts {
        if let Verdict::Ask(question) = verdict {
            texts.push(format!("{gate} {}", question.why));
        }
    }
    if !texts.is_empty() {
        texts.sort();
        return (1, texts);
    }
    for (gate, verdict) in verdicts {
        if let Verdict::Allow { matched: Some(rule) } = verdict {
            texts.push(format!("{gate} {rule}"));
        }
    }
    texts.sort();
    (0, texts)
}

fn texts(judged: &Judged) -> Vec<String> {
    let mut texts: Vec<String> = match judged {
        Judged::Allowed { matched } => {
            matched.iter().map(|(gate, rule)| format!("{gate} {rule}")).collect()
        }
        Judged::NeedsApproval(questions) => {
            questions.iter().map(|q| format!("{} {}", q.gate, q.why)).collect()
        }
        Judged::Denied(reasons) => reasons
            .iter()
            .filter(|reason| reason.code != "no_gate")
            .map(|reason| format!("{} {}", reason.gate, reason.message))
            .collect(),
    };
    texts.sort();
    texts
}

proptest! {
    #[test]
    fn the_order_does_not_matter(
        (verdicts, shuffled) in verdicts().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
    ) {
        prop_assert_eq!(combine(verdicts), combine(shuffled));
    }

    #[test]
    fn a_denial_dominates(verdicts in verdicts(), denial in verdict(), at in 0..12_usize) {
        prop_assume!(matches!(denial.1, Verdict::Deny(_)));
        let mut all = verdicts;
        all.insert(at.min(all.len()), denial);
        prop_assert!(matches!(combine(all), Judged::Denied(_)));
    }

    #[test]
    fn one_more_gate_never_loosens(verdicts in verdicts(), more in verdict()) {
        prop_assume!(!verdicts.is_empty());
        let before = strictness(&combine(verdicts.clone()));
        let after = strictness(&combine(verdicts.into_iter().chain([more])));
        prop_assert!(after >= before);
    }

    #[test]
    fn it_agrees_with_its_naive_twin(verdicts in verdicts()) {
        let judged = combine(verdicts.clone());
        prop_assert_eq!((strictness(&judged), texts(&judged)), naive(&verdicts));
    }
}

#[test]
fn no_gate_at_all_is_a_denial() {
    assert_eq!(outcome(&combine([])), "deny: none");
}
