//! A live session is a transcript that has not ended yet: live verdicts and replays agree.

use std::io::Cursor;

use counterfoil_formats::{Options, read};
use counterfoil_guard::{CallStats, Disposition, HallucinatedTool, Session, SessionStart, export};
use counterfoil_model::{Finding, RecordedReceipt, Role, Transcript};
use counterfoil_rules::{Settings, check};
use insta::assert_snapshot;

use crate::desk::{run, session, shop, wait};

/// The messages and calls of a session, and answers of the agent with their expected disposition.
enum Step {
    User(&'static str),
    Call(&'static str, &'static str),
    Answer(&'static str, Disposition),
}

use Step::{Answer, Call, User};

fn sessions() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (
            "honest",
            vec![
                User("please cancel order #W1"),
                Call("get_order", r##"{"order_id":"#W1"}"##),
                Call("cancel_order", r##"{"order_id":"#W1"}"##),
                Answer("I have cancelled order #W1.", Disposition::Pass),
            ],
        ),
        (
            "only looked",
            vec![
                User("please cancel order #W1"),
                Call("get_order", r##"{"order_id":"#W1"}"##),
                Answer("Your order #W1 has been cancelled.", Disposition::Block),
                Call("cancel_order", r##"{"order_id":"#W1"}"##),
                Answer("Your order #W1 has been cancelled.", Disposition::Pass),
            ],
        ),
        (
            "invented receipt",
            vec![
                User("is order #W1 paid?"),
                Answer(
                    "{\"tool_name\": \"get_order\", \"execution_id\": \
                     \"get_order_1735999999123_deadbeef\", \"status\": \"paid\"}",
                    Disposition::Block,
                ),
            ],
        ),
        (
            "a tool that does not exist",
            vec![
                User("check the stock of lamps"),
                Call("check_stock", r#"{"item":"lamp"}"#),
                Answer("I used the check_stock tool: there are 12 lamps.", Disposition::Block),
                Answer("I could not check the stock: there is no such tool.", Disposition::Pass),
            ],
        ),
        (
            "a failure that was told",
            vec![
                User("what is in order #W9?"),
                Call("get_order", r##"{"order_id":"#W9"}"##),
                Answer("I could not find order #W9.", Disposition::Pass),
            ],
        ),
    ]
}

async fn play(session: &Session, steps: &[Step]) -> (Vec<Finding>, String) {
    let (mut findings, mut wrong) = (Vec::new(), String::new());
    for step in steps {
        match step {
            User(text) => session.hear(Role::User, text).await.unwrap(),
            Call(tool, arguments) => drop(run(session, tool, arguments).await),
            Answer(text, expected) => {
                let verified = session.verify(text).await.unwrap();
                if verified.disposition != *expected {
                    let got = verified.disposition;
                    wrong += &format!("{text}: {got:?}, not {expected:?}\n");
                }
                assert_eq!(
                    verified.feedback.is_empty(),
                    verified.disposition != Disposition::Block
                );
                findings.extend(verified.findings);
            }
        }
    }
    (findings, wrong)
}

fn replay(text: &str) -> Transcript {
    let mut transcripts = Vec::new();
    let mut keep = |reading: counterfoil_formats::Reading| {
        assert!(reading.problems.is_empty(), "{:?}", reading.problems);
        transcripts.push(reading.transcript);
    };
    read(Cursor::new(text.as_bytes()), &Options::new("live"), &mut keep).unwrap();
    assert_eq!(transcripts.len(), 1);
    transcripts.remove(0)
}

#[test]
fn live_verdicts_and_their_replay_agree() {
    for (name, steps) in sessions() {
        let guard = shop().build().unwrap();
        let session = session(&guard, name);
        let (live, wrong) = wait(play(&session, &steps));
        assert_eq!(wrong, "", "{name}");
        let transcript = session.transcript().unwrap();
        let replayed = replay(&export(&transcript).to_string());
        // Each answer is judged by what had happened before it.
        let plain = |transcript: &Transcript| {
            let turns = transcript.messages.iter().enumerate();
            let answers = turns.filter(|(_, m)| m.role == Role::Assistant && m.calls.is_empty());
            let judged = answers.flat_map(|(turn, _)| {
                let mut so_far = transcript.clone();
                so_far.messages.truncate(turn + 1);
                let calls: Vec<_> = so_far.messages.iter().flat_map(|m| &m.calls).collect();
                let made = |receipt: &RecordedReceipt| {
                    calls.iter().any(|call| Some(&call.id) == receipt.call_id.as_ref())
                };
                so_far.receipts.as_mut().unwrap().retain(made);
                let report = check(&so_far, &Settings::default());
                report.findings.into_iter().filter(move |finding| finding.turn == turn)
            });
            judged.map(|f| (f.code, f.turn, f.severity, f.message)).collect::<Vec<_>>()
        };
        let live: Vec<_> =
            live.into_iter().map(|f| (f.code, f.turn, f.severity, f.message)).collect();
        assert_eq!(plain(&transcript), live, "{name}: the session judged anew");
        assert_eq!(plain(&replayed), live, "{name}: the export judged by the linter");
    }
}

#[test]
fn what_the_model_receives() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    let verified = wait(session.verify("Your order #W1 has been cancelled.")).unwrap();
    assert_snapshot!(verified.feedback, @"
    I apologize: my answer said things that the record of this session does not show. I will do it again, properly, and say only what was done.

    Details:
    - [FK010] the agent says this was done, but no successful call did it (cancel)
    ");
}

/// What an answer invents counts like a call of a tool that does not exist; a tool that exists and
/// was not called is not invented.
#[test]
fn tools_that_answers_invent_are_counted() {
    let guard = shop().build().unwrap();
    let session = session(&guard, "s");
    wait(run(&session, "web_search", "{}"));
    for tool in ["WebSearch", "WebSearch", "cancel_order"] {
        let claim = format!("I used the {tool} tool to verify this information.");
        let verified = wait(session.verify(&claim)).unwrap();
        assert_eq!(verified.findings.first().map(|found| found.code.0), Some("FK014"), "{tool}");
    }
    let mut stats = CallStats::default();
    guard.ledger().events("s").unwrap().iter().for_each(|event| stats.add(event));
    let row = |tool: &str, calls, claims| HallucinatedTool { tool: tool.to_owned(), calls, claims };
    assert_eq!(stats.most_hallucinated(), [row("WebSearch", 0, 2), row("web_search", 1, 0)]);
}

/// A call that names no model counts for the model that the session began with.
#[test]
fn calls_count_for_the_model_of_their_session() {
    let guard = shop().build().unwrap();
    let (id, model) = (Some("s".to_owned()), Some("m1".to_owned()));
    let session = guard.session(SessionStart { id, model, ..SessionStart::default() }).unwrap();
    wait(run(&session, "web_search", "{}"));
    let mut stats = CallStats::default();
    guard.ledger().events("s").unwrap().iter().for_each(|event| stats.add(event));
    assert_eq!(stats.by_model.keys().collect::<Vec<_>>(), ["m1"]);
}
