//! A permit has no public fields and no constructor.
//~ error: cannot construct `Permit<_>` with struct literal syntax due to private fields
use counterfoil_guard::{ByPolicy, Permit};

fn main() {
    let _: Permit<ByPolicy> = Permit {};
}
