//! Calls that wait for somebody, granted and refused from elsewhere.

use hyper::Method;
use serde_json::{Value, json};

use super::desk::{Desk, OPERATOR};
use crate::test;

/// The calls that wait.
async fn waiting(desk: &Desk) -> Vec<Value> {
    desk.get("/api/v1/approvals").await.json()["items"].as_array().unwrap().clone()
}

#[test]
fn a_granted_call_runs_once_and_says_by_whom() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        let arguments = json!({ "id": 7 });
        let told = desk.call(&session, "refund", arguments.clone()).await;
        assert!(told.contains("a person has to agree first"), "{told}");
        desk.followed().await;
        let calls = waiting(&desk).await;
        assert_eq!((&calls[0]["tool"], &calls[0]["arguments"]), (&json!("refund"), &arguments));
        let id = calls[0]["execution_id"].as_str().unwrap();
        let path = format!("/api/v1/approvals/{id}/grant");
        let granted = desk.post(&path, r#"{"reason":"the customer called"}"#).await;
        let expected =
            json!({ "execution_id": id, "decision": "granted", "by": "ada (dashboard)" });
        assert_eq!(granted.json(), expected);
        assert_eq!(waiting(&desk).await, [] as [Value; 0]);
        assert_eq!(desk.post(&path, "{}").await.status, 409, "it was decided");
        // Other arguments are another call; these run, once.
        assert!(desk.call(&session, "refund", json!({ "id": 8 })).await.contains("agree first"));
        assert_eq!(desk.call(&session, "refund", arguments.clone()).await, "refunded");
        assert!(desk.call(&session, "refund", arguments).await.contains("agree first"));
        desk.followed().await;
        let receipts = desk.get("/api/v1/receipts").await.json();
        let permit =
            receipts["items"].as_array().unwrap().iter().find_map(|one| one["permit"].as_str());
        assert_eq!(permit, Some("approved by ada (dashboard): the customer called"));
    });
}

#[test]
fn a_refused_call_is_not_asked_about_again() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        let arguments = json!({ "id": 7 });
        desk.call(&session, "refund", arguments.clone()).await;
        desk.followed().await;
        let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/approvals/{id}/refuse");
        let refused = desk.post(&path, r#"{"reason":"not this one"}"#).await;
        assert_eq!(refused.json()["decision"], "refused");
        assert_eq!(waiting(&desk).await, [] as [Value; 0]);
        let told = desk.call(&session, "refund", arguments).await;
        assert!(
            told.contains("ada (dashboard) did not agree to this call: not this one"),
            "{told}"
        );
        desk.followed().await;
        assert_eq!(waiting(&desk).await, [] as [Value; 0], "it is denied, and waits for nobody");
        // Another call is.
        assert!(desk.call(&session, "refund", json!({ "id": 8 })).await.contains("agree first"));
    });
}

#[test]
fn what_a_rule_denied_waits_for_nobody() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let receipts = desk.get("/api/v1/receipts").await.json();
        let ids = receipts["items"].as_array().unwrap().iter();
        let ids: Vec<&str> = ids.map(|one| one["execution_id"].as_str().unwrap()).collect();
        for (id, status) in [(ids[2], 409), (ids[1], 409), (ids[0], 200)] {
            let told = desk.post(&format!("/api/v1/approvals/{id}/grant"), "{}").await;
            assert_eq!(told.status, status, "{id}: {}", told.text);
        }
        let long = json!({ "reason": "x".repeat(1_001) }).to_string();
        desk.call(&desk.session("s").await, "refund", json!({ "id": 9 })).await;
        desk.followed().await;
        let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
        assert_eq!(desk.post(&format!("/api/v1/approvals/{id}/refuse"), &long).await.status, 400);
    });
}

#[test]
fn a_form_of_a_page_decides_too() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let cookie = desk.signed_in(OPERATOR).await;
        let page = desk.ask(Method::GET, "/approvals", &[("cookie", &cookie)], "").await;
        let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
        let form = [("cookie", &*cookie), ("content-type", "application/x-www-form-urlencoded")];
        let path = format!("/approvals/{id}/grant");
        assert_eq!(desk.ask(Method::POST, &path, &form, "reason=x").await.status, 403);
        let body = format!("form_token={}&reason=all+right&for_session=yes", page.form_token());
        let told = desk.ask(Method::POST, &path, &form, body).await;
        assert_eq!((told.status, told.header("location")), (303, "/approvals?done=granted"));
        let page = desk.get("/approvals?done=granted").await;
        for words in ["Granted:", "Nothing waits.", "by ada (dashboard)", "all right"] {
            assert!(page.text.contains(words), "{words}");
        }
    });
}
