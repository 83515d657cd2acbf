//! What is understood and what is refused on Thursday 2026-11-26 at 10:00 in Berlin.

use crate::understood::{refused, understood};
use counterfoil_agent::{Schedule, ScheduleError};
use jiff::Zoned;

fn now() -> Zoned {
    "2026-11-26T10:00[Europe/Berlin]".parse().unwrap()
}

fn show(time: Option<Zoned>) -> String {
    let Some(time) = time else { return "over".to_owned() };
    let seconds = if time.second() == 0 { "" } else { ":%S" };
    time.strftime(&format!("%Y-%m-%d %H:%M{seconds}")).to_string()
}

#[test]
fn phrases_that_are_understood() {
    assert!(understood().len() + refused().len() > 200, "the page is whole");
    for (phrase, first, second) in understood() {
        let schedule = Schedule::parse(phrase, &now());
        let schedule = schedule.unwrap_or_else(|error| panic!("{phrase}: {error}"));
        let next = schedule.next_after(&now());
        let after = next.as_ref().and_then(|next| schedule.next_after(next));
        assert_eq!(schedule.is_recurring(), after.is_some(), "{phrase}");
        assert_eq!((show(next), show(after)), (first.to_owned(), second.to_owned()), "{phrase}");
    }
}

#[test]
fn phrases_that_are_refused() {
    for (phrase, reason) in refused() {
        match Schedule::parse(phrase, &now()) {
            Ok(schedule) => panic!("`{phrase}` is read as {}", schedule.describe(&now())),
            Err(error) => {
                let message = error.to_string();
                let shown = message.split("; try ").next().unwrap();
                assert_eq!(shown, reason, "{phrase}");
            }
        }
    }
}

#[test]
fn every_phrase_is_stored_and_read_back() {
    for (phrase, _, _) in understood() {
        let schedule = Schedule::parse(phrase, &now()).unwrap();
        let stored = serde_json::to_string(&schedule).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&stored).unwrap(), schedule, "{stored}");
    }
}

#[test]
fn every_suggestion_is_understood() {
    for phrase in ["what", "* what", ""] {
        let message = Schedule::parse(phrase, &now()).unwrap_err().to_string();
        let (_, examples) = message.split_once("; try ").unwrap();
        for example in examples.split('`').skip(1).step_by(2) {
            assert!(Schedule::parse(example, &now()).is_ok(), "{example}");
        }
    }
}

#[test]
fn long_phrases_are_refused() {
    let phrase = "é".repeat(201);
    assert_eq!(Schedule::parse(&phrase, &now()), Err(ScheduleError::TooLong(201, 200)));
}

#[test]
fn the_moment_itself_does_not_count() {
    let late: Zoned = "2026-11-26T10:00:30.5[Europe/Berlin]".parse().unwrap();
    for (phrase, next) in [
        ("in 1 minute", "2026-11-26 10:01:30"),
        ("every minute", "2026-11-26 10:01:30"),
        ("every 2 days", "2026-11-28 10:00"),
        ("at 10:00", "2026-11-27 10:00"),
        ("* * * * *", "2026-11-26 10:01"),
    ] {
        let schedule = Schedule::parse(phrase, &late).unwrap();
        assert_eq!(show(schedule.next_after(&late)), next, "{phrase}");
    }
}

#[test]
fn nothing_fires_before_it_was_made() {
    let long_ago: Zoned = "2020-01-01T00:00[Europe/Berlin]".parse().unwrap();
    for (phrase, first, _) in understood() {
        let schedule = Schedule::parse(phrase, &now()).unwrap();
        assert_eq!(show(schedule.next_after(&long_ago)), first, "{phrase}");
    }
}

#[test]
fn weeks_begin_on_monday_or_sunday() {
    let sunday: Zoned = "2026-11-29T10:00[Europe/Berlin]".parse().unwrap();
    for (phrase, next) in [
        ("next monday at 9", None),
        ("next sunday at 9", Some("2026-12-06 09:00")),
        ("this sunday at 11", Some("2026-11-29 11:00")),
        ("this monday at 11", None),
        ("on monday at 9", Some("2026-11-30 09:00")),
        ("every 2 weeks on monday at 9", Some("2026-11-30 09:00")),
    ] {
        let schedule = Schedule::parse(phrase, &sunday).ok();
        let shown = schedule.map(|schedule| show(schedule.next_after(&sunday)));
        assert_eq!(shown.as_deref(), next, "{phrase}");
    }
}
