//! Property tests with arbitrary replies of a judge.

use counterfoil_judge::{Ask, Case, Grading, Opinion, assess, find};
use counterfoil_model::Transcript;
use counterfoil_record::Record;
use proptest::prelude::*;

use crate::scene::session;

const ANSWER: &str = "The “total” is 529 EUR, due on 2026-03-05. I mailed ann@shop.example — twice.\n- 3 tests failed";

fn transcript() -> Transcript {
    let calls = [("get_order", r#"{"id": "W7"}"#, "{\"total\": 384,\n \"due\": \"2026-03-04\"}")];
    session("What is the total of W7?", &calls, ANSWER)
}

/// Checks that every returned quotation is in the text.
fn check(transcript: &Transcript, opinion: &Opinion) {
    let record = Record::new(transcript);
    let case = Case::new(record.up_to(3), &Ask::default()).unwrap();
    let judged = assess(&case, opinion, &Grading { lowest: 0.0, threshold: 0.7 });
    assert_eq!(judged.findings.len() + judged.dropped.len(), opinion.findings.len());
    for finding in &judged.findings {
        assert_eq!(finding.span.slice(ANSWER), finding.says);
        assert!(!finding.says.is_empty());
        if let Some(cited) = &finding.cited {
            assert_eq!(
                case.text_of(cited.label).unwrap().get(cited.span.start..cited.span.end),
                Some(cited.quote.as_str())
            );
            assert!(!cited.quote.is_empty());
        }
    }
}

fn one_of(choices: &'static str) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices.split('|').collect::<Vec<_>>())
}

/// Strings that resemble those of the session.
fn near() -> impl Strategy<Value = String> {
    let piece = one_of(
        "total is|529 EUR|…|[...]| |\"total\": 384|384|due|2026-03-0|-|%|ann@shop.example|\u{200b}\
         |\u{301}|tests failed|3|“|ΤOTAL|\\n|\\u0031|\\",
    );
    prop_oneof![
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]
}

fn a_finding() -> impl Strategy<Value = serde_json::Value> {
    let label = one_of("R1|C1|U1|F1|R2||S1");
    let verdict = one_of("contradicted|unsupported");
    let sentence = one_of("S1|S2|S3|S4|S0");
    (sentence, verdict, near(), label, near(), 0.0..=1.0_f64).prop_map(
        |(sentence, verdict, says, record, quote, confidence)| {
            serde_json::json!({"sentence": sentence, "verdict": verdict, "says": says,
                "record": record, "quote": quote, "needs": "get_order", "confidence": confidence})
        },
    )
}

proptest! {
    #[test]
    fn any_bytes_are_read(reply in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Opinion::read_bytes(&reply);
    }

    #[test]
    fn any_json_is_read(text in r#"[\{\}\[\]",:a-zS0-9.\\ ]{0,200}"#) {
        let _ = Opinion::read(&text);
        let _ = Opinion::read(&format!("{{\"findings\": [{text}]}}"));
    }

    #[test]
    fn any_finding_is_verified(findings in prop::collection::vec(a_finding(), 0..4)) {
        let reply = serde_json::json!({ "findings": findings }).to_string();
        check(&transcript(), &Opinion::read(&reply).unwrap());
    }

    #[test]
    fn any_quotation_that_is_found_is_there(quotation in near(), text in near()) {
        if let Ok(found) = find(&quotation, &text) {
            let words = text.get(found.span).unwrap();
            // A found quotation must also be found in itself.
            prop_assert!(find(&quotation, words).is_ok(), "{quotation:?} {words:?}");
        }
    }
}
