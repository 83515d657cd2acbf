//! What sessions show, as tables.

mod facts;
mod robustness;
mod session;
