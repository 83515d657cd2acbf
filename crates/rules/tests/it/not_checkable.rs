//! Why a claim is not checkable, and the words of the claim that are quoted.

use counterfoil_model::Verdict;
use counterfoil_rules::{Settings, check};

use crate::dialogue;

const WORKS: &str = "tools: find_order, cancel_order\nuser: Go.\n\
    call: find_order {\"id\": \"4711\"}\nok: {\"id\": \"4711\", \"status\": \"open\"}\n";
const COMMAND: &str = "tools: shell, send_email\nuser: Go.\n\
    call: shell {\"command\": \"./notify.sh\"}\nok: started\n";
const UNLISTED: &str = "user: Go.\ncall: frobnicate {}\nok: frobnicated\n";
const TESTED: &str = "tools: run_tests\nuser: Go.\ncall: run_tests {}\nok: 2 failed, 3 passed\n";

/// What happened before, the answer, the claims of the answer that are not checkable, and why.
const CASES: [(&str, &str, &[[&str; 2]]); 6] = [
    (
        WORKS,
        "I fixed the parser and we are done.",
        &[["I fixed the parser", "none of the agent's tools is known to do this"]],
    ),
    (
        COMMAND,
        "I sent the mail to Ana.",
        &[["I sent the mail to Ana.", "a call with unknown effects may have done it"]],
    ),
    (
        UNLISTED,
        "I refunded the order.",
        &[[
            "I refunded the order.",
            "the log has no list of tools, and a tool with unknown effects may do this",
        ]],
    ),
    (
        TESTED,
        "I read the docs and the build passes.",
        &[["the build passes.", "the tests were run, but no build was"]],
    ),
    (WORKS, "I cancelled order 4711 tomorrow.", &[]),
    (WORKS, "The order is open.", &[]),
];

#[test]
fn each_claim_that_is_not_checkable_says_why() {
    for (before, answer, expected) in CASES {
        let case = dialogue::read(&format!("{before}assistant: {answer}\n")).unwrap();
        let report = check(&case.transcript, &Settings::default());
        let open = report.judgements.iter().filter(|j| j.verdict == Verdict::NotCheckable);
        let read: Vec<_> = open.map(|j| [j.claim.text.as_str(), j.reason.unwrap()]).collect();
        assert_eq!(read, expected, "{answer}");
    }
}
