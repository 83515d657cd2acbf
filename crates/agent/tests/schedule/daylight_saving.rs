//! Clocks that are set forward and back.
//!
//! Berlin: forward on 2027-03-28 from 02:00 to 03:00, back on 2027-10-31 from 03:00 to 02:00.
//! New York: forward on 2027-03-14 from 02:00 to 03:00, back on 2027-11-07 from 02:00 to 01:00.

use counterfoil_agent::Schedule;
use jiff::{Zoned, civil};

struct Case {
    phrase: &'static str,
    /// When it is made; its firings are shown from then on.
    made: &'static str,
    firings: &'static [&'static str],
}

fn check(cases: &[Case]) {
    for Case { phrase, made, firings } in cases {
        let made: Zoned = made.parse().unwrap();
        let schedule = Schedule::parse(phrase, &made).unwrap();
        let mut after = made;
        let mut shown = Vec::new();
        for _ in *firings {
            let Some(next) = schedule.next_after(&after) else { break };
            shown.push(next.strftime("%m-%d %H:%M %:z").to_string());
            after = next;
        }
        assert_eq!(shown, *firings, "{phrase}");
    }
}

#[test]
fn a_time_that_does_not_exist_fires_after_the_gap_once() {
    check(&[
        Case {
            phrase: "every day at 2:30",
            made: "2027-03-26T12:00[Europe/Berlin]",
            firings: &["03-27 02:30 +01:00", "03-28 03:00 +02:00", "03-29 02:30 +02:00"],
        },
        Case {
            phrase: "every day at 2:15, 2:45 and 3:00",
            made: "2027-03-27T12:00[Europe/Berlin]",
            firings: &["03-28 03:00 +02:00", "03-29 02:15 +02:00", "03-29 02:45 +02:00"],
        },
        Case {
            phrase: "tomorrow at 2am",
            made: "2027-03-27T12:00[Europe/Berlin]",
            firings: &["03-28 03:00 +02:00"],
        },
        Case {
            phrase: "every 2 weeks on sunday at 2:30",
            made: "2027-03-13T23:30[America/New_York]",
            firings: &["03-14 03:00 -04:00", "03-28 02:30 -04:00"],
        },
        Case {
            phrase: "in 1 day",
            made: "2027-03-27T02:30[Europe/Berlin]",
            firings: &["03-28 03:00 +02:00"],
        },
        Case {
            phrase: "0,30 2 * * *",
            made: "2027-03-27T12:00[Europe/Berlin]",
            firings: &["03-28 03:00 +02:00", "03-29 02:00 +02:00", "03-29 02:30 +02:00"],
        },
        Case {
            phrase: "0 */2 * * *",
            made: "2027-03-28T00:00[Europe/Berlin]",
            firings: &["03-28 03:00 +02:00", "03-28 04:00 +02:00"],
        },
        // The whole of 30 December was left out.
        Case {
            phrase: "every day at 9",
            made: "2011-12-29T08:00[Pacific/Apia]",
            firings: &["12-29 09:00 -10:00", "12-31 00:00 +14:00", "12-31 09:00 +14:00"],
        },
    ]);
}

#[test]
fn a_time_that_exists_twice_fires_the_first_time() {
    check(&[
        Case {
            phrase: "every day at 2:30",
            made: "2027-10-30T12:00[Europe/Berlin]",
            firings: &["10-31 02:30 +02:00", "11-01 02:30 +01:00"],
        },
        // Made in the hour that occurs for the second time.
        Case {
            phrase: "every day at 2:30",
            made: "2027-10-31T02:10+01:00[Europe/Berlin]",
            firings: &["11-01 02:30 +01:00"],
        },
        Case {
            phrase: "at 2:30",
            made: "2027-10-31T02:10+01:00[Europe/Berlin]",
            firings: &["11-01 02:30 +01:00"],
        },
        Case {
            phrase: "tomorrow at 1:30am",
            made: "2027-11-06T12:00[America/New_York]",
            firings: &["11-07 01:30 -04:00"],
        },
        Case {
            phrase: "0,30 1 * * *",
            made: "2027-11-06T12:00[America/New_York]",
            firings: &["11-07 01:00 -04:00", "11-07 01:30 -04:00", "11-08 01:00 -05:00"],
        },
    ]);
}

#[test]
fn the_wall_clock_time_stays() {
    check(&[
        Case {
            phrase: "every sunday at 9",
            made: "2027-03-20T12:00[Europe/Berlin]",
            firings: &["03-21 09:00 +01:00", "03-28 09:00 +02:00"],
        },
        Case {
            phrase: "every 2 days",
            made: "2027-03-27T12:00[Europe/Berlin]",
            firings: &["03-29 12:00 +02:00", "03-31 12:00 +02:00"],
        },
        Case {
            phrase: "every weekday at 9",
            made: "2027-11-05T12:00[America/New_York]",
            firings: &["11-08 09:00 -05:00"],
        },
        Case {
            phrase: "in 1 day",
            made: "2027-03-27T12:00[Europe/Berlin]",
            firings: &["03-28 12:00 +02:00"],
        },
    ]);
}

#[test]
fn hours_are_elapsed_time() {
    check(&[
        Case {
            phrase: "in 24 hours",
            made: "2027-03-27T12:00[Europe/Berlin]",
            firings: &["03-28 13:00 +02:00"],
        },
        Case {
            phrase: "in 24 hours",
            made: "2027-11-06T12:00[America/New_York]",
            firings: &["11-07 11:00 -05:00"],
        },
        Case {
            phrase: "in 30 minutes",
            made: "2027-10-31T02:45+01:00[Europe/Berlin]",
            firings: &["10-31 03:15 +01:00"],
        },
        Case {
            phrase: "every 30 minutes",
            made: "2027-10-31T02:00+02:00[Europe/Berlin]",
            firings: &["10-31 02:30 +02:00", "10-31 02:00 +01:00", "10-31 02:30 +01:00"],
        },
        Case {
            phrase: "every 12 hours",
            made: "2027-03-27T20:00[Europe/Berlin]",
            firings: &["03-28 09:00 +02:00", "03-28 21:00 +02:00"],
        },
        Case {
            phrase: "every 30 minutes between 1 and 3",
            made: "2027-10-31T01:10[Europe/Berlin]",
            firings: &[
                "10-31 01:30 +02:00",
                "10-31 02:00 +02:00",
                "10-31 02:30 +02:00",
                "10-31 02:00 +01:00",
                "10-31 02:30 +01:00",
                "10-31 03:00 +01:00",
                "11-01 01:00 +01:00",
            ],
        },
        Case {
            phrase: "every 30 minutes between 1 and 4",
            made: "2027-03-28T01:10[Europe/Berlin]",
            firings: &["03-28 01:30 +01:00", "03-28 03:00 +02:00", "03-28 03:30 +02:00"],
        },
        // A pattern for every hour goes by elapsed time too.
        Case {
            phrase: "30 * * * *",
            made: "2027-10-31T02:00+02:00[Europe/Berlin]",
            firings: &["10-31 02:30 +02:00", "10-31 02:30 +01:00", "10-31 03:30 +01:00"],
        },
        Case {
            phrase: "30 * * * *",
            made: "2027-03-28T01:00[Europe/Berlin]",
            firings: &["03-28 01:30 +01:00", "03-28 03:30 +02:00"],
        },
    ]);
}

#[test]
fn a_schedule_keeps_its_zone() {
    let made: Zoned = "2026-11-26T10:00[Europe/Berlin]".parse().unwrap();
    let schedule = Schedule::parse("every day at 9", &made).unwrap();
    let elsewhere = civil::date(2026, 11, 27).at(3, 30, 0, 0).in_tz("America/New_York").unwrap();
    let next = schedule.next_after(&elsewhere).unwrap();
    assert_eq!(next.to_string(), "2026-11-28T09:00:00+01:00[Europe/Berlin]");
}

#[test]
fn a_moved_firing_is_described() {
    let made: Zoned = "2027-03-27T12:00[Europe/Berlin]".parse().unwrap();
    for (phrase, described) in [
        (
            "every day at 2:30",
            "every day at 02:30 Europe/Berlin; next: Sun 2027-03-28 03:00 CEST, because 02:30 does \
             not exist on 2027-03-28",
        ),
        (
            "30 2 * * sun",
            "cron pattern `30 2 * * SUN`: at 02:30, on Sunday, in Europe/Berlin; next: Sun \
             2027-03-28 03:00 CEST, because 02:30 does not exist on 2027-03-28",
        ),
        (
            "every 15 minutes between 2:15 and 5",
            "every 15 minutes from 02:15 to 05:00 Europe/Berlin; next: Sun 2027-03-28 03:00 CEST, \
             because 02:15 does not exist on 2027-03-28",
        ),
        ("every day at 3", "every day at 03:00 Europe/Berlin; next: Sun 2027-03-28 03:00 CEST"),
    ] {
        assert_eq!(Schedule::parse(phrase, &made).unwrap().describe(&made), described);
    }
}
