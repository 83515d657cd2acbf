//! When something is to run: a phrase of English or a five-field cron pattern becomes a
//! [`Schedule`], which says back what it understood.
//!
//! A small grammar of our own that never guesses: one word that it cannot place refuses the whole
//! phrase. Pure: the time is an argument. Deliberately not here: timers, and any language but
//! English.
//!
//! Start with [`Schedule::parse`]. A phrase is cut into words by `token`, read into clauses by
//! `grammar`, and given its meaning by `meaning`; the arithmetic is in `rule`.

mod calendar;
mod clause;
mod cron;
mod describe;
mod error;
mod grammar;
mod interval;
mod lexicon;
mod meaning;
mod planned;
mod rule;
mod stored;
mod time_of_day;
mod token;
mod wall_clock;
mod weekdays;

pub use error::ScheduleError;
pub use planned::Schedule;
