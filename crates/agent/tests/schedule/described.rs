//! What was understood, in plain words, on Thursday 2026-11-26 at 10:00 in Berlin.

use counterfoil_agent::Schedule;
use jiff::Zoned;

const DESCRIBED: &[(&str, &str)] = &[
    ("in 20 minutes", "once on 2026-11-26 at 10:20 Europe/Berlin; next: Thu 2026-11-26 10:20 CET"),
    (
        "in 90 seconds",
        "once on 2026-11-26 at 10:01:30 Europe/Berlin; next: Thu 2026-11-26 10:01:30 CET",
    ),
    (
        "tomorrow at 5pm",
        "once on 2026-11-27 at 17:00 Europe/Berlin; next: Fri 2026-11-27 17:00 CET",
    ),
    (
        "every weekday at 9am",
        "every weekday at 09:00 Europe/Berlin; next: Fri 2026-11-27 09:00 CET",
    ),
    (
        "on weekends at 10",
        "every Saturday and Sunday at 10:00 Europe/Berlin; next: Sat 2026-11-28 10:00 CET",
    ),
    (
        "every 15 minutes",
        "every 15 minutes Europe/Berlin, counted from 2026-11-26 at 10:00; next: Thu 2026-11-26 10:15 CET",
    ),
    (
        "every 90 seconds",
        "every 90 seconds Europe/Berlin, counted from 2026-11-26 at 10:00; next: Thu 2026-11-26 10:01:30 CET",
    ),
    (
        "every 15 minutes between 9 and 17 on weekdays",
        "every 15 minutes on weekdays from 09:00 to 17:00 Europe/Berlin; next: Thu 2026-11-26 10:15 CET",
    ),
    (
        "every 15 minutes on mondays and fridays",
        "every 15 minutes on Monday and Friday Europe/Berlin, counted from 2026-11-26 at 10:00; next: Fri 2026-11-27 00:00 CET",
    ),
    (
        "every 30 minutes between 22 and 6",
        "every 30 minutes from 22:00 to 06:00 the next day Europe/Berlin; next: Thu 2026-11-26 22:00 CET",
    ),
    (
        "every 2 weeks on friday at 9",
        "every 2 weeks on Friday at 09:00 Europe/Berlin, counted from 2026-11-27; next: Fri 2026-11-27 09:00 CET",
    ),
    (
        "every 2 weeks on friday",
        "every 2 weeks on Friday at 10:00 Europe/Berlin, counted from 2026-11-27 (no time was given, so the time of creation is used); next: Fri 2026-11-27 10:00 CET",
    ),
    (
        "every 2 days",
        "every 2 days at 10:00 Europe/Berlin, counted from 2026-11-26 (no time was given, so the time of creation is used); next: Sat 2026-11-28 10:00 CET",
    ),
    (
        "first monday of the month at 9",
        "every month on the 1st Monday at 09:00 Europe/Berlin; next: Mon 2026-12-07 09:00 CET",
    ),
    (
        "the 15th and last day of the month at 9",
        "every month on the 15th and last day at 09:00 Europe/Berlin; next: Mon 2026-11-30 09:00 CET",
    ),
    (
        "fifth friday of the month at 9",
        "every month on the 5th Friday at 09:00 Europe/Berlin, only in months that have that day; next: Fri 2027-01-29 09:00 CET",
    ),
    (
        "every year on 24 december at 18:00",
        "every year on 24 December at 18:00 Europe/Berlin; next: Thu 2026-12-24 18:00 CET",
    ),
    (
        "every year on february 29 at 9",
        "every year on 29 February at 09:00 Europe/Berlin, only in years that have that day; next: Tue 2028-02-29 09:00 CET",
    ),
    (
        "every 2 years on 1 january at 0:00",
        "every 2 years on 1 January at 00:00 Europe/Berlin, counted from 2027-01-01; next: Fri 2027-01-01 00:00 CET",
    ),
    (
        "monthly on the 31st at 9",
        "every month on the 31st at 09:00 Europe/Berlin, only in months that have that day; next: Thu 2026-12-31 09:00 CET",
    ),
    (
        "every month",
        "every month on the 26th at 10:00 Europe/Berlin (no time was given, so the time of creation is used); next: Sat 2026-12-26 10:00 CET",
    ),
    (
        "every day at 9am, noon and 5pm",
        "every day at 09:00, 12:00 and 17:00 Europe/Berlin; next: Thu 2026-11-26 12:00 CET",
    ),
    (
        "*/15 9-17 * * 1-5",
        "cron pattern `*/15 9-17 * * 1-5`: at every 15 minutes, of hour 9-17, on Monday, Tuesday, Wednesday, Thursday, and Friday, in Europe/Berlin; next: Thu 2026-11-26 10:15 CET",
    ),
];

fn now() -> Zoned {
    "2026-11-26T10:00[Europe/Berlin]".parse().unwrap()
}

#[test]
fn schedules_are_described() {
    for (phrase, described) in DESCRIBED {
        assert_eq!(Schedule::parse(phrase, &now()).unwrap().describe(&now()), *described);
    }
}

#[test]
fn what_is_over_is_described_so() {
    let schedule = Schedule::parse("tomorrow at 5pm", &now()).unwrap();
    let later: Zoned = "2026-11-28T10:00[Europe/Berlin]".parse().unwrap();
    assert_eq!(schedule.describe(&later), "once on 2026-11-27 at 17:00 Europe/Berlin; over");
}

#[test]
fn short_months_are_described() {
    let january: Zoned = "2027-01-31T10:00[Europe/Berlin]".parse().unwrap();
    let schedule = Schedule::parse("every month", &january).unwrap();
    assert_eq!(
        schedule.describe(&january),
        "every month on the 31st at 10:00 Europe/Berlin, or on the last day of a shorter month (no \
         time was given, so the time of creation is used); next: Sun 2027-02-28 10:00 CET"
    );
}

#[test]
fn a_fixed_offset_is_a_zone() {
    let now: Zoned = "2026-11-26T10:00+05:30[+05:30]".parse().unwrap();
    let schedule = Schedule::parse("every day at 9", &now).unwrap();
    assert_eq!(
        schedule.describe(&now),
        "every day at 09:00 UTC+05:30; next: Fri 2026-11-27 09:00 +05:30"
    );
}
