//! There are two bases and no third.
struct ByMe;

impl countersign_guard::Basis for ByMe {}

fn main() {}
