//! Repairs: suggested always, applied only where nothing is lost.

mod arguments;
mod names;

pub(super) use arguments::coerced;
pub(super) use names::Names;
