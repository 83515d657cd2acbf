//! Live updates.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::body::Incoming;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::desk::{Desk, ONLOOKERS, OPERATOR, READER};
use crate::test;

/// Reads until this many events have arrived, and returns their ids and names.
async fn received(body: &mut Incoming, count: usize) -> Vec<(u64, String)> {
    let mut text = String::new();
    loop {
        let events: Vec<(u64, String)> = text
            .split("\n\n")
            .filter(|event| event.contains("event: ledger"))
            .filter_map(|event| {
                let id = event.lines().find_map(|line| line.strip_prefix("id: "))?;
                let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
                let data: serde_json::Value = serde_json::from_str(data).ok()?;
                Some((id.parse().unwrap(), data["kind"].as_str().unwrap().to_owned()))
            })
            .collect();
        if events.len() >= count {
            return events;
        }
        let frame = body.frame().await.unwrap().unwrap();
        text += std::str::from_utf8(frame.data_ref().unwrap()).unwrap();
    }
}

#[test]
fn a_reader_that_was_away_goes_on_where_it_was() {
    test(async {
        let desk = Desk::new().await;
        desk.shop("s").await;
        desk.followed().await;
        let token = format!("Bearer {OPERATOR}");
        let with =
            |id: &'static str| [("authorization", token.clone()), ("last-event-id", id.to_owned())];
        let headers = with("2");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let response = desk.send(Method::GET, "/events", &headers, "").await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut body = response.into_body();
        let missed = received(&mut body, 4).await;
        let ids: Vec<u64> = missed.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, (3..3 + ids.len() as u64).collect::<Vec<_>>());
        // Followed by new events.
        let session = desk.session("s").await;
        desk.call(&session, "get_order", json!({ "id": 9 })).await;
        let mut seen = Vec::new();
        while !seen.iter().any(|(id, kind)| *id > 7 && kind == "closed") {
            seen.extend(received(&mut body, 1).await);
        }
        assert!(seen.is_sorted_by_key(|(id, _)| *id), "{seen:?}");
    });
}

#[test]
fn places_are_numbers() {
    test(async {
        let desk = Desk::new().await;
        let token = format!("Bearer {OPERATOR}");
        for (path, id, status) in [
            ("/events", "x", 400),
            ("/events", "-1", 400),
            ("/events?after=x", "", 400),
            ("/events?after=7", "", 200),
            ("/events", "18446744073709551615", 400),
            ("/events", "999999999999999999", 200),
        ] {
            let mut headers = vec![("authorization", &*token)];
            headers.extend((!id.is_empty()).then_some(("last-event-id", id)));
            let response = desk.send(Method::GET, path, &headers, "").await;
            assert_eq!(response.status().as_u16(), status, "{path} {id}");
        }
    });
}

#[test]
fn one_person_takes_only_some_of_the_places() {
    test(async {
        let desk = Desk::new().await;
        let [operator, reader] = [OPERATOR, READER].map(|token| format!("Bearer {token}"));
        let headers = [("authorization", &*operator)];
        let mut open = Vec::new();
        for _ in 0..16 {
            open.push(desk.send(Method::GET, "/events", &headers, "").await);
        }
        assert!(open.iter().all(|response| response.status() == 200));
        let more = desk.send(Method::GET, "/events", &headers, "").await;
        assert_eq!(more.status(), 429);
        // Other readers remain, and a released slot can be used again.
        let other = desk.send(Method::GET, "/events", &[("authorization", &reader)], "").await;
        assert_eq!(other.status(), 200);
        open.pop();
        let again = async {
            while desk.send(Method::GET, "/events", &headers, "").await.status() != 200 {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(20), again).await.unwrap();
    });
}

#[test]
fn the_number_of_readers_is_limited() {
    test(async {
        let desk = Desk::new().await;
        let [first, second, third] = ONLOOKERS;
        let mut open = Vec::new();
        for token in [OPERATOR, first, second, third] {
            let token = format!("Bearer {token}");
            for _ in 0..16 {
                let headers = [("authorization", &*token)];
                open.push(desk.send(Method::GET, "/events", &headers, "").await);
            }
        }
        assert!(open.iter().all(|response| response.status() == 200));
        let token = format!("Bearer {READER}");
        let more = desk.send(Method::GET, "/events", &[("authorization", &token)], "").await;
        assert_eq!(more.status(), 429);
    });
}
