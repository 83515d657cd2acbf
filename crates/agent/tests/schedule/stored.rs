//! The stored form, which stays readable.

use counterfoil_agent::Schedule;
use jiff::Zoned;

const GOLDEN: &[(&str, &str)] = &[
    (
        "in 20 minutes",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"moment","at":"2026-11-26T09:20:00Z"}}"#,
    ),
    (
        "tomorrow at 5pm",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"once","at":"2026-11-27T17:00:00"}}"#,
    ),
    (
        "every 15 minutes",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"interval","seconds":900,"days":[1,2,3,4,5,6,7]}}"#,
    ),
    (
        "every 15 minutes between 9 and 17 on weekdays",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"interval","seconds":900,"days":[1,2,3,4,5],"hours":{"from":"09:00:00","to":"17:00:00"}}}"#,
    ),
    (
        "every day at 9 and 17",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"calendar","every":1,"unit":"days","from":"2026-11-26","on":"each_day","times":["09:00:00","17:00:00"]}}"#,
    ),
    (
        "every 2 weeks on friday",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"calendar","every":2,"unit":"weeks","from":"2026-11-27","on":{"weekdays":[5]},"times":["10:00:00"],"unsaid_time":true}}"#,
    ),
    (
        "last day of the month at 23:00",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"calendar","every":1,"unit":"months","from":"2026-11-30","on":{"days":[-1]},"times":["23:00:00"]}}"#,
    ),
    (
        "every month",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"calendar","every":1,"unit":"months","from":"2026-11-26","on":{"day_or_last":26},"times":["10:00:00"],"unsaid_time":true}}"#,
    ),
    (
        "first and last monday of the month at 9",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"calendar","every":1,"unit":"months","from":"2026-11-30","on":{"nth":[[1,-1],[1]]},"times":["09:00:00"]}}"#,
    ),
    (
        "*/15 9-17 * * mon-fri",
        r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"cron","pattern":"*/15 9-17 * * MON-FRI"}}"#,
    ),
];

/// Stored forms of another version, and of nothing.
const REFUSED: &[&str] = &[
    r#"{"version":2,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"moment","at":"2026-11-26T09:20:00Z"}}"#,
    r#"{"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"moment","at":"2026-11-26T09:20:00Z"}}"#,
    r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Nowhere","rule":{"kind":"moment","at":"2026-11-26T09:20:00Z"}}"#,
    r#"{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{"kind":"never"}}"#,
];

/// Stored schedules that no phrase makes: they never fire.
const NEVER: &[&str] = &[
    r#"{"kind":"interval","seconds":0,"days":[1]}"#,
    r#"{"kind":"interval","seconds":60,"days":[]}"#,
    r#"{"kind":"interval","seconds":60,"days":[8]}"#,
    r#"{"kind":"calendar","every":0,"unit":"days","from":"2026-11-26","on":"each_day","times":["09:00:00"]}"#,
    r#"{"kind":"calendar","every":1,"unit":"days","from":"2026-11-26","on":"each_day","times":[]}"#,
    r#"{"kind":"calendar","every":1,"unit":"months","from":"2026-11-26","on":{"days":[32]},"times":["09:00:00"]}"#,
    r#"{"kind":"cron","pattern":"* * * * * *"}"#,
];

#[test]
fn the_form_is_stable() {
    let now: Zoned = "2026-11-26T10:00[Europe/Berlin]".parse().unwrap();
    for (phrase, golden) in GOLDEN {
        let schedule = Schedule::parse(phrase, &now).unwrap();
        assert_eq!(serde_json::to_string(&schedule).unwrap(), *golden);
        assert_eq!(serde_json::from_str::<Schedule>(golden).unwrap(), schedule);
    }
}

#[test]
fn other_forms_are_refused_and_what_no_phrase_makes_never_fires() {
    for stored in REFUSED {
        assert!(serde_json::from_str::<Schedule>(stored).is_err(), "{stored}");
    }
    let now: Zoned = "2026-11-26T10:00[Europe/Berlin]".parse().unwrap();
    for rule in NEVER {
        let stored = format!(
            r#"{{"version":1,"made":"2026-11-26T09:00:00Z","zone":"Europe/Berlin","rule":{rule}}}"#
        );
        let schedule: Schedule = serde_json::from_str(&stored).unwrap();
        assert_eq!(schedule.next_after(&now), None, "{stored}");
    }
}
