//! What is understood and what is refused, said on Thursday 2026-11-26 at 10:00 in Berlin.

use crate::understood::UNDERSTOOD;
use counterfoil_agent::{Schedule, ScheduleError};
use jiff::Zoned;

/// A phrase and why it is refused; what comes after "; try" is left out.
const REFUSED: &[(&str, &str)] = &[
    ("in 2 hours at 9", "`at 9` does not go with `in 2 hours`"),
    ("today at midnight", "`today at midnight` is over; say a time to come"),
    ("today at 9", "`today at 9` is over; say a time to come"),
    ("tomorrow evening at 8am", "`evening` does not go with `08:00`"),
    ("this morning at 9", "`this morning at 9` is over; say a time to come"),
    ("tonight at 2", "`tonight` does not go with `02:00`"),
    ("tonight at 12", "`tonight` does not go with `12:00`"),
    ("tonight at 9am", "`tonight` does not go with `09:00`"),
    ("this monday at 10", "`this monday at 10` is over; say a time to come"),
    ("next friday at 9", "`next friday` can mean `on 2026-11-27` or `on 2026-12-04`; say which"),
    ("next sunday at 9", "`next sunday` can mean `on 2026-11-29` or `on 2026-12-06`; say which"),
    ("next week at 9", "`week` was not understood"),
    ("on the coming friday at 9", "`coming` was not understood"),
    ("on 2026-11-26 at 9", "`on 2026-11-26 at 9` is over; say a time to come"),
    ("on 2020-01-01 at 9", "`on 2020-01-01 at 9` is over; say a time to come"),
    ("every 30 minutes 9-17", "`9-17` was not understood"),
    (
        "every 30 minutes between 9 and 5",
        "`between 9 and 5` can mean `between 09:00 and 5:00am` or `between 09:00 and 17:00`; say which",
    ),
    (
        "every 30 minutes between 1 and 5pm",
        "`between 1 and 5pm` can mean `between 1:00am and 17:00` or `between 13:00 and 17:00`; say which",
    ),
    ("every 2 hours between 9 and 10", "`between 9 and 10` does not go with `every 2 hours`"),
    ("every 30 minutes between 9 and 9", "`between 9 and 9` does not go with `09:00`"),
    (
        "every 15 minutes on monday",
        "`on monday` can mean `on mondays` or `only on monday`; say which",
    ),
    (
        "every 2 weeks at 9",
        "`every 2 weeks` with a time of day needs a day; add one, such as `on friday` or `on the 3rd`",
    ),
    (
        "every third day of the month at 9",
        "`every third day` can mean `every 3 days` or `the third day of the month`; say which",
    ),
    (
        "every month at 9",
        "`every month` with a time of day needs a day; add one, such as `on friday` or `on the 3rd`",
    ),
    ("every monday night at midnight", "`night` does not go with `midnight`"),
    ("every morning", "`morning` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("every evening", "`evening` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("tomorrow", "`tomorrow` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("tonight", "`tonight` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("today", "`today` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("on friday", "`on friday` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("next monday", "`next monday` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    (
        "on 2026-12-24",
        "`on 2026-12-24` needs a time of day; add one, such as `at 9am` or `at 17:30`",
    ),
    ("on the 15th", "`on the 15th` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("at 25:00", "`25:00` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm"),
    ("at 24:00", "`24:00` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm"),
    ("at 9:60", "`9:60` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm"),
    ("at 9:5", "`9:5` was not understood"),
    ("at 13pm", "`13pm` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm"),
    ("at 0am", "`0am` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm"),
    ("at 25", "`25` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm"),
    ("at 930", "`930` is no time of day; hours go from 0 to 23 or 1 to 12 with am or pm"),
    ("at 9 9", "`9` was not understood"),
    ("at", "something is missing after `at`"),
    ("on the 32nd at 9", "no month has a `32nd`"),
    ("on the 0th at 9", "no month has a `0th`"),
    ("on the 1th at 9", "`1th` was not understood"),
    ("on february 30 at 9", "`30 february` is no date"),
    ("february 30", "`30 february` is no date"),
    ("on 2026-02-30 at 9", "`2026-02-30` is no date"),
    ("on 31 april at 9", "`31 april` is no date"),
    ("every year on 31 june at 9", "`31 june` is no date"),
    ("every 0 minutes", "`0` must be at least 1"),
    ("in 0 minutes", "`0` must be at least 1"),
    ("in zero minutes", "`zero` was not understood"),
    ("in 5 lightyears", "`lightyears` was not understood"),
    ("yesterday at 5", "`yesterday` is over; say a time to come"),
    ("2 days ago", "`ago` is over; say a time to come"),
    ("every weekday at 9am except holidays", "`except` was not understood"),
    ("every minute of every second", "`of` was not understood"),
    ("every second", "`every second` is more often than once a minute"),
    ("every 30 seconds", "`every 30 seconds` is more often than once a minute"),
    ("every 59 seconds", "`every 59 seconds` is more often than once a minute"),
    ("in", "something is missing after `in`"),
    ("in 20", "something is missing after `20`"),
    ("every", "something is missing after `every`"),
    ("every 2", "something is missing after `2`"),
    ("on", "something is missing after `on`"),
    ("", "the phrase is empty"),
    ("   ", "the phrase is empty"),
    (".", "the phrase is empty"),
    ("please", "the phrase is empty"),
    ("please please", "the phrase is empty"),
    ("hello", "`hello` was not understood"),
    ("remind me tomorrow at 5pm", "`remind` was not understood"),
    ("tomorrow at five thirty", "`thirty` was not understood"),
    ("tomorrow around 5pm", "`around` was not understood"),
    ("tomorrow at 5pm sharp", "`sharp` was not understood"),
    (
        "tomorrow at 5pm and 6pm",
        "`at 5pm and 6pm` is more than one, and nothing says that it recurs; add `every`, or say one",
    ),
    ("tomorrow at 5pm tomorrow", "`tomorrow` was not understood"),
    ("tomorrow on friday at 5pm", "`on` was not understood"),
    ("every day at 9 every day", "`every` was not understood"),
    ("at 9 at 10", "`at` was not understood"),
    (
        "on monday and thursday at 9",
        "`on monday and thursday` can mean `every monday and thursday` or `on monday`; say which",
    ),
    (
        "on the 1st and 15th at 9",
        "`on the 1st and 15th` is more than one, and nothing says that it recurs; add `every`, or say one",
    ),
    ("first monday at 9", "`first monday` needs a period; add `of the month`"),
    ("every first monday at 9", "`every first monday` needs a period; add `of the month`"),
    (
        "every second tuesday at 9",
        "`every second tuesday` can mean `every 2 weeks on tuesday` or `second tuesday of the month`; say which",
    ),
    (
        "every third friday at 9",
        "`every third friday` can mean `every 3 weeks on friday` or `third friday of the month`; say which",
    ),
    ("every 15th at 9", "`every 15th` needs a period; add `of the month`"),
    ("sixth monday of the month at 9", "no month has a `sixth monday of the month`"),
    ("last day at 9", "`last day` needs a period; add `of the month`"),
    (
        "biweekly on monday at 9",
        "`biweekly` can mean `every 2 weeks on monday` or `every monday and thursday`; say which",
    ),
    (
        "bimonthly",
        "`bimonthly` can mean `every 2 months on the 1st` or `on the 1st and 15th of every month`; say which",
    ),
    ("every 2 days on monday at 9", "`on monday` does not go with `every 2 days`"),
    ("every month on friday at 9", "`on friday` does not go with `every month`"),
    ("every year on the 1st at 9", "`on the 1st` does not go with `every year`"),
    ("every 2 hours at 9", "`at 9` does not go with `every 2 hours`"),
    ("every 2 hours in the morning", "`morning` does not go with `every 2 hours`"),
    ("every hour today", "`today` does not go with `every hour`"),
    (
        "every day between 9 and 17",
        "`between 9 and 17` needs an interval; add one, such as `every 15 minutes`",
    ),
    (
        "between 9 and 17",
        "`between 9 and 17` needs an interval; add one, such as `every 15 minutes`",
    ),
    (
        "weekdays between 9 and 17",
        "`between 9 and 17` needs an interval; add one, such as `every 15 minutes`",
    ),
    ("in 20 minutes every day", "`every day` does not go with `in 20 minutes`"),
    ("in 20 minutes on friday", "`on friday` does not go with `in 20 minutes`"),
    ("in 20 minutes and 10 minutes", "`10` was not understood"),
    ("in 200 years", "`in 200 years` is too far ahead: a delay may be 100 years, an interval 10"),
    (
        "in 9999999999 minutes",
        "`9999999999` is too far ahead: a delay may be 100 years, an interval 10",
    ),
    (
        "in 999999999 years",
        "`in 999999999 years` is too far ahead: a delay may be 100 years, an interval 10",
    ),
    (
        "every 999999999 hours",
        "`every 999999999 hours` is too far ahead: a delay may be 100 years, an interval 10",
    ),
    (
        "every 11 years on 1 january at 9",
        "`every 11 years` is too far ahead: a delay may be 100 years, an interval 10",
    ),
    ("every other weekday at 9", "`weekday` was not understood"),
    ("every 2 fridays at 9", "`fridays` was not understood"),
    ("every monday at 9 and thursday at 10", "`and` was not understood"),
    ("every day except sunday at 9", "`except` was not understood"),
    ("unless it rains tomorrow at 5pm", "`unless` was not understood"),
    ("tomorrow at 5pm or 6pm", "`or` was not understood"),
    ("not tomorrow at 5pm", "`not` was not understood"),
    ("every day at 9 until friday", "`until` was not understood"),
    ("every day at 9 starting monday", "`starting` was not understood"),
    ("twice a day", "`twice` was not understood"),
    ("once tomorrow at 5pm", "`once` was not understood"),
    ("24/12/2026 at 9", "`24/12/2026` was not understood"),
    ("24.12.2026 at 9", "`24.12.2026` was not understood"),
    ("2026-12-24 at 9:00:00", "`9:00:00` was not understood"),
    ("at 9.30", "`9.30` was not understood"),
    ("in 1.5 hours", "`1.5` was not understood"),
    ("in a couple of minutes", "`couple` was not understood"),
    ("in -5 minutes", "`-5` was not understood"),
    ("every -1 days", "`-1` was not understood"),
    ("in 5m", "`5m` was not understood"),
    (
        "*/15 * * * * *",
        "cron pattern `*/15 * * * * *` is refused: it has 6 fields, and 5 are needed",
    ),
    ("* * * *", "cron pattern `* * * *` is refused: it has 4 fields, and 5 are needed"),
    (
        "*/61 * * * *",
        "cron pattern `*/61 * * * *` is refused: `*/61` is no minute, which goes from 0 to 59",
    ),
    (
        "*/0 * * * *",
        "cron pattern `*/0 * * * *` is refused: `*/0` is no minute, which goes from 0 to 59",
    ),
    (
        "60 * * * *",
        "cron pattern `60 * * * *` is refused: `60` is no minute, which goes from 0 to 59",
    ),
    (
        "* 24 * * *",
        "cron pattern `* 24 * * *` is refused: `24` is no hour, which goes from 0 to 23",
    ),
    ("0 0 30 2 *", "this never happens: no day to come matches"),
    ("0 0 31 2,4,6,9,11 *", "this never happens: no day to come matches"),
    (
        "0 0 * 13 *",
        "cron pattern `0 0 * 13 *` is refused: `13` is no month, which goes from 1 to 12",
    ),
    (
        "0 0 * * 8",
        "cron pattern `0 0 * * 8` is refused: `8` is no day of the week, which goes from 0 to 7",
    ),
    (
        "0 0 L * *",
        "cron pattern `0 0 L * *` is refused: `L` is no day of the month, which goes from 1 to 31",
    ),
    (
        "0 0 * * 5#2",
        "cron pattern `0 0 * * 5#2` is refused: `5#2` is no day of the week, which goes from 0 to 7",
    ),
    (
        "17-9 * * * *",
        "cron pattern `17-9 * * * *` is refused: `17-9` is no minute, which goes from 0 to 59",
    ),
    ("@daily", "`@daily` was not understood"),
    (
        "0 9 * * monday",
        "cron pattern `0 9 * * monday` is refused: `MONDAY` is no day of the week, which goes from 0 to 7",
    ),
    ("a b c d *", "cron pattern `a b c d *` is refused: `A` is no minute, which goes from 0 to 59"),
    (
        "5/10 * * * *",
        "cron pattern `5/10 * * * *` is refused: `5/10` is no minute, which goes from 0 to 59",
    ),
    (
        "1,,2 * * * *",
        "cron pattern `1,,2 * * * *` is refused: `1,,2` is no minute, which goes from 0 to 59",
    ),
    (
        "every 15 minutes *",
        "cron pattern `every 15 minutes *` is refused: it has 4 fields, and 5 are needed",
    ),
    (
        "0 9 * * 1-5 2026",
        "cron pattern `0 9 * * 1-5 2026` is refused: it has 6 fields, and 5 are needed",
    ),
    ("last friday at 5pm", "`last friday` needs a period; add `of the month`"),
    ("friday the 13th at 9", "`the` was not understood"),
    ("in the morning", "`morning` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("at night", "`night` needs a time of day; add one, such as `at 9am` or `at 17:30`"),
    ("tomorrow, at 9,", "`,` was not understood"),
    (",", "`,` was not understood"),
    ("tomorrow at ９", "`９` was not understood"),
    ("täglich um 9", "`täglich` was not understood"),
    ("tomorrow at 5pm 🙂", "`🙂` was not understood"),
    ("in an hour from now", "`now` was not understood"),
    ("every 168 hours on mondays", "this never happens: no day to come matches"),
    (
        "every second day of the month at 9",
        "`every second day` can mean `every 2 days` or `the second day of the month`; say which",
    ),
    ("every 12 months on 29 february at 9", "`on 29 february` does not go with `every 12 months`"),
    ("monday at 9 next week", "`week` was not understood"),
    ("on monday at 9 or later", "`or` was not understood"),
    ("every 15 minutes until 17", "`until` was not understood"),
    ("every 15 minutes from monday to friday", "`monday` was not understood"),
    ("17", "`17` was not understood"),
    (
        "every hour between 9 and 17 on mon, wed and fri",
        "`on mon, wed and fri` can mean `on mondays and wednesdays and fridays` or `only on mon, wed and fri`; say which",
    ),
    ("in half a day", "`day` was not understood"),
    ("third at 9", "`third` was not understood"),
    ("second at 9", "`second` was not understood"),
    ("every second at 9", "`every second` needs a period; add `of the month`"),
    ("every friday daily at 9", "`every friday` does not go with `daily`"),
    ("friday or monday at 9", "`or` was not understood"),
];

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
    for (phrase, first, second) in UNDERSTOOD {
        let schedule = Schedule::parse(phrase, &now());
        let schedule = schedule.unwrap_or_else(|error| panic!("{phrase}: {error}"));
        let next = schedule.next_after(&now());
        let after = next.as_ref().and_then(|next| schedule.next_after(next));
        assert_eq!(schedule.is_recurring(), after.is_some(), "{phrase}");
        assert_eq!((show(next), show(after)), ((*first).into(), (*second).into()), "{phrase}");
    }
}

#[test]
fn phrases_that_are_refused() {
    for (phrase, reason) in REFUSED {
        match Schedule::parse(phrase, &now()) {
            Ok(schedule) => panic!("`{phrase}` is read as {}", schedule.describe(&now())),
            Err(error) => {
                let message = error.to_string();
                let shown = message.split("; try ").next().unwrap();
                assert_eq!(shown, *reason, "{phrase}");
            }
        }
    }
}

#[test]
fn unsaid_times_are_marked() {
    for (phrase, unsaid) in [
        ("every monday", true),
        ("every 2 weeks", true),
        ("every monday at 9", false),
        ("every 15 minutes", false),
        ("in 2 days", false),
    ] {
        assert_eq!(Schedule::parse(phrase, &now()).unwrap().has_unsaid_time(), unsaid, "{phrase}");
    }
}

#[test]
fn every_phrase_is_stored_and_read_back() {
    for (phrase, _, _) in UNDERSTOOD {
        let schedule = Schedule::parse(phrase, &now()).unwrap();
        let stored = serde_json::to_string(&schedule).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&stored).unwrap(), schedule, "{stored}");
    }
}

#[test]
fn every_suggestion_is_understood() {
    for phrase in ["what", "in what", "on what", "every what", "* what"] {
        let error = Schedule::parse(phrase, &now()).unwrap_err();
        let (ScheduleError::NotUnderstood { examples, .. } | ScheduleError::Cron { examples, .. }) =
            error
        else {
            panic!("{phrase}: {error}")
        };
        for example in examples {
            assert!(Schedule::parse(example, &now()).is_ok(), "{example}");
        }
    }
}

#[test]
fn long_phrases_are_refused() {
    let phrase = "é".repeat(201);
    let refused = ScheduleError::TooLong { length: 201, most: 200 };
    assert_eq!(Schedule::parse(&phrase, &now()), Err(refused));
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
    for (phrase, first, _) in UNDERSTOOD {
        let schedule = Schedule::parse(phrase, &now()).unwrap();
        assert_eq!(show(schedule.next_after(&long_ago)), *first, "{phrase}");
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
