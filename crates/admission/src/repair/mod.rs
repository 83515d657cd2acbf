//! Repairs: always suggested, but applied only if nothing is lost.

mod arguments;
mod names;

pub(super) use arguments::coerced;
pub(super) use names::Names;
pub use names::{similar_name, writings};
