//! Calls waiting for a decision, approved and refused from another process.

use std::time::Duration;

use counterfoil_guard::Surroundings;
use counterfoil_model::ToolCall;
use hyper::Method;
use serde_json::{Value, json};

use super::desk::{Desk, OPERATOR};
use crate::test;

/// The waiting calls.
async fn waiting(desk: &Desk) -> Vec<Value> {
    desk.get("/api/v1/approvals").await.json()["items"].as_array().unwrap().clone()
}

#[test]
fn a_granted_call_runs_once_and_says_by_whom() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        let arguments = json!({ "id": 7 });
        let text = desk.call(&session, "refund", arguments.clone()).await;
        assert!(text.contains("the call needs the user's approval first"), "{text}");
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
        // Other arguments make another call; the approved one runs once.
        assert!(desk.call(&session, "refund", json!({ "id": 8 })).await.contains("approval first"));
        assert_eq!(desk.call(&session, "refund", arguments.clone()).await, "refunded");
        assert!(desk.call(&session, "refund", arguments).await.contains("approval first"));
        desk.followed().await;
        let receipts = desk.get("/api/v1/receipts").await.json();
        let permit =
            receipts["items"].as_array().unwrap().iter().find_map(|one| one["permit"].as_str());
        assert_eq!(permit, Some("approved by ada (dashboard): the customer called"));
    });
}

/// A person sees exactly the number that the model wrote, and approves no other.
#[test]
fn a_number_is_shown_with_every_digit_wherever_it_is_shown() {
    const LONG: &str =
        "1157920892373161954235709850086879078532699846656405640394575840079131296399";
    test(async {
        for (number, neighbour) in [
            ("1234567890123456789".to_owned(), "1234567890123456700".to_owned()),
            (format!("{LONG}35"), format!("{LONG}36")),
            ("0.1000000000000000000001".to_owned(), "0.1".to_owned()),
        ] {
            let desk = Desk::new().await;
            let session = desk.session("s").await;
            let refund = |number: &str| {
                let call = ToolCall::new("", "refund", format!("{{\"ids\":[{number}]}}"));
                let session = session.clone();
                async move { session.call(call, Surroundings::default()).await.unwrap() }
            };
            let pending = refund(&number).await;
            desk.followed().await;
            let id = &pending.execution_id;
            for path in [
                "/api/v1/approvals".to_owned(),
                "/api/v1/receipts".to_owned(),
                format!("/api/v1/receipts/{id}"),
                format!("/api/v1/receipts/{id}/export"),
                "/api/v1/sessions/s/events".to_owned(),
                "/approvals".to_owned(),
                "/sessions/s".to_owned(),
                format!("/receipts/{id}"),
            ] {
                let response = desk.get(&path).await;
                assert_eq!(response.status, 200, "{path}");
                assert!(response.text.contains(&number), "{path}: {}", response.text);
            }
            let granted = desk.post(&format!("/api/v1/approvals/{id}/grant"), "{}").await;
            assert_eq!(granted.status, 200, "{}", granted.text);
            assert!(refund(&neighbour).await.text.contains("approval first"), "{neighbour}");
            // This tool is a Rust function, which cannot hold longer numbers.
            let held = number.parse::<u64>().is_ok();
            let ran = refund(&number).await.text;
            assert!(ran == "refunded" || !held && ran.contains(&number), "{ran}");
        }
    });
}

#[test]
fn a_refused_call_is_not_put_to_people_again() {
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
        let text = desk.call(&session, "refund", arguments).await;
        assert!(text.contains("ada (dashboard) did not approve this call: not this one"), "{text}");
        desk.followed().await;
        assert_eq!(waiting(&desk).await, [] as [Value; 0], "it is denied, and waits for nobody");
        // Another call is asked about.
        assert!(desk.call(&session, "refund", json!({ "id": 8 })).await.contains("approval first"));
    });
}

#[test]
fn what_a_rule_denied_waits_for_no_one() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let receipts = desk.get("/api/v1/receipts").await.json();
        let ids = receipts["items"].as_array().unwrap().iter();
        let ids: Vec<&str> = ids.map(|one| one["execution_id"].as_str().unwrap()).collect();
        for (id, status) in [(ids[2], 409), (ids[1], 409), (ids[0], 200)] {
            let response = desk.post(&format!("/api/v1/approvals/{id}/grant"), "{}").await;
            assert_eq!(response.status, status, "{id}: {}", response.text);
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
        let response = desk.ask(Method::POST, &path, &form, body).await;
        assert_eq!(
            (response.status, response.header("location")),
            (303, "/approvals?done=granted")
        );
        let page = desk.get("/approvals?done=granted").await;
        for words in ["Granted:", "Nothing is waiting.", "by ada (dashboard)", "all right"] {
            assert!(page.text.contains(words), "{words}");
        }
    });
}

#[test]
fn an_approval_that_lapsed_holds_no_longer() {
    test(async {
        let desk = Desk::with_short_approvals().await;
        desk.call(&desk.session("s").await, "refund", json!({ "id": 7 })).await;
        desk.followed().await;
        let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/approvals/{id}/grant");
        assert_eq!(desk.post(&path, "{}").await.status, 200);
        assert_eq!(waiting(&desk).await, [] as [Value; 0]);
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        assert_eq!(waiting(&desk).await[0]["execution_id"], id.as_str(), "it waits again");
        assert_eq!(desk.get("/api/v1/approvals?state=decided").await.json()["items"], json!([]));
        assert_eq!(desk.post(&path, "{}").await.status, 200);
    });
}

#[test]
fn arguments_are_shown_with_what_is_invisible_and_long_ones_are_refused_only() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        let cookie = desk.signed_in(OPERATOR).await;
        desk.call(&session, "refund", json!({ "to": "pay\u{ad}ee\u{a0}\u{3164}" })).await;
        desk.followed().await;
        let page = desk.ask(Method::GET, "/approvals", &[("cookie", &cookie)], "").await;
        assert!(page.text.contains(r"pay\u00adee\u00a0\u3164"), "{}", page.text);
        assert!(page.text.contains("Grant</button>"), "{}", page.text);
        desk.call(&desk.session("t").await, "refund", json!({ "note": "x".repeat(3_000) })).await;
        desk.followed().await;
        let page = desk.ask(Method::GET, "/approvals", &[("cookie", &cookie)], "").await;
        let long = page.text.split("<article").nth(1).unwrap();
        assert!(long.contains("are not shown here"), "{long}");
        assert!(!long.contains("Grant</button>") && long.contains("Refuse</button>"), "{long}");
    });
}

#[test]
fn of_two_people_who_decide_at_once_one_does() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        let arguments = json!({ "id": 7 });
        desk.call(&session, "refund", arguments.clone()).await;
        desk.followed().await;
        let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/approvals/{id}/grant");
        let grants = futures_util::future::join_all((0..6).map(|_| desk.post(&path, "{}"))).await;
        let mut statuses: Vec<u16> = grants.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409, 409, 409]);
        assert_eq!(desk.call(&session, "refund", arguments.clone()).await, "refunded");
        assert!(desk.call(&session, "refund", arguments).await.contains("approval first"), "once");
    });
}

#[test]
fn what_was_decided_is_decided_anew() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        let arguments = json!({ "id": 7 });
        let call = || desk.call(&session, "refund", arguments.clone());
        call().await;
        desk.followed().await;
        let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
        let refuse = format!("/api/v1/approvals/{id}/refuse");
        let grant = format!("/api/v1/approvals/{id}/grant");
        for (path, body, status, state) in [
            (&refuse, "{}", 200, "refused"),
            (&refuse, "{}", 409, "refused"),
            (&grant, r#"{"for_session":true}"#, 200, "granted for the session"),
            (&grant, "{}", 409, "granted for the session"),
            (&refuse, "{}", 200, "refused"),
        ] {
            assert_eq!(desk.post(path, body).await.status, status, "{path}");
            let all = desk.get("/api/v1/approvals?state=decided").await.json();
            assert_eq!(all["items"][0]["state"], state);
            let receipt = desk.get(&format!("/api/v1/receipts/{id}")).await.json();
            assert_eq!(receipt["decision"], state);
            let text = call().await;
            assert_eq!(text == "refunded", state == "granted for the session", "{state}: {text}");
            desk.followed().await;
        }
    });
}

#[test]
fn people_decide_only_on_arguments_that_they_see() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        for (length, on_list, on_receipt) in
            [(10, true, true), (4_000, false, true), (30_000, false, false)]
        {
            desk.call(&session, "refund", json!({ "id": 7, "note": "x".repeat(length) })).await;
            desk.followed().await;
            let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
            let form = format!("action=\"/approvals/{id}/grant\"");
            let cookie = desk.signed_in(OPERATOR).await;
            let list = desk.ask(Method::GET, "/approvals", &[("cookie", &cookie)], "").await;
            assert_eq!(list.text.contains(&form), on_list, "{length}");
            let path = format!("/receipts/{id}");
            let receipt = desk.ask(Method::GET, &path, &[("cookie", &cookie)], "").await;
            assert_eq!(receipt.text.contains(&form), on_receipt, "{length}");
        }
    });
}

#[test]
fn a_form_says_what_it_means() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let cookie = desk.signed_in(OPERATOR).await;
        let page = desk.ask(Method::GET, "/approvals", &[("cookie", &cookie)], "").await;
        let id = waiting(&desk).await[0]["execution_id"].as_str().unwrap().to_owned();
        let form = [("cookie", &*cookie), ("content-type", "application/x-www-form-urlencoded")];
        for field in ["for_session=no", "for_session=", "for_sesion=yes"] {
            let body = format!("form_token={}&{field}", page.form_token());
            let path = format!("/approvals/{id}/grant");
            assert_eq!(desk.ask(Method::POST, &path, &form, body).await.status, 400, "{field}");
        }
        assert_eq!(waiting(&desk).await.len(), 1, "nothing was decided");
    });
}
