//! Developer tools.
fn main() {}
