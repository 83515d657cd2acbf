//! What the rules say, from outside.

mod call_gold;
mod call_pages;
mod call_recorded;
mod call_schema_suite;
mod datasets;
