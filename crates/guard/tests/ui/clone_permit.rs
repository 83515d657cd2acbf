//! There is one of each.
use counterfoil_guard::{ByPolicy, Permit};

fn copied(permit: &Permit<ByPolicy>) -> Permit<ByPolicy> {
    permit.clone()
}

fn main() {}
