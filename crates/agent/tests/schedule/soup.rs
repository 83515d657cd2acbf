//! Words of the vocabulary in any order, always the same ones.

use counterfoil_agent::Schedule;
use jiff::Zoned;

const WORDS: &[&str] = &[
    "please",
    "every",
    "other",
    "on",
    "at",
    "in",
    "and",
    "of",
    "the",
    "a",
    "an",
    "from",
    "between",
    "to",
    "half",
    "now",
    "after",
    "next",
    "this",
    "coming",
    "last",
    "today",
    "tomorrow",
    "tonight",
    "noon",
    "midnight",
    "o'clock",
    "second",
    "am",
    "pm",
    "morning",
    "evening",
    "night",
    "seconds",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "fortnight",
    "hourly",
    "daily",
    "weekly",
    "monthly",
    "quarterly",
    "yearly",
    "monday",
    "friday",
    "sundays",
    "weekday",
    "weekdays",
    "weekends",
    "mon-fri",
    "february",
    "december",
    "may",
    "yesterday",
    "ago",
    "biweekly",
    "0",
    "1",
    "2",
    "3",
    "9",
    "15",
    "17",
    "29",
    "30",
    "31",
    "60",
    "2027",
    "9999",
    "999999999",
    "1st",
    "2nd",
    "3rd",
    "5th",
    "15th",
    "31st",
    "32nd",
    "first",
    "third",
    "9am",
    "5pm",
    "12am",
    "17:30",
    "02:30",
    "23:59",
    "9-17",
    "20min",
    "2026-12-24",
    "2028-02-29",
    "2027-03-28T02:30",
    ",",
    "*",
    "*/15",
    "1-5",
    "0-59/7",
    "mon,fri",
    "9,",
    "31,",
    "except",
    "🙂",
    "",
];

/// How phrases begin that have a good chance of being understood.
const BEGINNINGS: &[&[&str]] = &[
    &[],
    &["every"],
    &["every", "2", "weeks"],
    &["every", "15", "minutes"],
    &["in", "2"],
    &["on", "the"],
    &["tomorrow", "at"],
    &["at", "9"],
    &["0", "9"],
    &["first", "monday", "of", "the", "month"],
];

/// A generator of pseudo-random numbers, xorshift.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        *items.get(self.below(items.len())).unwrap()
    }
}

#[test]
fn soup_never_panics_and_time_goes_on() {
    let moments: [Zoned; 4] = [
        "2026-11-26T10:00[Europe/Berlin]",
        "2027-03-28T01:59:59.9[Europe/Berlin]",
        "2027-11-07T01:30-05:00[America/New_York]",
        "2028-02-29T23:59[Pacific/Apia]",
    ]
    .map(|moment| moment.parse().unwrap());
    let mut numbers = Numbers(0x5eed_0f5c_4ed0_1e5a);
    let mut understood = 0;
    for _ in 0..20_000 {
        let mut words = numbers.one_of(BEGINNINGS).to_vec();
        for _ in 0..numbers.below(6) {
            words.push(numbers.one_of(WORDS));
        }
        let phrase = words.join(" ");
        let now = &moments[numbers.below(moments.len())];
        if let Ok(schedule) = Schedule::parse(&phrase, now) {
            understood += 1;
            check(&phrase, &schedule, now);
        }
    }
    assert!(understood > 500, "only {understood} phrases were understood");
}

/// Whatever is understood fires later than now, and ever later.
fn check(phrase: &str, schedule: &Schedule, now: &Zoned) {
    let mut after = now.clone();
    for count in 0..3 {
        let Some(next) = schedule.next_after(&after) else {
            assert!(count == 1 && !schedule.is_recurring(), "{phrase}");
            break;
        };
        assert!(next > after, "{phrase}: {next} is not after {after}");
        if schedule.is_recurring() && count > 0 {
            let gap = next.duration_since(&after).as_secs();
            assert!(gap >= 60, "{phrase}: only {gap} seconds");
        }
        after = next;
    }
    assert!(!schedule.describe(now).is_empty());
    let stored = serde_json::to_string(schedule).unwrap();
    assert_eq!(&serde_json::from_str::<Schedule>(&stored).unwrap(), schedule, "{phrase}");
}
