//! There are two bases and no third.
//~ error[E0277]: the trait bound `ByMe: counterfoil_guard::gate::permit::sealed::Sealed` is not satisfied
struct ByMe;

impl counterfoil_guard::Basis for ByMe {}

fn main() {}
