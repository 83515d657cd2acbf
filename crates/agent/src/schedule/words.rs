//! The words of a phrase, each in the one spelling that the patterns of `phrase` know.

use std::sync::LazyLock;

use regex::Regex;

use crate::schedule::error::ScheduleError;

/// One word in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// As the patterns know it.
    pub(crate) text: String,
    /// As the phrase has it; empty for all but the first of several that were written together.
    pub(crate) written: String,
}

/// Names of months, in their order; the first three letters of a name are enough.
pub(crate) const MONTHS: &str =
    "january|february|march|april|may|june|july|august|september|october|november|december";
/// Names of weekdays, likewise.
pub(crate) const WEEKDAYS: &str = "monday|tuesday|wednesday|thursday|friday|saturday|sunday";
/// What time is counted in; each may have an `s`.
pub(crate) const UNITS: &str = "second|minute|hour|day|week|month|year";
/// All other words.
const OTHERS: &str = "every|other|on|at|in|and|of|the|from|between|to|half|now|after|next|last|\
                      this|today|tomorrow|tonight|morning|afternoon|evening|night|am|pm|oclock|,|\
                      weekdays?|weekends?";
/// Numbers, times and dates.
const NUMBERS: &str = r"\d{1,9}|\d{1,2}(?:st|nd|rd|th)|\d{1,2}(?::\d\d)?(?:am|pm)?|\d{4}-\d\d-\d\d";

/// Counts in words, from one on.
const COUNTS: &str = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve";

/// Words that are read as others.
const SYNONYMS: &[(&str, &str)] = &[
    ("please", ""),
    ("each", "every"),
    ("hourly", "every hour"),
    ("daily", "every day"),
    ("weekly", "every week"),
    ("fortnightly", "every 2 week"),
    ("monthly", "every month"),
    ("quarterly", "every 3 month"),
    ("yearly", "every year"),
    ("annually", "every year"),
    ("@", "at"),
    ("&", "and"),
    ("until", "to"),
    ("till", "to"),
    ("through", "to"),
    ("noon", "12pm"),
    ("midday", "12pm"),
    ("midnight", "12am"),
    ("o'clock", "oclock"),
    ("sec", "second"),
    ("min", "minute"),
    ("mins", "minute"),
    ("h", "hour"),
    ("hr", "hour"),
    ("hrs", "hour"),
    ("workday", "weekday"),
    ("workdays", "weekdays"),
    ("a", "1"),
    ("an", "1"),
    ("fifteen", "15"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty-five", "45"),
    ("first", "1st"),
    ("third", "3rd"),
    ("fourth", "4th"),
    ("fifth", "5th"),
];

static KNOWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!("^(?:{OTHERS}|{MONTHS}|(?:{WEEKDAYS})s?|{UNITS}|{NUMBERS})$")).ok()
});

/// Cuts a phrase in lower case into words.
///
/// # Errors
/// At the first word that is unknown.
pub(crate) fn words(phrase: &str) -> Result<Vec<Word>, ScheduleError> {
    let mut words = Vec::new();
    for written in phrase.split_whitespace() {
        let bare = written.trim_end_matches(',');
        let read = if bare.is_empty() { Some(Vec::new()) } else { read(bare) };
        let read = read.ok_or_else(|| ScheduleError::NotUnderstood(bare.to_owned()))?;
        let mut first = bare.to_owned();
        words.extend(
            read.into_iter().map(|text| Word { text, written: std::mem::take(&mut first) }),
        );
        if bare.len() < written.len() {
            words.push(Word { text: ",".to_owned(), written: ",".to_owned() });
        }
    }
    Ok(words)
}

/// What a written word is read as; several words where it is written together: "20min", "mon-fri".
fn read(written: &str) -> Option<Vec<String>> {
    if let Some((_, other)) = SYNONYMS.iter().find(|(word, _)| *word == written) {
        return Some(other.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect());
    }
    if let Some(before) = COUNTS.split('|').position(|word| word == written) {
        return Some(vec![(before + 1).to_string()]);
    }
    let plain = written.replace('.', "");
    let is_clock = plain.ends_with("am") || plain.ends_with("pm");
    let text = if is_clock { plain.as_str() } else { written };
    let mut names = MONTHS.split('|').chain(WEEKDAYS.split('|'));
    let name = names.find(|name| text.len() >= 3 && name.starts_with(text));
    let singular = text.strip_suffix('s').filter(|unit| UNITS.split('|').any(|name| name == *unit));
    let text = name.or(singular).unwrap_or(text);
    if text.is_ascii() && KNOWN.as_ref()?.is_match(text) {
        return Some(vec![text.to_owned()]);
    }
    let unit = written.trim_start_matches(|c: char| c.is_ascii_digit());
    let (first, between, last) = match written.split_once(['-', '–']) {
        Some((first, last)) => (first, Some("to".to_owned()), last),
        None => (written.strip_suffix(unit)?, None, unit),
    };
    if first.is_empty() || last.is_empty() {
        return None;
    }
    let (first, last) = (read(first)?, read(last)?);
    Some(first.into_iter().chain(between).chain(last).collect())
}
