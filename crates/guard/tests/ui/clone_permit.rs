//! A permit cannot be copied.
//~ error[E0308]: mismatched types
use counterfoil_guard::{ByPolicy, Permit};

fn copied(permit: &Permit<ByPolicy>) -> Permit<ByPolicy> {
    permit.clone()
}

fn main() {}
