//! What no command may do, from outside.

mod blocklist;
