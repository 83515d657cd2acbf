//! Every word that a phrase may have, lower case, and what it is.

use jiff::civil::Weekday;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Please,
    Every,
    Other,
    On,
    At,
    In,
    And,
    Of,
    The,
    A,
    From,
    Between,
    To,
    Half,
    Now,
    After,
    Next,
    This,
    Coming,
    Last,
    Today,
    Tomorrow,
    Tonight,
    Noon,
    Midnight,
    OClock,
    /// An ordinal or a unit.
    Second,
    HalfOfDay(HalfOfDay),
    Part(Part),
    Unit(Unit),
    /// "daily": every so many of a unit.
    Adverb(u32, Unit),
    Weekday(Weekday),
    /// "mondays".
    Weekdays(Weekday),
    /// "weekday": Monday to Friday.
    Workday,
    Workdays,
    Weekend,
    Weekends,
    /// 1 to 12.
    Month(i8),
    /// A day or a distance that is over.
    Over,
    /// Two ways to say clearly what this may mean.
    Unclear(&'static str, &'static str),
}

/// Before or after noon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HalfOfDay {
    Am,
    Pm,
}

/// A part of a day, which narrows a time and is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
    Tonight,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Fortnight,
    Month,
    Year,
}

impl Unit {
    /// How many seconds one has, where that is always the same.
    pub(crate) fn seconds(self) -> Option<i64> {
        match self {
            Self::Second => Some(1),
            Self::Minute => Some(60),
            Self::Hour => Some(3600),
            Self::Day | Self::Week | Self::Fortnight | Self::Month | Self::Year => None,
        }
    }
}

const WORDS: &[(&str, Word)] = &[
    ("please", Word::Please),
    ("every", Word::Every),
    ("each", Word::Every),
    ("other", Word::Other),
    ("alternate", Word::Other),
    ("on", Word::On),
    ("at", Word::At),
    ("@", Word::At),
    ("in", Word::In),
    ("and", Word::And),
    ("&", Word::And),
    ("of", Word::Of),
    ("the", Word::The),
    ("a", Word::A),
    ("an", Word::A),
    ("from", Word::From),
    ("between", Word::Between),
    ("to", Word::To),
    ("until", Word::To),
    ("till", Word::To),
    ("through", Word::To),
    ("half", Word::Half),
    ("now", Word::Now),
    ("after", Word::After),
    ("next", Word::Next),
    ("this", Word::This),
    ("coming", Word::Coming),
    ("last", Word::Last),
    ("today", Word::Today),
    ("tomorrow", Word::Tomorrow),
    ("tonight", Word::Tonight),
    ("noon", Word::Noon),
    ("midday", Word::Noon),
    ("midnight", Word::Midnight),
    ("o'clock", Word::OClock),
    ("o’clock", Word::OClock),
    ("oclock", Word::OClock),
    ("second", Word::Second),
    ("am", Word::HalfOfDay(HalfOfDay::Am)),
    ("a.m", Word::HalfOfDay(HalfOfDay::Am)),
    ("a.m.", Word::HalfOfDay(HalfOfDay::Am)),
    ("pm", Word::HalfOfDay(HalfOfDay::Pm)),
    ("p.m", Word::HalfOfDay(HalfOfDay::Pm)),
    ("p.m.", Word::HalfOfDay(HalfOfDay::Pm)),
    ("morning", Word::Part(Part::Morning)),
    ("afternoon", Word::Part(Part::Afternoon)),
    ("evening", Word::Part(Part::Evening)),
    ("night", Word::Part(Part::Night)),
    ("seconds", Word::Unit(Unit::Second)),
    ("sec", Word::Unit(Unit::Second)),
    ("secs", Word::Unit(Unit::Second)),
    ("minute", Word::Unit(Unit::Minute)),
    ("minutes", Word::Unit(Unit::Minute)),
    ("min", Word::Unit(Unit::Minute)),
    ("mins", Word::Unit(Unit::Minute)),
    ("hour", Word::Unit(Unit::Hour)),
    ("hours", Word::Unit(Unit::Hour)),
    ("hr", Word::Unit(Unit::Hour)),
    ("hrs", Word::Unit(Unit::Hour)),
    ("h", Word::Unit(Unit::Hour)),
    ("day", Word::Unit(Unit::Day)),
    ("days", Word::Unit(Unit::Day)),
    ("week", Word::Unit(Unit::Week)),
    ("weeks", Word::Unit(Unit::Week)),
    ("fortnight", Word::Unit(Unit::Fortnight)),
    ("fortnights", Word::Unit(Unit::Fortnight)),
    ("month", Word::Unit(Unit::Month)),
    ("months", Word::Unit(Unit::Month)),
    ("year", Word::Unit(Unit::Year)),
    ("years", Word::Unit(Unit::Year)),
    ("hourly", Word::Adverb(1, Unit::Hour)),
    ("daily", Word::Adverb(1, Unit::Day)),
    ("weekly", Word::Adverb(1, Unit::Week)),
    ("fortnightly", Word::Adverb(2, Unit::Week)),
    ("monthly", Word::Adverb(1, Unit::Month)),
    ("quarterly", Word::Adverb(3, Unit::Month)),
    ("yearly", Word::Adverb(1, Unit::Year)),
    ("annually", Word::Adverb(1, Unit::Year)),
    ("monday", Word::Weekday(Weekday::Monday)),
    ("mon", Word::Weekday(Weekday::Monday)),
    ("tuesday", Word::Weekday(Weekday::Tuesday)),
    ("tue", Word::Weekday(Weekday::Tuesday)),
    ("tues", Word::Weekday(Weekday::Tuesday)),
    ("wednesday", Word::Weekday(Weekday::Wednesday)),
    ("wed", Word::Weekday(Weekday::Wednesday)),
    ("thursday", Word::Weekday(Weekday::Thursday)),
    ("thu", Word::Weekday(Weekday::Thursday)),
    ("thur", Word::Weekday(Weekday::Thursday)),
    ("thurs", Word::Weekday(Weekday::Thursday)),
    ("friday", Word::Weekday(Weekday::Friday)),
    ("fri", Word::Weekday(Weekday::Friday)),
    ("saturday", Word::Weekday(Weekday::Saturday)),
    ("sat", Word::Weekday(Weekday::Saturday)),
    ("sunday", Word::Weekday(Weekday::Sunday)),
    ("sun", Word::Weekday(Weekday::Sunday)),
    ("mondays", Word::Weekdays(Weekday::Monday)),
    ("tuesdays", Word::Weekdays(Weekday::Tuesday)),
    ("wednesdays", Word::Weekdays(Weekday::Wednesday)),
    ("thursdays", Word::Weekdays(Weekday::Thursday)),
    ("fridays", Word::Weekdays(Weekday::Friday)),
    ("saturdays", Word::Weekdays(Weekday::Saturday)),
    ("sundays", Word::Weekdays(Weekday::Sunday)),
    ("weekday", Word::Workday),
    ("workday", Word::Workday),
    ("weekdays", Word::Workdays),
    ("workdays", Word::Workdays),
    ("weekend", Word::Weekend),
    ("weekends", Word::Weekends),
    ("january", Word::Month(1)),
    ("jan", Word::Month(1)),
    ("february", Word::Month(2)),
    ("feb", Word::Month(2)),
    ("march", Word::Month(3)),
    ("mar", Word::Month(3)),
    ("april", Word::Month(4)),
    ("apr", Word::Month(4)),
    ("may", Word::Month(5)),
    ("june", Word::Month(6)),
    ("jun", Word::Month(6)),
    ("july", Word::Month(7)),
    ("jul", Word::Month(7)),
    ("august", Word::Month(8)),
    ("aug", Word::Month(8)),
    ("september", Word::Month(9)),
    ("sep", Word::Month(9)),
    ("sept", Word::Month(9)),
    ("october", Word::Month(10)),
    ("oct", Word::Month(10)),
    ("november", Word::Month(11)),
    ("nov", Word::Month(11)),
    ("december", Word::Month(12)),
    ("dec", Word::Month(12)),
    ("yesterday", Word::Over),
    ("ago", Word::Over),
    ("biweekly", Word::Unclear("every 2 weeks on monday", "every monday and thursday")),
    ("bimonthly", Word::Unclear("every 2 months on the 1st", "on the 1st and 15th of every month")),
    ("biannually", Word::Unclear("every 6 months on the 1st", "every 2 years on 1 january")),
];

const NUMBERS: &[(&str, u32)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("forty-five", 45),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
];

/// "second" is among the words, because it is a unit as well.
const ORDINALS: &[(&str, u32)] = &[
    ("first", 1),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("eleventh", 11),
    ("twelfth", 12),
    ("fifteenth", 15),
    ("twentieth", 20),
    ("thirtieth", 30),
];

/// What a lower-case word is.
pub(crate) fn word(text: &str) -> Option<Word> {
    find(WORDS, text)
}

/// The number that a lower-case word names.
pub(crate) fn number(text: &str) -> Option<u32> {
    find(NUMBERS, text)
}

/// The ordinal that a lower-case word names.
pub(crate) fn ordinal(text: &str) -> Option<u32> {
    find(ORDINALS, text)
}

/// The name of a month, 1 to 12.
pub(crate) fn month_name(month: i8) -> &'static str {
    let named = WORDS.iter().find(|(_, word)| *word == Word::Month(month));
    named.map_or("", |(name, _)| name)
}

fn find<T: Copy>(table: &[(&str, T)], text: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
}
