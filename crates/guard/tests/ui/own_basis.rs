//! There are two bases and no third.
struct ByMe;

impl counterfoil_guard::Basis for ByMe {}

fn main() {}
