//! Findings in the baseline are not reported again; new ones are.

use counterfoil_model::Subject;
use counterfoil_report::{Baseline, Fingerprint};

use crate::scene::support;

#[test]
fn known_findings_are_split_off_and_a_repetition_is_new() {
    let scene = support();
    let mut baseline = Baseline::default();
    baseline.accept(&scene.transcript, &scene.findings);
    let baseline = Baseline::from_json(&baseline.to_json()).unwrap();
    assert_eq!(baseline.len(), 3);

    assert_eq!(baseline.split(&scene.transcript, scene.findings.clone()), (vec![], 3));
    let mut more = scene.findings.clone();
    more.push(scene.findings[0].clone());
    let (new, known) = baseline.split(&scene.transcript, more);
    assert_eq!((new, known), (vec![scene.findings[0].clone()], 3));
}

#[test]
fn a_fingerprint_survives_moves_and_rewording_but_not_another_claim() {
    let finding = support().findings[1].clone();
    let print = Fingerprint::of("a", &finding);
    let mut moved = finding.clone();
    moved.line = 900;
    moved.turn = 45;
    moved.message = "said otherwise".into();
    let Subject::Claim { span, claim } = &mut moved.subject else { panic!() };
    *span = span.shifted(12);
    claim.text = "  I have  Cancelled order #4411 for you.".into();
    assert_eq!(Fingerprint::of("a", &moved), print);

    assert_ne!(Fingerprint::of("b", &finding), print);
    let mut other = finding.clone();
    let Subject::Claim { claim, .. } = &mut other.subject else { panic!() };
    claim.text = "I have cancelled order #4412 for you".into();
    assert_ne!(Fingerprint::of("a", &other), print);
}

#[test]
fn a_foreign_file_is_refused_in_words() {
    for (text, expected) in [
        (
            r#""x""#,
            "not a baseline: invalid type: string \"x\", expected an object with `version` and `findings` at line 1 column 3",
        ),
        (r#"{"version":7,"findings":{}}"#, "baseline version 7 is not known here, only version 1"),
        (
            r#"{"version":1,"findings":{"x":{"count":1,"rule":"","transcript":"","message":""}}}"#,
            "`x` is not a fingerprint of 32 hex digits",
        ),
    ] {
        assert_eq!(Baseline::from_json(text).unwrap_err().to_string(), expected);
    }
}
