//! Words become clauses, by one table of patterns that are tried in its order. The clauses of a
//! phrase may come in any order; words that no pattern takes refuse the whole phrase.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use jiff::Unit;
use jiff::civil::{Date, Time, Weekday};
use regex::{Captures, Regex};

use crate::schedule::error::ScheduleError;
use crate::schedule::weekdays::Weekdays;
use crate::schedule::words::{MONTHS, UNITS, WEEKDAYS, Word};

/// What a clause says, and the words that say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed<T> {
    pub(crate) value: T,
    pub(crate) words: String,
}

/// The clauses of a phrase, each at most once.
#[derive(Debug, Default)]
pub(crate) struct Clauses {
    /// "in 1 hour and 30 minutes", as [`jiff::Span`] reads it.
    pub(crate) delay: Option<Parsed<String>>,
    /// "every 2 weeks".
    pub(crate) repeat: Option<Parsed<(i32, Unit)>>,
    /// "on friday".
    pub(crate) day: Option<Parsed<Day>>,
    /// "at 9 and 17"; never empty.
    pub(crate) times: Option<Parsed<Vec<Clock>>>,
    /// "between 9 and 17".
    pub(crate) window: Option<Parsed<(Clock, Clock)>>,
    /// "in the morning", by its hours.
    pub(crate) part: Option<Parsed<RangeInclusive<i8>>>,
}

/// A day or several, as a phrase names them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Day {
    /// The number of days after today.
    After(i8),
    /// "next monday".
    Next(Weekday),
    /// "this friday".
    This(Weekday),
    /// A date, of any year where it names none.
    Date { year: Option<i16>, month: i8, day: i8 },
    /// "friday"; or "fridays" and "every friday", which recur.
    Weekdays { days: Weekdays, recurs: bool },
    /// Days of a month by their positions, the last being -1: "the 1st", "first monday".
    Nth { positions: Vec<i8>, of: Option<Weekdays>, recurs: bool },
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// On the 24-hour clock.
    pub(crate) time: Time,
    /// Twelve hours later, where the phrase may mean that: "9", but not "9am" or "17:30".
    pub(crate) later: Option<Time>,
    /// Whether it has "am" or "pm".
    pub(crate) is_marked: bool,
}

/// What days of a month need.
pub(crate) const PERIOD: &str = "a period; add `of the month`";

/// What a pattern reads.
#[derive(Debug, Clone, Copy)]
enum Clause {
    Delay,
    Every,
    EveryOther,
    Window,
    Date,
    Tomorrow,
    OfWeek,
    Weekdays,
    Nth,
    Part,
    Times,
}

/// The patterns, each from where a clause begins to the end of a word.
static PATTERNS: LazyLock<Vec<(Clause, Regex)>> = LazyLock::new(|| {
    let and = "(?: ,| and| , and)";
    let list = |item: &str, lead: &str| format!("{item}(?:{and} {lead}{item})*");
    let unit = format!("(?:{UNITS})");
    let amount = format!(r"(?:\d+ hour and 1 half|\d+ {unit}|half (?:1 )?hour)");
    let span = format!("(?P<span>{amount}(?:{and}? {amount})*)");
    let time = r"\d{1,9}(?::\d\d)?(?: ?(?:am|pm|oclock))?";
    let exact = r"\d{1,2}(?::\d\d(?: ?(?:am|pm|oclock))?| ?(?:am|pm|oclock))";
    let weekday = format!("(?:{WEEKDAYS})");
    let days = list(&format!("(?:{weekday} to {weekday}|{weekday}s?|weekdays?|weekends?)"), "");
    let positions = list(r"(?:\d{1,2}(?:st|nd|rd|th)|second|last)", "(?:the )?");
    let month = format!("(?P<month>{MONTHS})");
    let (number, ending) = (r"(?P<number>\d{1,2})", "(?:st|nd|rd|th)?");
    let year = r"(?:(?: ,)? (?P<year>\d{4}))?";
    let lead = "(?:(?P<every>every )|(?P<on>on ))?";
    let table = [
        (Clause::Delay, format!("in {span}")),
        (Clause::Delay, format!("{span} from now")),
        (Clause::Date, r"(?:on )?(?P<iso>\d{4}-\d\d-\d\d)".to_owned()),
        (Clause::Date, format!("{lead}(?:the )?{number}{ending}(?: of)? {month}{year}")),
        (Clause::Date, format!("{lead}{month} (?:the )?{number}{ending}{year}")),
        (
            Clause::Nth,
            format!(
                "{lead}(?P<the>the )?(?P<positions>{positions})(?: (?P<days>{weekday}|day))?\
                 (?P<period> of (?:the|every) month)?"
            ),
        ),
        (Clause::Every, format!(r"every (?:(?P<count>\d+|other|half(?: 1)?) )?(?P<unit>{unit})")),
        (Clause::EveryOther, format!("every other (?P<days>{weekday})")),
        (Clause::Window, format!("(?:between|from) (?P<from>{time}) (?:and|to) (?P<to>{time})")),
        (Clause::Tomorrow, "(?P<after>(?:the )?day after )?tomorrow|(?P<today>today)".to_owned()),
        (Clause::OfWeek, format!("(?:on )?(?:next|(?P<this>this)) (?P<days>{weekday})")),
        (Clause::Weekdays, format!("{lead}(?P<days>{days})")),
        (
            Clause::Part,
            "(?:in the |(?P<this>this )|at |(?P<every>every ))?\
             (?P<part>morning|afternoon|evening|night|tonight)"
                .to_owned(),
        ),
        (
            Clause::Times,
            format!("(?:at (?P<times>{})|", list(time, "(?:at )?"))
                + &format!("(?P<exact>{exact}(?:{and} (?:at )?{time})*))"),
        ),
    ];
    let compiled = table.into_iter().map(|(clause, pattern)| {
        Some((clause, Regex::new(&format!("^(?:, )?(?:{pattern})(?: |$)")).ok()?))
    });
    compiled.flatten().collect()
});

/// Reads the clauses of a phrase.
///
/// # Errors
/// At the first words that no pattern takes, or that repeat a clause.
pub(crate) fn clauses(words: &[Word]) -> Result<Clauses, ScheduleError> {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let (mut rest, mut left) = (text.as_str(), words);
    let mut clauses = Clauses::default();
    while !rest.is_empty() {
        let mut patterns = PATTERNS.iter();
        let found = patterns.find_map(|(clause, pattern)| Some((*clause, pattern.captures(rest)?)));
        let Some((clause, found)) = found else { return Err(not_understood(&written(left))) };
        let all = found.get(0).map_or(rest, |all| all.as_str());
        let count = all.split_whitespace().count();
        let (matched, others) = left.split_at_checked(count).unwrap_or((left, &[]));
        clauses.read(clause, &found, &written(matched))?;
        (rest, left) = (rest.get(all.len()..).unwrap_or_default(), others);
    }
    Ok(clauses)
}

/// Words as the phrase has them.
fn written(words: &[Word]) -> String {
    // The rest of a word that was written together, such as the `h` of `18h`, is shown as it is read.
    let first = words.first().filter(|word| word.written.is_empty()).map(|word| word.text.as_str());
    let words = words.iter().map(|word| word.written.as_str()).filter(|word| !word.is_empty());
    let text = first.into_iter().chain(words).collect::<Vec<_>>().join(" ").replace(" ,", ",");
    text.strip_prefix(", ").unwrap_or(&text).to_owned()
}

fn not_understood(words: &str) -> ScheduleError {
    ScheduleError::NotUnderstood(words.to_owned())
}

/// Fills a clause, unless the phrase has it already.
fn put<T>(slot: &mut Option<Parsed<T>>, value: T, words: &str) -> Result<(), ScheduleError> {
    match slot {
        Some(_) => Err(not_understood(words)),
        None => {
            *slot = Some(Parsed { value, words: words.to_owned() });
            Ok(())
        }
    }
}

impl Clauses {
    fn read(
        &mut self,
        clause: Clause,
        found: &Captures<'_>,
        words: &str,
    ) -> Result<(), ScheduleError> {
        let text = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let has = |name: &str| found.name(name).is_some();
        if has("every") {
            match clause {
                Clause::Date => self.repeat("", "year", words)?,
                Clause::Part => self.repeat("", "day", words)?,
                _ => {}
            }
        }
        match clause {
            Clause::Delay => put(&mut self.delay, span(text("span")), words),
            Clause::Every => self.repeat(text("count"), text("unit"), words),
            Clause::EveryOther => {
                self.repeat("other", "week", words)?;
                put(&mut self.day, weekdays(text("days"), true, words)?, words)
            }
            Clause::Window => {
                put(&mut self.window, (clock(text("from"))?, clock(text("to"))?), words)
            }
            Clause::Date => put(&mut self.day, date(&text)?, words),
            Clause::Tomorrow => {
                let days = if has("today") { 0 } else { 1 + i8::from(has("after")) };
                put(&mut self.day, Day::After(days), words)
            }
            Clause::OfWeek => {
                let day = Weekdays::named(text("days")).and_then(|days| days.single());
                let day = day.ok_or_else(|| not_understood(words))?;
                put(&mut self.day, if has("this") { Day::This(day) } else { Day::Next(day) }, words)
            }
            Clause::Weekdays => {
                put(&mut self.day, weekdays(text("days"), has("every"), words)?, words)
            }
            Clause::Nth => put(&mut self.day, nth(&text, words)?, words),
            Clause::Part => {
                if has("this") || text("part") == "tonight" {
                    put(&mut self.day, Day::After(0), words)?;
                }
                put(&mut self.part, hours(text("part")), words)
            }
            Clause::Times => {
                let times = items(if has("times") { text("times") } else { text("exact") });
                let times = times.iter().map(|time| clock(time)).collect::<Result<_, _>>()?;
                put(&mut self.times, times, words)
            }
        }
    }

    fn repeat(&mut self, count: &str, unit: &str, words: &str) -> Result<(), ScheduleError> {
        let (count, unit) = match (count, unit) {
            ("half" | "half 1", "hour") => (30, Unit::Minute),
            ("other", unit) => (2, named_unit(unit)),
            ("", unit) => (1, named_unit(unit)),
            (count, unit) => match count.parse() {
                Ok(0) | Err(_) => return Err(not_understood(words)),
                Ok(count) => (count, named_unit(unit)),
            },
        };
        put(&mut self.repeat, (count, unit), words)
    }
}

fn named_unit(name: &str) -> Unit {
    match name {
        "second" => Unit::Second,
        "minute" => Unit::Minute,
        "hour" => Unit::Hour,
        "day" => Unit::Day,
        "week" => Unit::Week,
        "month" => Unit::Month,
        _ => Unit::Year,
    }
}

/// The items of a list.
fn items(list: &str) -> Vec<&str> {
    let items = list.split(',').flat_map(|part| part.split(" and "));
    let items = items.map(|item| item.trim().trim_start_matches("and "));
    let items = items.map(|item| item.trim_start_matches("at ").trim_start_matches("the "));
    items.filter(|item| !item.is_empty()).collect()
}

/// A delay as [`jiff::Span`] reads it.
fn span(text: &str) -> String {
    let text = text.replace("half 1 hour", "30 minute").replace("half hour", "30 minute");
    items(&text.replace("1 half", "30 minute")).join(" ")
}

fn weekdays(list: &str, every: bool, words: &str) -> Result<Day, ScheduleError> {
    let items = items(list);
    let days: Option<Vec<Weekdays>> = items.iter().map(|item| Weekdays::named(item)).collect();
    let days = days.ok_or_else(|| not_understood(words))?;
    // "mondays", "weekdays" and "monday to friday" mean the same in every week.
    let is_one = |item: &&str| item.ends_with("day") && !item.contains(' ') && *item != "weekday";
    let recurs = every || !items.iter().all(is_one);
    Ok(Day::Weekdays { days: Weekdays::together(days.into_iter()), recurs })
}

/// The hours of a part of the day.
fn hours(part: &str) -> RangeInclusive<i8> {
    match part {
        "morning" => 0..=11,
        "afternoon" => 12..=17,
        "night" => 18..=23,
        _ => 17..=23,
    }
}

/// Days of a month by their positions.
fn nth<'t>(text: &impl Fn(&str) -> &'t str, words: &str) -> Result<Day, ScheduleError> {
    let (days, recurs) = (text("days"), !text("period").is_empty());
    let positions = positions(text("positions"), words)?;
    // "every 15th", "third" and "the last" name no day.
    let is_led = text("every").is_empty() && !(text("on").is_empty() && text("the").is_empty());
    let is_numbered = is_led && (days == "day" || !positions.contains(&-1));
    if !recurs && !is_numbered && matches!(days, "" | "day") {
        return Err(ScheduleError::Incomplete(words.to_owned(), PERIOD));
    }
    Ok(Day::Nth { positions, of: Weekdays::named(days), recurs })
}

fn positions(list: &str, words: &str) -> Result<Vec<i8>, ScheduleError> {
    let position = |item: &str| match item {
        "last" => Some(-1),
        "second" => Some(2),
        ordinal => ordinal.trim_end_matches(char::is_alphabetic).parse().ok(),
    };
    let positions: Option<Vec<i8>> = items(list).into_iter().map(position).collect();
    let mut positions = positions.ok_or_else(|| not_understood(words))?;
    if positions.iter().any(|day| !(-1..=31).contains(day) || *day == 0) {
        let what = "not a day of a month";
        return Err(ScheduleError::Impossible(words.to_owned(), what));
    }
    positions.sort_unstable_by_key(|day| (*day < 0, *day));
    positions.dedup();
    Ok(positions)
}

/// A date that some year has.
fn date<'t>(text: &impl Fn(&str) -> &'t str) -> Result<Day, ScheduleError> {
    let shown = match text("iso") {
        "" => format!("{} {}", text("number"), text("month")),
        iso => iso.to_owned(),
    };
    let impossible = || ScheduleError::Impossible(shown.clone(), "not a valid date");
    if !text("iso").is_empty() {
        let date: Date = text("iso").parse().map_err(|_| impossible())?;
        return Ok(Day::Date { year: Some(date.year()), month: date.month(), day: date.day() });
    }
    let month = MONTHS.split('|').position(|month| month == text("month"));
    let month = month.and_then(|month| i8::try_from(month).ok()).map_or(0, |month| month + 1);
    let day = text("number").parse().map_err(|_| impossible())?;
    let year = text("year").parse().ok();
    // The year 2000 has every day that any year has.
    Date::new(year.unwrap_or(2000), month, day).map_err(|_| impossible())?;
    Ok(Day::Date { year, month, day })
}

/// "9", "9:30", "9:30 pm", "17:30".
fn clock(text: &str) -> Result<Clock, ScheduleError> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let half = text.get(digits.len()..).unwrap_or_default().trim();
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let read = || {
        let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
        let hour = match half {
            "am" | "pm" if !(1..=12).contains(&hour) => return None,
            "am" => hour % 12,
            "pm" => hour % 12 + 12,
            _ => hour,
        };
        let time = Time::new(hour, minute, 0, 0).ok()?;
        let is_marked = matches!(half, "am" | "pm");
        let later = hour.checked_add(12).filter(|_| !is_marked && (1..=11).contains(&hour));
        let later = later.and_then(|hour| Time::new(hour, minute, 0, 0).ok());
        Some(Clock { time, later, is_marked })
    };
    let what = "not a time of day; hours go from 0 to 23, or from 1 to 12 with am or pm";
    read().ok_or_else(|| ScheduleError::Impossible(text.to_owned(), what))
}
