//! Authentication and roles.

use counterfoil_serve::Role;
use hyper::Method;

use super::desk::{Desk, OPERATOR, READER};
use crate::test;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

#[test]
fn no_page_opens_without_a_token() {
    test(async {
        let desk = Desk::new().await;
        for (path, expected) in [
            ("/", 303),
            ("/sessions", 303),
            ("/nothing", 303),
            ("/events", 303),
            ("/api/v1/stats", 401),
            ("/api/v1/openapi.json", 401),
            ("/api/v1/nothing", 401),
            ("/login", 200),
            ("/assets/page.css", 200),
            ("/assets/nothing", 404),
        ] {
            let response = desk.ask(Method::GET, path, &[], "").await;
            assert_eq!(response.status, expected, "{path}");
            assert_eq!(response.header("content-security-policy"), POLICY, "{path}");
            assert_eq!(response.header("x-content-type-options"), "nosniff");
        }
        let response = desk.ask(Method::GET, "/", &[], "").await;
        assert_eq!(response.header("location"), "/login");
    });
}

#[test]
fn names_of_others_are_not_ours() {
    test(async {
        let desk = Desk::new().await;
        let token = format!("Bearer {OPERATOR}");
        for (name, value, expected) in [
            ("host", "evil.example", 403),
            ("host", "127.0.0.1.evil.example", 403),
            ("host", "localhost:7420", 200),
            ("origin", "https://evil.example", 403),
            ("origin", "null", 403),
            ("origin", "http://localhost:7420", 200),
        ] {
            let headers = [("authorization", &*token), (name, value)];
            for path in ["/", "/api/v1/stats"] {
                let response = desk.ask(Method::GET, path, &headers, "").await;
                assert_eq!(response.status, expected, "{name}: {value}");
            }
        }
    });
}

#[test]
fn a_link_signs_one_browser_in() {
    test(async {
        let desk = Desk::new().await;
        let first = desk.links.lock().unwrap().remove(0);
        let response = desk.ask(Method::GET, &format!("/login?token={first}"), &[], "").await;
        assert_eq!((response.status, response.header("location")), (303, "/"));
        let cookie = response.header("set-cookie");
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap();
        let response = desk.ask(Method::GET, "/", &[("cookie", cookie)], "").await;
        assert!(response.text.contains("eve · operate"));
        // A link works only once.
        let again = desk.ask(Method::GET, &format!("/login?token={first}"), &[], "").await;
        assert_eq!(again.status, 403);
        assert_eq!(desk.links.lock().unwrap().len(), 1, "there is another one");
        // Signing out.
        let form = [("cookie", cookie), ("content-type", "application/x-www-form-urlencoded")];
        let none = desk.ask(Method::POST, "/logout", &form, "").await;
        assert_eq!(none.status, 403, "the form is not one of ours");
        let body = format!("form_token={}", response.form_token());
        assert_eq!(desk.ask(Method::POST, "/logout", &form, body).await.status, 303);
        assert_eq!(desk.ask(Method::GET, "/", &[("cookie", cookie)], "").await.status, 303);
    });
}

#[test]
fn tokens_can_be_tried_only_so_often() {
    test(async {
        let desk = Desk::with(Role::Operate, false).await;
        assert!(desk.links.lock().unwrap().is_empty());
        let mut seen = Vec::new();
        for number in 0..40 {
            let path = format!("/login?token=guess-{number}");
            seen.push(desk.ask(Method::GET, &path, &[], "").await.status);
        }
        assert!(seen.contains(&403) && seen.ends_with(&[429]), "{seen:?}");
    });
}

#[test]
fn readers_decide_nothing() {
    test(async {
        for (most, token, expected) in [
            (Role::Operate, READER, 403),
            (Role::Read, OPERATOR, 403),
            (Role::Operate, OPERATOR, 404),
        ] {
            let desk = Desk::with(most, false).await;
            let bearer = format!("Bearer {token}");
            let form = "application/x-www-form-urlencoded";
            for (path, kind, body) in [
                ("/api/v1/approvals/x/grant", "application/json", "{}"),
                ("/api/v1/approvals/x/refuse", "application/json", "{}"),
                ("/approvals/x/grant", form, "reason="),
                ("/approvals/x/refuse", form, "reason="),
            ] {
                let headers = [("authorization", &*bearer), ("content-type", kind)];
                let response = desk.ask(Method::POST, path, &headers, body).await;
                assert_eq!(response.status, expected, "{most:?} {token} {path}: {}", response.text);
            }
            let cookie = desk.signed_in(token).await;
            let response = desk.ask(Method::GET, "/approvals", &[("cookie", &cookie)], "").await;
            assert_eq!(response.status, 200);
        }
    });
}

#[test]
fn a_browser_sends_the_token_of_its_page() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let cookie = desk.signed_in(OPERATOR).await;
        let page = desk.ask(Method::GET, "/approvals", &[("cookie", &cookie)], "").await;
        let (token, other) = (page.form_token(), desk.signed_in(OPERATOR).await);
        let form = "application/x-www-form-urlencoded";
        let policy = format!("policy=deny&form_token={token}");
        for (cookie, kind, body, expected) in [
            (&cookie, form, "policy=deny", 403),
            (&cookie, form, "policy=deny&form_token=", 403),
            (&other, form, &*policy, 403),
            (&cookie, "text/plain", &policy, 415),
            (&cookie, form, &policy, 200),
        ] {
            let headers = [("cookie", &**cookie), ("content-type", kind)];
            let response = desk.ask(Method::POST, "/policy", &headers, body.to_owned()).await;
            assert_eq!(response.status, expected, "{body}");
        }
        let (path, body) = ("/api/v1/policy/replay", r#"{"policy":"deny"}"#);
        for (given, expected) in [("", 403), ("x", 403), (&*token, 200)] {
            let headers = [
                ("cookie", &*cookie),
                ("content-type", "application/json"),
                ("x-csrf-token", given),
            ];
            assert_eq!(desk.ask(Method::POST, path, &headers, body).await.status, expected);
        }
    });
}
