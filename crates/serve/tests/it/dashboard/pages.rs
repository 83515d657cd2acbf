//! The contents of pages.

use hyper::Method;

use super::desk::{Desk, TRICKS};
use crate::test;

/// Every page, with a text it contains.
const PAGES: [(&str, &str); 9] = [
    ("/", "This hour and the 23 before it"),
    ("/sessions", ">shop</a>"),
    ("/sessions/shop", "Cancel order 7."),
    ("/answers", "contradicted"),
    ("/rejections", "UNKNOWN_TOOL"),
    ("/approvals", "money leaves the shop"),
    ("/policy", "# in force"),
    ("/coverage", "By session"),
    ("/accuracy", "FK010"),
];

#[test]
fn every_page_is_there_and_shows_texts_as_texts() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("shop").await;
        desk.followed().await;
        let answers = desk.get("/api/v1/answers").await.json();
        let place = &answers["items"][0]["session_seq"];
        let receipts = desk.get("/api/v1/receipts").await.json();
        let ids = receipts["items"].as_array().unwrap().iter();
        let ids = ids.map(|one| format!("/receipts/{}", one["execution_id"].as_str().unwrap()));
        let mut pages: Vec<(String, &str)> =
            PAGES.iter().map(|(path, words)| ((*path).to_owned(), *words)).collect();
        pages.push((format!("/answers/shop/{place}"), "What the record shows"));
        pages.extend(ids.map(|path| (path, "Proof")));
        for (path, words) in &pages {
            let response = desk.get(path).await;
            assert_eq!(response.status, 200, "{path}");
            assert_eq!(response.header("content-type"), "text/html; charset=utf-8", "{path}");
            assert!(response.text.contains(words), "{path}: {}", response.text);
            let main = response.text.split("<main").nth(1).unwrap();
            for trick in ["<script", "\u{202e}", "\u{1b}", "\u{200b}", "style=\"", "onerror=\""] {
                assert!(!main.contains(trick), "{path}: {trick:?}");
            }
        }
        let response = desk.get("/sessions/shop").await;
        assert!(response.text.contains("&lt;script&gt;alert(1)&lt;/script&gt; \u{fffd}txt.exe"));
    });
}

#[test]
fn claims_are_underlined_and_lead_to_their_evidence() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        desk.call(&session, "cancel_order", serde_json::json!({ "id": 7 })).await;
        session.verify("I have cancelled order 7.").await.unwrap();
        session.verify(&format!("I deleted order 8. {TRICKS}")).await.unwrap();
        desk.followed().await;
        let answers = desk.get("/api/v1/answers").await.json();
        for (at, kind, verdict) in [(1, "good", "supported"), (0, "", "FK0")] {
            let answer = &answers["items"][at];
            let response = desk.get(&format!("/answers/s/{}", answer["session_seq"])).await;
            let mark = format!("<a class=\"claim {kind}");
            assert!(response.text.contains(&mark), "{}", response.text);
            assert!(
                response.text.contains("href=\"#claim-1\"")
                    && response.text.contains("id=\"claim-1\"")
            );
            assert!(response.text.contains(verdict), "{}", response.text);
        }
        let first = desk.get(&format!("/answers/s/{}", answers["items"][1]["session_seq"])).await;
        assert!(first.text.contains("href=\"/receipts/cancel_order_"), "{}", first.text);
    });
}

#[test]
fn a_long_answer_is_judged_as_a_whole() {
    test(async {
        let desk = Desk::new().await;
        let session = desk.session("s").await;
        desk.call(&session, "cancel_order", serde_json::json!({ "id": 7 })).await;
        let filler = "The weather stayed as it was. ".repeat(3_000);
        session.verify(&format!("I have cancelled order 7. {filler}")).await.unwrap();
        desk.followed().await;
        let answers = desk.get("/api/v1/answers").await.json();
        let answer = &answers["items"][0];
        assert_eq!(answer["text_is_cut"], true, "{answers}");
        let detail = desk.get(&format!("/api/v1/answers/s/{}", answer["session_seq"])).await.json();
        assert_eq!(detail["not_judged_again"], serde_json::Value::Null);
        assert_eq!(detail["claims"][0]["verdict"], "supported", "{}", detail["claims"]);
    });
}

#[test]
fn what_is_missing_is_reported() {
    test(async {
        let desk = Desk::new().await;
        for (method, path, status, words) in [
            (Method::GET, "/sessions/nobody", 404, "no session `nobody`"),
            (Method::GET, "/receipts/x", 404, "no receipt `x`"),
            (Method::GET, "/answers/s/1", 404, "no judged answer"),
            (Method::GET, "/answers/s/-1", 404, "no judged answer"),
            (Method::GET, "/sessions/", 404, "no such page"),
            (Method::GET, "/sessions?cursor=x", 400, "`cursor`"),
            (Method::GET, "/sessions/%ff", 400, "not UTF-8"),
            (Method::GET, "/sessions/%00", 400, "NUL"),
            (Method::DELETE, "/sessions", 405, "GET"),
            (Method::GET, "/approvals/x/grant", 405, "POST"),
            (Method::GET, "/logout", 405, "POST"),
        ] {
            let token = format!("Bearer {}", super::desk::OPERATOR);
            let response = desk.ask(method.clone(), path, &[("authorization", &token)], "").await;
            assert_eq!(response.status, status, "{method} {path}");
            assert!(response.text.contains(words), "{method} {path}: {}", response.text);
            assert_eq!(response.header("allow").is_empty(), status != 405);
        }
    });
}

#[test]
fn files_are_kept_by_browsers() {
    test(async {
        let desk = Desk::new().await;
        let page = desk.ask(Method::GET, "/login", &[], "").await;
        let style = page.text.split("href=\"").find(|text| text.starts_with("/assets/page.css"));
        let path = style.unwrap().split('"').next().unwrap();
        let response = desk.ask(Method::GET, path, &[], "").await;
        assert!(response.header("cache-control").contains("immutable"));
        let tag = response.header("etag").to_owned();
        let again = desk.ask(Method::GET, path, &[("if-none-match", &tag)], "").await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
    });
}

#[test]
fn another_policy_is_tried_on_recorded_calls() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let token = format!("Bearer {}", super::desk::OPERATOR);
        let form = "application/x-www-form-urlencoded";
        let headers = [("authorization", &*token), ("content-type", form)];
        for (body, words) in [
            ("policy=deny", "3 different"),
            ("policy=", "3 the same, 0 different"),
            ("policy=deny&session=s", "3 calls of 1 session"),
            ("policy=broken", "line 1: it is broken"),
            ("policy=deny&session=nobody", "no session `nobody`"),
        ] {
            let response = desk.ask(Method::POST, "/policy", &headers, body).await;
            assert!(response.text.contains(words), "{body}: {}", response.text);
        }
    });
}
