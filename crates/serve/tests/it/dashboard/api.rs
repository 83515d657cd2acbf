//! The HTTP API.

use std::collections::BTreeSet;

use counterfoil_ledger::{ExportedReceipt, PublicKey};
use hyper::Method;
use serde_json::{Value, json};

use super::desk::{Desk, OPERATOR};
use crate::test;

#[test]
fn every_list_is_walked_by_its_cursor() {
    test(async {
        let desk = Desk::new().await;
        for number in 0..7 {
            desk.shop(&format!("s{number}")).await;
        }
        desk.followed().await;
        for (path, name, count) in [
            ("/api/v1/sessions?", "id", 7),
            ("/api/v1/sessions/s3/events?", "session_seq", 8),
            ("/api/v1/receipts?", "execution_id", 21),
            ("/api/v1/receipts?session=s2&", "execution_id", 3),
            ("/api/v1/rejections?", "execution_id", 14),
            ("/api/v1/approvals?", "execution_id", 7),
            ("/api/v1/answers?", "session", 7),
        ] {
            let whole = desk.get(&format!("{path}limit=200")).await.json();
            assert_eq!(whole.get("next"), None, "{path}");
            let (mut seen, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = desk.get(&format!("{path}limit=2{cursor}")).await.json();
                let items = page["items"].as_array().unwrap();
                assert!(items.len() <= 2, "{path}");
                seen.extend(items.iter().cloned());
                match page.get("next") {
                    Some(next) => cursor = format!("&cursor={}", next.as_str().unwrap()),
                    None => break,
                }
            }
            assert_eq!(Value::Array(seen.clone()), whole["items"], "{path}");
            let names: BTreeSet<String> = seen.iter().map(|item| item[name].to_string()).collect();
            assert_eq!(names.len(), count, "{path}");
        }
    });
}

#[test]
fn a_client_learns_what_it_does_wrong() {
    test(async {
        let desk = Desk::new().await;
        let json = "application/json";
        let long = format!(r#"{{"policy":"{}"}}"#, "x".repeat(600_000));
        let (get, post) = (Method::GET, Method::POST);
        let replay = "/api/v1/policy/replay";
        for (method, path, kind, body, status) in [
            (&get, "/api/v1/sessions?cursor=%21", "", "", 400),
            (&get, "/api/v1/sessions?cursor=cmVjZWlwdHM6MQ", "", "", 400),
            (&get, "/api/v1/sessions?limit=0", "", "", 400),
            (&get, "/api/v1/sessions?limit=201", "", "", 400),
            (&get, "/api/v1/sessions?limit=99999999999999999999", "", "", 400),
            (&get, "/api/v1/sessions?limit=-1", "", "", 400),
            (&get, "/api/v1/sessions?limit=1&limit=2", "", "", 400),
            (&get, "/api/v1/sessions?offset=1", "", "", 400),
            (&get, "/api/v1/sessions?cursor=%ff", "", "", 400),
            (&get, "/api/v1/sessions/a%00b", "", "", 400),
            (&get, "/api/v1/sessions/nobody", "", "", 404),
            (&get, "/api/v1/sessions/nobody/events", "", "", 404),
            (&get, "/api/v1/receipts/x/export", "", "", 404),
            (&get, "/api/v1/answers/s/99999999999999999999", "", "", 404),
            (&get, "/api/v1/answers?session=nobody", "", "", 404),
            (&get, "/api/v1/receipts?session=nobody", "", "", 404),
            (&get, "/api/v1/nothing", "", "", 404),
            (&get, "/api/v2/sessions", "", "", 404),
            (&post, "/api/v1/sessions", json, "{}", 405),
            (&Method::DELETE, "/api/v1/receipts/x", "", "", 405),
            (&get, replay, "", "", 405),
            (&post, replay, "text/plain", "{}", 415),
            (&post, replay, "", "{}", 415),
            (&post, replay, json, "{", 400),
            (&post, replay, json, "{}", 400),
            (&post, replay, json, r#"{"policy":1}"#, 400),
            (&post, replay, json, r#"{"policy":"","more":1}"#, 400),
            (&post, replay, json, r#"{"policy":"broken"}"#, 422),
            (&post, replay, json, r#"{"policy":"","session":"nobody"}"#, 404),
            (&post, replay, json, &long, 413),
            (&post, "/api/v1/approvals/x/grant", json, "{}", 404),
            (&post, "/api/v1/approvals/x/grant", json, r#"{"for_session":"yes"}"#, 400),
        ] {
            let token = format!("Bearer {OPERATOR}");
            let mut headers = vec![("authorization", &*token)];
            headers.extend((!kind.is_empty()).then_some(("content-type", kind)));
            let response = desk.ask(method.clone(), path, &headers, body.to_owned()).await;
            assert_eq!(response.status, status, "{method} {path} {body:.40}: {}", response.text);
            if path.starts_with("/api/v1") {
                assert_eq!(response.header("content-type"), "application/problem+json", "{path}");
                assert_eq!(response.json()["status"], status);
            }
            assert_eq!(response.header("allow").is_empty(), status != 405, "{path}");
        }
    });
}

#[test]
fn an_exported_receipt_proves_itself() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let receipts = desk.get("/api/v1/receipts").await.json();
        let id = receipts["items"][2]["execution_id"].as_str().unwrap();
        let key: PublicKey = desk.guard.ledger().public_key();
        for path in ["/api/v1/receipts/", "/receipts/"] {
            let response = desk.get(&format!("{path}{id}/export")).await;
            assert!(response.header("content-disposition").starts_with("attachment"));
            let exported: ExportedReceipt = serde_json::from_str(&response.text).unwrap();
            exported.verify(&key).unwrap();
        }
        let one = desk.get(&format!("/api/v1/receipts/{id}")).await.json();
        assert_eq!(one["tool"], "get_order");
        assert_eq!(
            one["result_text"],
            json!({ "id": 7, "state": "open", "total": "49.90" }).to_string()
        );
        assert_eq!(one["receipt"]["execution_id"], id);
    });
}

#[test]
fn the_description_names_every_resource() {
    test(async {
        let desk = Desk::new().await;
        let description = desk.get("/api/v1/openapi.json").await.json();
        assert_eq!(
            (&description["openapi"], &description["info"]["version"]),
            (&json!("3.1.0"), &json!("1.2.3"))
        );
        let paths = description["paths"].as_object().unwrap();
        assert_eq!(paths.len(), 17);
        let schemas = description["components"]["schemas"].as_object().unwrap();
        let text = description.to_string();
        let named = text.split("\"#/components/schemas/").skip(1);
        for name in named.map(|rest| rest.split('"').next().unwrap()) {
            assert!(schemas.contains_key(name), "{name}");
        }
        // Endpoints without path parameters answer as described.
        for (path, operations) in paths {
            if operations.get("get").is_some() && !path.contains('{') {
                assert_eq!(desk.get(path).await.status, 200, "{path}");
            }
        }
    });
}
