//! Findings in the baseline are not reported again; new ones are.

use counterfoil_model::{Message, Role, Subject, Transcript};
use counterfoil_report::{Baseline, Fingerprint, KnownFinding};
use serde_json::json;

use crate::scene::support;

#[test]
fn known_findings_are_split_off_and_a_repetition_is_new() {
    let scene = support();
    let mut baseline = Baseline::default();
    baseline.accept(&scene.transcript, &scene.findings);
    let baseline = Baseline::from_json(&baseline.to_json()).unwrap();
    assert_eq!(baseline.len(), 3);

    let (new, known) = baseline.split(&scene.transcript, scene.findings.clone());
    assert_eq!((new, known), (vec![], scene.findings.clone()));
    let mut more = scene.findings.clone();
    more.push(scene.findings[0].clone());
    let (new, known) = baseline.split(&scene.transcript, more);
    assert_eq!((new, known), (vec![scene.findings[0].clone()], scene.findings.clone()));
}

/// A run renews what it looked for, and nothing else.
#[test]
fn a_renewed_baseline_keeps_reasons_and_what_was_not_checked() {
    let scene = support();
    let mut occurred = Baseline::default();
    occurred.accept(&scene.transcript, &scene.findings[..1]);
    let print = Fingerprint::new(&scene.transcript, &scene.findings[0]);
    let reason = occurred.with_reason(print.as_str(), "a false alarm", "2026-11-29").unwrap();
    let mut old = Baseline::default();
    old.accept(&scene.transcript, &scene.findings[1..]);
    old.merge(reason);
    let old = Baseline::from_json(&old.to_json()).unwrap();

    assert_eq!(occurred.with_reason("0", "", ""), None);
    assert_eq!(old.gone(&occurred, |_| true).len(), 2);
    assert_eq!(old.gone(&occurred, |_| false), vec![]);
    let renewed = old.renewed(occurred.clone(), |_| true);
    assert_eq!(renewed.len(), 1);
    assert!(renewed.to_json().contains("\"reason\": \"a false alarm\""));
    assert_eq!(old.renewed(occurred, |_| false).to_json(), old.to_json());
}

/// An earlier report of eleven findings has eleven that are gone, the same or not looked for.
#[test]
fn a_comparison_counts_each_occurrence() {
    let scene = support();
    let twice = [scene.findings.clone(), scene.findings[..1].to_vec()].concat();
    let listed: Vec<_> = ["a.json", "b.json"]
        .iter()
        .flat_map(|path| twice.iter().map(|f| KnownFinding::new(path, &scene.transcript, f)))
        .collect();
    let summary = json!({ "against": { "same": listed } });
    let report = json!({ "findings": [], "summary": summary }).to_string();
    let earlier = Baseline::from_report(&report).unwrap();
    let mut now = Baseline::default();
    assert_eq!(earlier.missing(&now).len(), 8);
    now.accept(&scene.transcript, &scene.findings);
    assert_eq!(earlier.missing(&now).len(), 5);
    now.accept(&scene.transcript, &twice);
    assert_eq!(earlier.missing(&now).len(), 1);
}

#[test]
fn a_fingerprint_survives_moves_and_rewording_but_not_another_claim() {
    let scene = support();
    let (here, finding) = (&scene.transcript, scene.findings[1].clone());
    let print = Fingerprint::new(here, &finding);
    let mut moved = finding.clone();
    moved.line = 900;
    moved.message = "said otherwise".into();
    let Subject::Claim { span, claim } = &mut moved.subject else { panic!() };
    *span = span.shifted(12);
    claim.text = "  I have  Cancelled order #4411 for you.".into();
    // Another file or another place in it is the same conversation.
    let renamed = Transcript { id: "session#2".to_owned(), ..here.clone() };
    assert_eq!(Fingerprint::new(&renamed, &moved), print);

    let mut other = finding.clone();
    let Subject::Claim { claim, .. } = &mut other.subject else { panic!() };
    claim.text = "I have cancelled order #4412 for you".into();
    assert_ne!(Fingerprint::new(here, &other), print);
}

/// The same sentence in two conversations is two findings, even if both logs have one name.
#[test]
fn a_fingerprint_is_of_one_conversation() {
    let scene = support();
    let (here, finding) = (&scene.transcript, &scene.findings[1]);
    let print = Fingerprint::new(here, finding);
    let changed = |change: &dyn Fn(&mut Transcript)| {
        let mut other = here.clone();
        change(&mut other);
        Fingerprint::new(&other, finding)
    };
    let request = here.messages.iter().position(|m| m.role == Role::User).unwrap();
    let called = here.messages.iter().position(|m| !m.calls.is_empty()).unwrap();
    assert!(request < finding.turn && called < finding.turn);
    assert_ne!(changed(&|t| t.messages[request].text = "Cancel another order.".into()), print);
    assert_ne!(changed(&|t| t.messages[called].calls[0].id = "call-of-tuesday".into()), print);
    // What comes later changes nothing: a session grows.
    assert_eq!(changed(&|t| t.messages.push(Message::text(Role::User, "Thanks."))), print);
}

#[test]
fn a_foreign_file_is_refused_in_words() {
    for (text, expected) in [
        (
            r#""x""#,
            "not a baseline: found string \"x\", expected an object with `version` and `findings` (line 1, column 3)",
        ),
        (
            r#"{"version":2,"findings":[]}"#,
            "not a baseline: found a list, expected an object (line 1, column 24)",
        ),
        (
            r#"{"version":1,"findings":{}}"#,
            "unsupported baseline version 1, expected 2; accept its findings again with `--write-baseline`",
        ),
        (
            r#"{"version":2,"findings":{"x":{"count":1,"rule":"","transcript":"","message":""}}}"#,
            "`x` is not a fingerprint (32 hex digits)",
        ),
    ] {
        assert_eq!(Baseline::from_json(text).unwrap_err().to_string(), expected);
    }
}
