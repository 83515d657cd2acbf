//! When something is to run: a phrase of English, a date and time or a cron pattern becomes a
//! [`Schedule`], which says back what it understood.
//!
//! A small grammar that never guesses: one word that it does not know refuses the whole phrase. The
//! time is an argument. Deliberately not here: timers, and any language but English.
//!
//! Start with [`Schedule::parse`]. `words` cuts a phrase into words, `phrase` reads them into
//! clauses, and `meaning` makes a rule of those. The calendar is that of `croner` and `jiff`.

mod calendar;
mod cron;
mod describe;
mod error;
mod interval;
mod meaning;
mod phrase;
mod planned;
mod wall_clock;
mod weekdays;
mod words;

pub use error::ScheduleError;
pub use planned::Schedule;
