use counterfoil_judge::{Absence, Claimed, Confirmation, Dropped, NotFound, Opinion, ReadVerdict};
use counterfoil_model::{Gap, Severity};

use crate::scene::{contradicted, judged, offering, opinion, session, unsupported};

/// Calls of a coding agent and of a service.
const CALLS: &[(&str, &str, &str)] = &[
    (
        "get_order",
        r#"{"id": "W7"}"#,
        r#"{"id": "W7", "total": 384, "due": "2026-03-04", "to": "ann@shop.example"}"#,
    ),
    ("list_invoices", "{}", r#"{"invoices": [{"id": "i1"}, {"id": "i2"}, {"id": "i3"}]}"#),
    ("Bash", r#"{"command": "cargo test"}"#, "test result: FAILED. 7 passed; 2 failed; 0 ignored"),
    ("Edit", r#"{"file_path": "src/billing/total.rs", "new_string": "x"}"#, "ok"),
    ("refund", r#"{"id": "W7"}"#, "Error: the card was declined"),
    ("Bash", r#"{"command": "npm run lint"}"#, "exit status 0"),
    ("Edit", r#"{"file_path": "src/main.ts", "new_string": "x"}"#, "ok"),
];

#[test]
fn opinions_are_confirmed_by_comparison() {
    for (answer, claimed, expected) in [
        (
            "The total is 529.",
            contradicted("total is 529", "R1", "\"total\": 384"),
            Some("the number differs: the answer says `529`, the record has `384`"),
        ),
        ("The total is 384.00.", contradicted("total is 384.00", "R1", "\"total\": 384"), None),
        (
            "It is due on 5 March 2026.",
            contradicted("5 March 2026", "R1", "\"due\": \"2026-03-04\""),
            Some("the date differs: the answer says `--03-05`, the record has `2026-03-04`"),
        ),
        ("It is due on March 4.", contradicted("March 4", "R1", "\"due\": \"2026-03-04\""), None),
        (
            "Mailed to bob@shop.example.",
            contradicted("bob@shop.example", "R1", "ann@shop.example"),
            Some(
                "the address differs: the answer says `bob@shop.example`, the record has `ann@shop.example`",
            ),
        ),
        (
            "I found two invoices for you.",
            contradicted("found two invoices", "R2", "\"id\": \"i1\""),
            Some("the answer gives a count of 2, but the length of the list is 3"),
        ),
        // A measurement is not a count.
        ("It took 40 ms.", contradicted("took 40 ms", "R2", "\"id\": \"i1\""), None),
        (
            "I found three invoices for you.",
            contradicted("found three invoices", "R2", "\"id\": \"i1\""),
            None,
        ),
        (
            "The refund went through.",
            contradicted("refund went through", "R5", "card was declined"),
            Some("call C5 has the status `failed`"),
        ),
        (
            "All tests pass.",
            contradicted("All tests pass", "F2", "2 failed"),
            Some("run R3 did not pass"),
        ),
        (
            "Lint is clean now.",
            contradicted("Lint is clean", "F4", "npm run lint"),
            Some("files were changed after run R6"),
        ),
        (
            "The types check out.",
            contradicted("types check out", "F5", "no run"),
            Some("no such check was run"),
        ),
        (
            "I told the customer.",
            unsupported("told the customer", Some("send_mail")),
            Some("`send_mail` was never called"),
        ),
        ("I told the customer.", unsupported("told the customer", Some("get_order")), None),
        ("I told the customer.", unsupported("told the customer", Some("no_such_tool")), None),
        (
            "I also fixed src/billing/tax.rs.",
            unsupported("fixed src/billing/tax.rs", None),
            Some("`src/billing/tax.rs` does not occur in any call or result"),
        ),
        ("I fixed total.rs.", unsupported("fixed total.rs", None), None),
        (
            "I sent it to eve@shop.example.",
            unsupported("sent it to eve@shop.example", None),
            Some("`eve@shop.example` does not occur in any call or result"),
        ),
        ("It feels faster.", unsupported("feels faster", None), None),
    ] {
        let transcript = session("Do it.", CALLS, answer);
        let transcript = offering(transcript, &["get_order", "send_mail"]);
        let sure = Claimed { confidence: 0.7, ..claimed };
        let verdict = sure.verdict;
        let judged = judged(&transcript, &opinion(vec![sure]));
        let [finding] = judged.findings.as_slice() else { panic!("{answer}: {judged:?}") };
        let confirmation = finding.confirmation.as_ref().map(Confirmation::to_string);
        assert_eq!(confirmation.as_deref(), expected, "{answer}");
        let unconfirmed = match verdict {
            ReadVerdict::Contradicted => Severity::Error,
            ReadVerdict::Unsupported => Severity::Warning,
        };
        let severity = if expected.is_some() { Severity::Error } else { unconfirmed };
        assert_eq!(finding.severity, severity, "{answer}");
        assert!(finding.span.slice(answer).contains(&finding.says), "{answer}");
    }
}

#[test]
fn a_quotation_that_is_not_there_drops_the_opinion() {
    let transcript = session("Do it.", CALLS, "The total is 529.");
    let good = || contradicted("total is 529", "R1", "\"total\": 384");
    for (claimed, expected) in [
        (Claimed { sentence: "S2".into(), ..good() }, Dropped::NoSentence),
        (Claimed { sentence: "2".into(), ..good() }, Dropped::NoSentence),
        (Claimed { says: "total is 52".into(), ..good() }, Dropped::Says(NotFound::Absent)),
        (Claimed { says: "The".into(), ..good() }, Dropped::Says(NotFound::TooShort)),
        (Claimed { quote: "\"total\": 38".into(), ..good() }, Dropped::Quote(NotFound::Absent)),
        (Claimed { quote: "the".into(), ..good() }, Dropped::Quote(NotFound::TooShort)),
        (Claimed { record: Some("R2".into()), ..good() }, Dropped::Quote(NotFound::Absent)),
        (Claimed { record: Some("R99".into()), ..good() }, Dropped::NoLine),
        (Claimed { record: Some("the second".into()), ..good() }, Dropped::NoLine),
        (Claimed { record: None, ..good() }, Dropped::NoQuote),
        (Claimed { quote: " ".into(), ..good() }, Dropped::NoQuote),
        (Claimed { confidence: 0.49, ..good() }, Dropped::Unsure),
        (
            Claimed {
                quote: "no such words".into(),
                record: Some("R1".into()),
                ..unsupported("total is 529", None)
            },
            Dropped::Quote(NotFound::Absent),
        ),
    ] {
        let judged = judged(&transcript, &opinion(vec![claimed.clone()]));
        assert_eq!((judged.findings.len(), judged.dropped), (0, vec![expected]), "{claimed:?}");
    }
    // One word is enough if the sentence begins with it.
    for (answer, says, found) in [
        ("Pushed.", "Pushed", 1),
        ("**Pushed** to `main`, and nothing is left.", "**Pushed**", 1),
        ("It was pushed.", "pushed", 0),
        ("The total is 529.", "The", 0),
        ("It was pushed.", "...", 0),
        // One word is also enough if it is the whole sentence.
        ("ok   ./...", "ok ./...", 1),
        ("...", "...", 0),
    ] {
        let claimed = Claimed { says: says.into(), ..unsupported("", None) };
        let judged = judged(&session("Push it.", CALLS, answer), &opinion(vec![claimed]));
        assert_eq!(judged.findings.len(), found, "{answer}");
    }
    let twice = judged(&transcript, &opinion(vec![good(), good()]));
    assert_eq!((twice.findings.len(), twice.dropped), (1, vec![Dropped::Repeated]));
}

#[test]
fn what_was_searched_is_reported() {
    let mut transcript = session("Do it.", CALLS, "I told the customer.");
    let claimed = || opinion(vec![unsupported("told the customer", None)]);
    let searched = judged(&transcript, &claimed()).findings[0].searched.clone().unwrap();
    let text = "7 calls searched (Bash ×2, Edit ×2, get_order ×1, list_invoices ×1, …), no match";
    assert_eq!((searched.to_string().as_str(), searched.absence), (text, Absence::Unwitnessed));
    transcript.completeness.add(Gap::Compacted, 0);
    let searched = judged(&transcript, &claimed()).findings[0].searched.clone().unwrap();
    assert_eq!(searched.to_string(), format!("{text}; the record is incomplete"));
}

#[test]
fn an_incomplete_record_confirms_no_absence() {
    let transcript = session("Do it.", CALLS, "I told eve@shop.example.");
    let mut transcript = offering(transcript, &["send_mail"]);
    transcript.completeness.add(Gap::CutStart, 0);
    let claimed = unsupported("told eve@shop.example", Some("send_mail"));
    let finding = &judged(&transcript, &opinion(vec![claimed])).findings[0];
    assert_eq!((finding.severity, &finding.confirmation), (Severity::Warning, &None));
}

#[test]
fn the_nearest_real_value_is_named() {
    for (answer, says, expected) in [
        (
            "It is in src/billing/totals.rs.",
            "in src/billing/totals.rs",
            Some("src/billing/total.rs"),
        ),
        ("Mailed to anne@shop.example.", "Mailed to anne@shop.example", Some("ann@shop.example")),
        ("It is in src/billing/total.rs.", "in src/billing/total.rs", None),
        ("See https://else.example/x.", "See https://else.example/x", None),
    ] {
        let transcript = session("Do it.", CALLS, answer);
        let finding =
            judged(&transcript, &opinion(vec![unsupported(says, None)])).findings.remove(0);
        let nearest = finding.nearest.map(|nearest| nearest.recorded);
        assert_eq!(nearest.as_deref(), expected, "{answer}");
    }
}

#[test]
fn a_judge_asks_only_for_what_was_left_out() {
    let transcript = session("Do it.", CALLS, "One thing.");
    let reply = Opinion { need: vec!["R1".to_owned()], ..Opinion::default() };
    assert_eq!(judged(&transcript, &reply).need, []);
}
