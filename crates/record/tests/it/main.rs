//! What sessions show, as tables of cases.

mod facts;
mod robustness;
mod session;
