use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// One time at which a schedule fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Firing {
    pub(crate) at: Timestamp,
    /// What the clock was to show, where it never shows that.
    pub(crate) instead_of: Option<DateTime>,
}

impl Firing {
    /// One that is where it was to be.
    pub(crate) fn on_time(at: Timestamp) -> Self {
        Self { at, instead_of: None }
    }
}

/// When a clock of a time zone shows a time.
///
/// The first time, where it shows it twice; the first moment after the gap, where clocks were set
/// forward over it. `None` beyond the years that can be counted.
pub(crate) fn firing(zone: &TimeZone, clock: DateTime) -> Option<Firing> {
    let offset = match zone.to_ambiguous_timestamp(clock).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Fold { before, .. } => before,
        AmbiguousOffset::Gap { after, .. } => {
            // With the later offset the time lies before the change, so that the change is next.
            let before_gap = after.to_timestamp(clock).ok()?;
            let change = zone.following(before_gap).next()?;
            return Some(Firing { at: change.timestamp(), instead_of: Some(clock) });
        }
    };
    offset.to_timestamp(clock).ok().map(Firing::on_time)
}
