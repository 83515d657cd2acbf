//! The limits on commands, tested from outside.

mod blocklist;
