//! A person who is asked about a call gives it other arguments.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use counterfoil_guard::{
    Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture, Guard, GuardOptions,
};
use counterfoil_model::{PermitBasis, Status};
use serde_json::{Value, json};

use crate::desk::{cancel, run, session, wait};

/// Gives these replies in order, then none. Keeps what it was asked.
#[derive(Default)]
struct Says(Mutex<VecDeque<ApprovalReply>>, Mutex<Vec<(Value, Option<String>)>>);

impl Approver for Says {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply> {
        let question = (request.arguments.value().clone(), request.wrong.map(str::to_owned));
        self.1.lock().unwrap().push(question);
        let reply = self.0.lock().unwrap().pop_front().unwrap_or(ApprovalReply::NoAnswer);
        Box::pin(async move { reply })
    }
}

fn to(arguments: &str) -> ApprovalReply {
    ApprovalReply::Changed { by: "maria".to_owned(), arguments: arguments.to_owned() }
}

const WRITTEN: &str = r##"{"order_id":"#W1"}"##;
const OTHER: &str = r##"{"order_id":"#W2"}"##;

#[test]
fn what_a_person_writes_runs_where_it_fits_and_no_gate_denies() {
    let agreed = || ApprovalReply::Agreed(Approval::by("maria"));
    let denied = r##"{"permissions":{"rules":[{"tool":"cancel_order","pattern":"*#W9*","action":"deny"}]}}"##;
    for (replies, count, status, ran) in [
        (vec![to(OTHER)], 1, Status::Completed, "#W2"),
        // Arguments that do not fit are asked about again, until they fit or the person decides.
        (vec![to("{"), to(r#"{"order_id":7}"#), to(OTHER)], 3, Status::Completed, "#W2"),
        (vec![to("{}"), agreed()], 2, Status::Completed, "#W1"),
        (vec![to("{}")], 2, Status::Denied, "#W1"),
        // A person's decision does not override a gate.
        (vec![to(r##"{"order_id":"#W9"}"##)], 1, Status::Denied, "#W9"),
    ] {
        let says = Arc::new(Says(Mutex::new(replies.into()), Mutex::default()));
        let options: GuardOptions =
            serde_json::from_str(&format!("{{\"tools\":{denied}}}")).unwrap();
        let guard = Guard::builder()
            .settings(options.resolve().unwrap())
            .executor(cancel().asking("it cannot be undone"))
            .approver(Arc::clone(&says) as Arc<dyn Approver>)
            .build()
            .unwrap();
        let session = session(&guard, "s");
        let answer = wait(run(&session, "cancel_order", WRITTEN));
        assert_eq!(answer.status, status, "{}", answer.text);
        let questions = says.1.lock().unwrap();
        assert_eq!(questions.len(), count);
        let first = (json!({ "order_id": "#W1" }), None);
        assert_eq!(questions[0], first);
        assert!(questions.iter().skip(1).all(|(_, wrong)| wrong.is_some()), "{questions:?}");
        let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!(receipt.arguments, json!({ "order_id": ran }));
        let changed = ran == "#W2";
        let by_maria =
            matches!(&receipt.permit, Some(PermitBasis::Approval { who, .. }) if who == "maria");
        assert_eq!(by_maria, status == Status::Completed);
        assert_eq!(receipt.emitted_arguments.as_deref(), changed.then_some(WRITTEN));
        let why = "maria changed the arguments before the call ran: {\"order_id\":\"#W2\"}";
        assert_eq!(answer.warnings.iter().any(|issue| issue.message == why), changed);
    }
}
